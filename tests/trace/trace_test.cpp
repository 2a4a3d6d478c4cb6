#include "trace/trace.h"

#include <doctest/doctest.h>

using namespace stallscope;

TEST_CASE("rows are ordered by track, then start, then longest first") {
  Trace trace;
  const uint32_t process = trace.add_process({});
  const TrackId stream = trace.track(process, TrackKind::stream, 0, 7);
  const TrackId thread = trace.track(process, TrackKind::thread, -1, 42);
  CHECK(trace.track(process, TrackKind::stream, 0, 7) == stream);
  trace.add({.kind = EventKind::range, .start = 10, .duration = 5, .track = thread});
  trace.add({.kind = EventKind::range, .start = 10, .duration = 50, .track = thread});
  trace.add({.kind = EventKind::kernel, .start = 30, .duration = 5, .track = stream});
  trace.add({.kind = EventKind::kernel, .start = 20, .duration = 5, .track = stream});
  trace.finish();
  const auto [first, last] = trace.rows(stream);
  REQUIRE(last - first == 2);
  CHECK(trace.starts()[first] == 20);
  const auto [outer, end] = trace.rows(thread);
  REQUIRE(end - outer == 2);
  CHECK(trace.durations()[outer] == 50);
}

TEST_CASE("payloads and stacks are interned") {
  Trace trace;
  const Field fields[] = {Field::of_integer(kKeyBytes, 16),
                          Field::of_text(kKeyDomain, trace.strings.intern("NCCL"))};
  const PayloadId payload = trace.add_payload(fields);
  CHECK(trace.add_payload(fields) == payload);
  const uint32_t process = trace.add_process({});
  trace.add({.track = trace.track(process, TrackKind::thread, -1, 1), .payload = payload});
  trace.finish();
  CHECK(trace.integer(0, kKeyBytes) == 16);
  CHECK(trace.text_field(0, kKeyDomain) == "NCCL");
  CHECK_FALSE(trace.integer(0, kKeyStream).has_value());

  const FrameId frames[] = {trace.add_frame({.function = 1, .line = 3}),
                            trace.add_frame({.function = 2})};
  CHECK(frames[0] != frames[1]);
  CHECK(trace.add_stack(frames) == trace.add_stack(frames));
  CHECK(trace.add_stack({}) == 0);
}

TEST_CASE("runtime functions are known by any of their names") {
  struct Case {
    const char* name;
    ApiCall call;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"cudaLaunchKernel", ApiCall::launch},
           {"cudaLaunchKernel_ptsz_v7000", ApiCall::launch},
           {"__cudaLaunchKernel_v13000", ApiCall::launch},
           {"cuLaunchKernelEx", ApiCall::launch},
           {"hipExtModuleLaunchKernel", ApiCall::launch},
           {"cudaMemcpyAsync_v3020", ApiCall::copy},
           {"cudaMemcpy", ApiCall::copy_blocking},
           {"cuMemcpyDtoHAsync_v2", ApiCall::copy},
           {"cudaStreamSynchronize", ApiCall::stream_sync},
           {"hipDeviceSynchronize", ApiCall::device_sync},
           {"cudaHostAlloc", ApiCall::host_alloc},
           {"cudaGetDevice", ApiCall::other},
       }) {
    CAPTURE(c.name);
    CHECK(classify_api(c.name) == c.call);
  }
}

TEST_CASE("the functions of CUDA are named as programs write them") {
  CHECK(function_in_source("cudaLaunchKernel_ptsz_v7000") == "cudaLaunchKernel");
  CHECK(function_in_source("cuMemcpyDtoHAsync_v2_ptsz") == "cuMemcpyDtoHAsync");
  CHECK(function_in_source("__cudaLaunchKernel_v13000") == "__cudaLaunchKernel");
  CHECK(function_in_source("cuda_v") == "cuda_v");
  CHECK(function_in_source("MPI_Wait_v2") == "MPI_Wait_v2");
  CHECK(function_in_source("_v2") == "_v2");
}

TEST_CASE("collectives are known by kernel, function and range names") {
  CHECK(classify_collective("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL") ==
        CollectiveOp::reduce_scatter);
  CHECK(classify_collective("MPI_Iallreduce") == CollectiveOp::all_reduce);
  CHECK(classify_collective("ncclKernel_SendRecv") == CollectiveOp::send_receive);
  CHECK(is_collective_kernel("void NCCLKernel_AllReduce"));
  CHECK_FALSE(is_collective_kernel("vectorized_elementwise_kernel"));
}
