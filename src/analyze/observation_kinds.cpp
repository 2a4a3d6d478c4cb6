// The kinds of Observation and their fields: the vocabulary of a rule's trace condition.

#include "analyze/summary.h"

namespace stallscope {
namespace {

using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

// What every kind has, from the members of Observation.
const Fields kCommon = {
    {"subject", "text: kernel, collective, operator, call or function concerned"},
    {"cause", "text: the event waited for, or the late rank; may be empty"},
    {"file", "text: innermost file of the user's own code; may be empty"},
    {"function", "text: innermost function of the user's own code; may be empty"},
    {"language", "text: python, cpp, or empty when unknown"},
    {"rank", "number: rank of the process, -1 outside a distributed run"},
    {"device", "number: device, -1 for a process without device work"},
    {"per_step", "number: occurrences per used step, mean"},
    {"median_per_step", "number: occurrences per used step, median"},
    {"steps_affected", "number: used steps in which it occurs"},
    {"step_fraction", "number: share of the used steps in which it occurs, 0 to 1"},
    {"blocked_ns", "ns: host time spent in it per used step, mean"},
    {"idle_ns", "ns: device idle time charged to it per used step, mean"},
    {"blocked_fraction", "number: blocked_ns over the step time, 0 to 1"},
    {"idle_fraction", "number: idle_ns over the step time, 0 to 1"},
    {"scope",
     "text: empty; 'unusable steps' or 'whole trace' when no step could be used, so that amounts "
     "per step are no typical ones"},
    {"library_line",
     "text: the line of an installed package, no framework, through which the largest part of it "
     "comes; absent when the user's own line does it"},
    {"library_share", "number: that part, 0 to 1; absent with it"},
    {"one_time_ns", "ns: spent before the first steady step, in all"},
};

ObservationKind kind(std::string_view name, std::string_view meaning, const Fields& own,
                     const Fields& shared = {}) {
  Fields fields = kCommon;
  fields.insert(fields.end(), own.begin(), own.end());
  fields.insert(fields.end(), shared.begin(), shared.end());
  return {name, meaning, std::move(fields)};
}

// How the step launches: see LaunchFigures.
const Fields kLaunchFigures = {
    {"kernels_per_step", "number: kernels per used step"},
    {"mean_kernel_ns", "ns: mean kernel duration"},
    {"mean_launch_ns", "ns: mean time of a launch call"},
    {"short_fraction",
     "number: share of the kernels shorter than the time between launches, 0 to 1"},
    {"graph_fraction", "number: share of the device work launched by graphs, 0 to 1"},
};

// Of a Python function or line, by samples.
const Fields kHotPlace = {
    {"self_ns", "ns: with it innermost, per used step"},
    {"duration_ns", "ns: with it anywhere in the stack, per used step"},
    {"fraction", "number: duration_ns over the step time"},
    {"self_fraction", "number: self_ns over the step time"},
    {"samples", "number: samples in used steps"},
    {"native",
     "text: the library's function that most of self_ns is spent in; absent when none is known"},
    {"native_fraction",
     "number: that function's share of self_ns where one is known; absent with it"},
};

const std::pair<std::string_view, std::string_view> kOperator = {
    "operator", "text: innermost framework operator around it, e.g. aten::_local_scalar_dense"};
const std::pair<std::string_view, std::string_view> kOperators = {
    "operators",
    "text: all framework operators around it, innermost first, joined by ' < ': match aten::item "
    "or aten::nonzero here"};

std::vector<ObservationKind> all_kinds() {
  return {
      kind("host-sync",
           "a call made the host wait for the device: a synchronisation, a blocking copy, or a "
           "copy with the synchronisation that follows it",
           {{"call", "text: stream-sync, device-sync, event-sync, copy-blocking, copy, free"},
            {"copy",
             "text: direction of the copy that belongs to it: device-to-host, ...; empty "
             "without a copy"},
            {"bytes", "bytes: of that copy, median; absent without a copy"},
            {"host_memory", "text: pageable, pinned or empty (unknown): the copy's host side"},
            kOperator,
            kOperators,
            {"waited_ns", "ns: from the call until the work it waited for ended, mean"},
            {"cause_ns", "ns: duration of the kernel or copy it waited for, mean"},
            {"device_busy_ns", "ns: device busy time while the host waited, per used step"}}),
      kind("pageable-copy", "a copy from or to pageable host memory, which the driver stages",
           {{"copy", "text: host-to-device or device-to-host"},
            {"bytes", "bytes: per copy, median"},
            {"bytes_per_step", "bytes: per used step, mean"},
            {"duration_ns", "ns: on the device, per used step"},
            {"exposed_ns", "ns: of it, not hidden behind kernels, per used step"},
            {"async_call", "number: 1 when an asynchronous call was used (non_blocking in vain)"},
            kOperator,
            kOperators}),
      kind("copy", "host-device copies from or to pinned memory, by place",
           {{"copy", "text: host-to-device, device-to-host, device-to-device, peer"},
            {"bytes", "bytes: per copy, median"},
            {"bytes_per_step", "bytes: per used step, mean"},
            {"duration_ns", "ns: on the device, per used step"},
            {"exposed_ns", "ns: of it, not hidden behind kernels, per used step"},
            kOperator,
            kOperators}),
      kind("kernel", "a kernel that takes a noticeable part of the step, or runs very often",
           {{"duration_ns", "ns: on the device, per used step"},
            {"mean_ns", "ns: per launch"},
            {"fraction", "number: duration_ns over the step time"},
            {"precision",
             "text: fp32, tf32, fp16 or bf16, of a product of matrices whose name says it; absent "
             "of others"},
            {"cudnn_benchmark",
             "number: 1 when cuDNN had been told to try its algorithms, 0 when not, of a "
             "convolution; absent of other kernels, and when unknown"},
            kOperator,
            kOperators}),
      kind("graph-capture", "a line that captured work which a CUDA graph runs",
           {{"nodes", "number: kernels, copies and memsets of the graph that it captured"},
            {"replays", "number: launches of the graph"},
            {"duration_ns",
             "ns: of its nodes over all replays; absent when only whole graphs are "
             "recorded (--gpu light)"},
            {"graph_ns", "ns: of the whole graph over all replays; absent when nodes are recorded"},
            {"replayed_at", "text: file and line that launches the graph; absent when unknown"}}),
      kind("repeated-kernels",
           "the same constant-building kernels (arange, fill, triu, eye, ...) in every step, from "
           "one place",
           {{"duration_ns", "ns: on the device, per used step"},
            {"launch_ns", "ns: host time in their launches, per used step"},
            {"distinct", "number: different kernels in the group"},
            {"constant", "text: what is built, as far as names say: arange, triu, fill, mask, ..."},
            kOperator,
            kOperators}),
      kind("memset", "memory cleared on the device, by place",
           {{"bytes_per_step", "bytes: per used step, mean; absent when unknown"},
            {"duration_ns", "ns: on the device, per used step"},
            kOperator,
            kOperators}),
      kind("collective", "a collective or message, by operation, group and place",
           {{"name", "text: name of the kernel or call"},
            {"operation", "text: all-reduce, all-gather, broadcast, send, ..."},
            {"group", "text: communicator or process group; may be empty"},
            {"duration_ns", "ns: per used step"},
            {"exposed_ns", "ns: of it, with no kernel running beside it, per used step"},
            {"hidden_ns", "ns: duration_ns - exposed_ns"},
            {"exposed_fraction", "number: exposed_ns over duration_ns, 0 to 1"},
            {"transfer_ns",
             "ns: of duration_ns, after the last rank has come: what the messages themselves take "
             "in "
             "their best step, per used step; all of it where the other ranks are not known"},
            {"transfer_fraction", "number: transfer_ns over the step time"},
            {"bytes", "bytes: per call, median; absent when unknown"},
            {"bus_gb_per_s", "number: bus bandwidth, 1e9 bytes per second; absent when unknown"},
            {"algorithm_gb_per_s", "number: algorithm bandwidth; absent when unknown"},
            {"world_size", "number: ranks in the group; absent when unknown"},
            {"async", "number: 1 when the host did not wait for it, 0 when it did"},
            {"waited_at_once",
             "number: share of the calls whose result the next work waits for "
             "with nothing between, 0 to 1; the end of a series that ran beside kernels is not "
             "counted"},
            kOperator,
            kOperators}),
      kind("collective-size", "device collectives of one operation, group and size, of all places",
           {{"operation", "text: all-reduce, ..."},
            {"group", "text: communicator or process group; may be empty"},
            {"bytes", "bytes: per call; absent when unknown"},
            {"world_size", "number: ranks in the group; absent when unknown"},
            {"duration_ns", "ns: of one, median"},
            {"exposed_ns", "ns: with no kernel running beside it, per used step"},
            {"hidden_ns", "ns: with a kernel running beside it, per used step"},
            {"algorithm_gb_per_s", "number: median; absent when bytes are unknown"},
            {"bus_gb_per_s", "number: median, 1e9 bytes per second; absent when bytes are unknown"},
            {"awaited_by",
             "text: operator, kernel or blocking call that goes on as it ends; absent when none "
             "does"},
            {"awaited_share", "number: share of the calls for which that holds, 0 to 1"}}),
      kind("collective-burst",
           "runs of at least four small collectives of one group, close together",
           {{"operation", "text: all-reduce, ..."},
            {"group", "text: communicator or process group; may be empty"},
            {"run_length", "number: collectives in a run, mean"},
            {"bytes", "bytes: per collective, median; absent when unknown"},
            {"run_bytes", "bytes: per run, mean; absent when unknown"},
            {"duration_ns", "ns: from the first to the end of the last, per used step"},
            {"coalesced_ns", "ns: the same bytes as one collective, estimated, per used step"},
            {"saving_ns", "ns: duration_ns - coalesced_ns"}}),
      kind("collective-wait",
           "ranks waiting in collectives for one that came late; needs several ranks",
           {{"operation", "text: all-reduce, ..."},
            {"group", "text: communicator or process group; may be empty"},
            {"late_rank", "number: the rank that arrives last most often"},
            {"late_count", "number: ranks that come late together; 1 = one rank"},
            {"late_ranks", "text: these ranks; absent for one"},
            {"late_share", "number: share of the collectives that one of them is last in, 0 to 1"},
            {"wait_ns", "ns: waited by the other ranks, mean over them, per used step"},
            {"max_wait_ns", "ns: longest single wait"}}),
      kind("slow-link",
           "a group whose collectives take longer, once all have come, than those of its sister "
           "groups; needs several groups",
           {{"operation", "text: all-reduce, ..."},
            {"group", "text: communicator or process group"},
            {"late_ranks", "text: the ranks of the group"},
            {"message_ns", "ns: from the last arrival to the end, median"},
            {"usual_ns", "ns: the same of the sister groups, median"},
            {"ratio", "number: message_ns over usual_ns"},
            {"slower_ns", "ns: what they take longer, per step"},
            {"sister_groups", "number: groups that were compared"}}),
      kind("straggler", "a rank whose steps take longer than those of the others",
           {{"excess_ns",
             "ns: its mean step without waits, or its compute, minus the median over ranks"},
            {"excess_fraction", "number: excess_ns over the median step"},
            {"dominant_class", "text: class with the largest difference"}}),
      kind("host-gap",
           "the device was idle because a host function other than the device runtime ran",
           {{"host_function", "text: function, operator or range that filled the gap"},
            {"operators_joined",
             "number: operators without a line that fill these gaps together, each a little"},
            {"most_of_it", "text: those of them that fill most"},
            {"longest_ns", "ns: longest single gap"},
            {"on_cpu_ns",
             "ns: of the gaps, the thread was on a CPU, by samples; absent without any"},
            {"waiting_ns", "ns: of the gaps, the thread was asleep; absent when never"},
            {"delayed_ns",
             "ns: of the gaps, the thread was ready but had no CPU; absent when never"},
            {"at_step_start", "number: share of it before the step's first launch, 0 to 1"},
            kOperator,
            kOperators},
           kLaunchFigures),
      kind("input-wait", "the step thread waited for its next batch",
           {{"range", "text: name of the range that waits"},
            {"fraction", "number: of the step time"},
            {"workers",
             "number: 1 when another thread or process prepares batches, 0 when the "
             "step thread does; absent when unknown"}}),
      kind("allocation", "device or pinned host memory taken or given back in steady state",
           {{"call", "text: alloc, free, host-alloc"},
            {"before_collective",
             "number: share of the calls after which the thread's next device work is a "
             "collective, 0 to 1"},
            {"bytes", "bytes: per call, median; absent when unknown"},
            kOperator,
            kOperators}),
      kind("launch-bound",
           "the device waited for launches: its kernels are shorter than the "
           "host's launch cadence",
           {kOperator, kOperators}, kLaunchFigures),
      kind("compile", "modules loaded or code compiled in steady state",
           {{"call", "text: module-load, or compile for a range that says so"},
            kOperator,
            kOperators}),
      kind("python-hot-function", "a Python function that stack samples show on the step thread",
           {{"self_ns", "ns: with this function innermost, per used step"},
            {"inclusive_ns", "ns: with this function anywhere in the stack, per used step"},
            {"native", "text: the library's function that the line calls most; absent when none"},
            {"samples", "number: samples in used steps or, for one-time rows, before them"},
            {"fraction", "number: inclusive_ns over the step time"},
            {"python_ns", "ns: of inclusive_ns, on a CPU with Python's lock; absent when unknown"},
            {"native_ns", "ns: of inclusive_ns, on a CPU in libraries; absent when unknown"},
            {"waiting_ns", "ns: of inclusive_ns, asleep; absent when unknown"},
            {"standard_wait_ns",
             "ns: of waiting_ns, where the line called the standard library (sockets, child "
             "processes, locks) and no framework; absent when none"},
            {"standard_wait_fraction",
             "number: standard_wait_ns over the step time; absent where fewer than 8 samples tell"},
            {"delayed_ns",
             "ns: of inclusive_ns, ready to run while others had the CPUs; absent when unknown"},
            {"calls",
             "number: calls of a marked function over trees at the line, per step or, for one-time "
             "rows, in all; -1 when none is marked there"},
            {"charged_ns",
             "ns: of the interpreter's own work in it, what no line of the user's own inside it is "
             "charged with; absent when unknown, or told by fewer than 8 samples"},
            {"charged_fraction", "number: charged_ns over the step time; absent as that is"},
            {"phase", "text: step or startup"}}),
      kind("lock-wait",
           "the step thread slept until another thread of the program gave Python's lock away; its "
           "place is what that thread ran",
           {{"fraction", "number: blocked_ns over the step time"},
            {"samples", "number: samples in used steps"},
            {"waiting", "text: file and line of the step that waited most; absent when unknown"},
            {"thread", "text: name of the thread that had the lock; absent when it has none"}}),
      kind(
          "host-cost",
          "the step thread's time in a known cost, by Python's stacks: garbage collection, tracing "
          "and compilation, checkpointing, logging, collation, tokenising, tree_at, filter_jit "
          "wrapper, pytree flatten and unflatten, DataLoader wait; a stack that shows several "
          "belongs to the first",
          {{"duration_ns", "ns: per used step"},
           {"fraction", "number: duration_ns over the step time"},
           {"samples", "number: samples in used steps"}}),
      kind("hot-function", "a Python function of whatever package on the step thread, by samples",
           kHotPlace),
      kind("hot-line", "a line of a Python function on the step thread, by samples", kHotPlace),
      kind("host-work", "host view only: a named range or call of the step thread",
           {{"self_ns", "ns: not covered by ranges inside it, per used step"},
            {"fraction", "number: self_ns over the step time"},
            {"one_time_calls", "number: calls before the first steady step; absent without any"},
            {"call_ns", "ns: of a call of a function over trees, median; absent for others"},
            {"leaves", "number: of the tree it is called on, median; absent when unknown"},
            {"leaves_max", "number: of the largest tree; absent when all are of one size"},
            {"ns_per_leaf", "ns: of a call for each leaf, median; absent when unknown"},
            {"growth",
             "number: exponent with which a call's time grows with the leaves, fitted "
             "from the sizes in the run; absent when there is one size only"},
            {"phase", "text: step or startup"}}),
      kind("node",
           "the machine took time from the steps: the process was ready or willing to run and "
           "could not, or its GPU was slowed down",
           {{"fraction", "number: blocked_ns over the step time"},
            {"delayed_ns", "ns: ready to run, but others had the CPUs, per used step"},
            {"throttled_ns", "ns: held back by a CPU quota, per used step; absent without one"},
            {"stopped_ns", "ns: stopped by a signal, per used step"},
            {"storage_ns", "ns: waiting for block devices, per used step"},
            {"other_programs_cpus", "number: CPUs that programs outside the run used, mean"},
            {"stolen_cpus", "number: CPUs that the hypervisor took, mean"},
            {"clock_mhz", "number: the GPU's clock, mean; absent when unknown"},
            {"clock_max_mhz", "number: the highest it can have; absent when unknown"},
            {"gpu_processes", "number: other processes on the GPU, most; absent when unknown"},
            {"throttled", "text: why the GPU's clock was lowered; absent when it was not"},
            {"gpu",
             "text: what slowed the GPU down, in words: its clock, other processes on it; absent "
             "when nothing did"}}),
      kind("overhead", "time the profiler itself took in used steps",
           {{"fraction", "number: of the step time"}}),
      kind("garbage-collection", "Python's collector ran on the step thread",
           {{"longest_ns", "ns: longest single run"}}),
  };
}

}  // namespace

const std::vector<ObservationKind>& observation_kinds() {
  static const std::vector<ObservationKind> kinds = all_kinds();
  return kinds;
}

}  // namespace stallscope
