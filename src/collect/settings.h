// The environment variables by which `stallscope run` tells the injected
// library what to do. Both sides include this file.
#pragma once

namespace stallscope::settings {

/// Folder for segment files, absolute, existing. Without it the library stays out.
inline constexpr char kOut[] = "STALLSCOPE_OUT";
/// Largest size of one process's segment file in bytes; then the oldest chunks go. 0 = no limit.
inline constexpr char kMaxBytes[] = "STALLSCOPE_MAX_BYTES";
/// "0": no native stacks. Default 1.
inline constexpr char kNativeStacks[] = "STALLSCOPE_NATIVE_STACKS";
/// "0": no Python stacks. Default 1.
inline constexpr char kPythonStacks[] = "STALLSCOPE_PYTHON_STACKS";
/// "none", "light" (default: a graph launch is one record) or "full" (every node of it).
inline constexpr char kGpu[] = "STALLSCOPE_GPU";
/// "monotonic": do not use the time-stamp counter.
inline constexpr char kClock[] = "STALLSCOPE_CLOCK";
/// Milliseconds from the library's start during which nothing is recorded.
inline constexpr char kDelayMs[] = "STALLSCOPE_DELAY_MS";
/// Milliseconds, after the delay, for which is recorded; 0 = until the end.
inline constexpr char kDurationMs[] = "STALLSCOPE_DURATION_MS";
/// Name of a range: only what happens while one of that name is open is recorded.
inline constexpr char kCaptureRange[] = "STALLSCOPE_CAPTURE_RANGE";
/// "1": only what happens between cudaProfilerStart and cudaProfilerStop is recorded.
inline constexpr char kCaptureProfiler[] = "STALLSCOPE_CAPTURE_PROFILER";
/// For tests: pretend that room for this many bytes exists and no more.
inline constexpr char kTestRoomBytes[] = "STALLSCOPE_TEST_ROOM_BYTES";

/// Whole steps to record; 0 = all.
inline constexpr char kSteps[] = "STALLSCOPE_STEPS";
/// Name of the range that marks a step, for kSteps; unset = the usual names.
inline constexpr char kStepRange[] = "STALLSCOPE_STEP_RANGE";

/// A Python process that was marked (--annotate) says so in FOLDER/PID and this.
inline constexpr char kAnnotatedSuffix[] = ".annotated";
/// Which lines ran in it (CPython 3.12 and later) is in FOLDER/PID and this, or FOLDER/PID-N.
inline constexpr char kLinesSuffix[] = ".lines";

// Set for the target, unless the user has set them already:
/// NVTX loads the library named here.
inline constexpr char kNvtxInjection[] = "NVTX_INJECTION64_PATH";
/// The CUDA driver loads the library named here when it initialises.
inline constexpr char kCudaInjection[] = "CUDA_INJECTION64_PATH";
/// NCCL loads its profiler from the library named here.
inline constexpr char kNcclProfiler[] = "NCCL_PROFILER_PLUGIN";

/// Names of the injected libraries, in lib/stallscope of an installed tree and
/// in the build folder's lib.
inline constexpr char kCollectLibrary[] = "libstallscope-collect.so";
inline constexpr char kMpiLibrary[] = "libstallscope-mpi.so";
/// Folder with the sitecustomize.py that marks what Python programs do.
inline constexpr char kPythonFolder[] = "python";

}  // namespace stallscope::settings
