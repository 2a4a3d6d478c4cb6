// Tiny traces, one per variant of the format that profilers have written.
#include "import/import_support.h"
#include "import/kineto_names.h"

using namespace stallscope;
using namespace stallscope::test;

namespace {

Trace must_import(std::string_view text) {
  Result<Trace> trace = import_text("kineto", text);
  REQUIRE_MESSAGE(trace.ok(), (trace.ok() ? "" : trace.error().to_string()));
  return std::move(*trace);
}

EventId only(const Trace& trace, std::string_view name) {
  EventId found = 0;
  int count = 0;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.name(id) != name) continue;
    found = id;
    ++count;
  }
  CAPTURE(name);
  REQUIRE(count == 1);
  return found;
}

const Track& track_of(const Trace& trace, EventId id) {
  return trace.tracks[trace.tracks_of_events()[id]];
}

std::string stack_text(const Trace& trace, EventId id) {
  std::string text;
  for (FrameId frame_id : trace.stack(trace.stacks()[id])) {
    const Frame& frame = trace.frame(frame_id);
    if (!text.empty()) text += " < ";
    if (frame.file != 0)
      text += std::string(trace.text(frame.file)) + ":" + std::to_string(frame.line) + " ";
    text += trace.text(frame.function);
  }
  return text;
}

}  // namespace

TEST_CASE("categories of every profiler version give the same kinds") {
  struct Case {
    const char* version;
    const char *kernel, *memcpy, *runtime, *op;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"1.8", "Kernel", "Memcpy", "Runtime", "Operator"},
           {"1.12", "kernel", "gpu_memcpy", "cuda_runtime", "cpu_op"},
           {"2.x driver", "kernel", "gpu_memcpy", "cuda_driver", "cpu_op"},
       }) {
    CAPTURE(c.version);
    const auto event = [](const char* category, const char* name, const char* rest) {
      return std::string(R"J({"ph":"X","cat":")J") + category + R"J(","name":")J" + name + "\"," +
             rest + "}";
    };
    const Trace trace = must_import(
        "[" +
        event(c.op, "aten::add",
              R"J("pid":9,"tid":"9","ts":1,"dur":20,"args":{"external id":3})J") +
        "," +
        event(c.runtime, "cudaLaunchKernel",
              R"J("pid":9,"tid":"9","ts":2,"dur":2,"args":{"correlation":4})J") +
        "," +
        event(
            c.kernel, "add_kernel",
            R"J("pid":0,"tid":"stream 7","ts":30,"dur":2,"args":{"correlation":4,"device":1,"stream":7,"grid":[1,2,3],"block":[4,1,1]})J") +
        "," +
        event(
            c.memcpy, "Memcpy DtoH (Device -> Pageable)",
            R"J("pid":0,"tid":"stream 7","ts":40,"dur":1,"args":{"correlation":5,"device":1,"stream":7,"bytes":16})J") +
        "]");
    const EventId kernel = only(trace, "add_kernel"), call = only(trace, "cudaLaunchKernel");
    CHECK(trace.kinds()[kernel] == EventKind::kernel);
    CHECK(trace.correlations()[kernel] == 4);
    CHECK(track_of(trace, kernel).device == 1);
    CHECK(track_of(trace, kernel).id == 7);
    CHECK(trace.text_field(kernel, kKeyGrid) == "[1,2,3]");
    CHECK(trace.kinds()[call] == EventKind::api);
    CHECK(trace.details()[call] == static_cast<uint8_t>(ApiCall::launch));
    CHECK(track_of(trace, call).id == 9);
    CHECK(stack_text(trace, call) == "aten::add");
    const EventId copy = only(trace, "Memcpy DtoH (Device -> Pageable)");
    CHECK(trace.details()[copy] == static_cast<uint8_t>(CopyKind::device_to_host));
    CHECK(trace.integer(copy, kKeyBytes) == 16);
    CHECK(trace.text_field(copy, kKeySourceMemory) == "device");
    CHECK(trace.text_field(copy, kKeyTargetMemory) == "pageable");
    CHECK(track_of(trace, copy).process == track_of(trace, call).process);
  }
}

TEST_CASE("times: bases, fractions, strings") {
  struct Case {
    const char *outer, *time;
    Ns start, duration;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"", R"J("ts":1695835542514261,"dur":3)J", 1695835542514261000, 3000},
           {R"J("baseTimeNanoseconds":1711964646000000000,)J",
            R"J("ts":4458676522690.655,"dur":0.5)J", 1711964646000000000 + 4458676522690655, 500},
           {R"J("baseTimeNanoseconds":"1000",)J", R"J("ts":"2.001","dur":"1.999")J", 3001, 1999},
           {R"J("displayTimeUnit":"ns",)J", R"J("ts":7,"dur":1)J", 7000, 1000},
           {"", R"J("ts":1.0004,"dur":1.0004)J", 1000, 1001},
           {"", R"J("ts":-5,"dur":1)J", -5000, 1000},
       }) {
    CAPTURE(c.time);
    const Trace trace =
        must_import(std::string("{") + c.outer +
                    R"J("traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,)J" +
                    c.time + "}]}");
    CHECK(trace.starts()[0] == c.start);
    CHECK(trace.durations()[0] == c.duration);
  }
  // The base may come after the events.
  const Trace late = must_import(
      R"J({"traceEvents":[{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1}],"baseTimeNanoseconds":5000})J");
  CHECK(late.starts()[0] == 6000);
}

TEST_CASE("flows join calls and device work that name no correlation") {
  for (const char* category : {"ac2g", "async_cpu_to_gpu", "async_gpu"}) {
    const std::string cat = std::string(R"J("cat":")J") + category + "\"";
    const Trace trace = must_import(
        R"J([{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":2,"dur":2},)J"
        R"J({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":30,"dur":2},)J"
        R"J({"ph":"s","id":41,"pid":9,"tid":9,"ts":2,"name":"x",)J" +
        cat + "}," + R"J({"ph":"f","id":41,"pid":0,"tid":7,"ts":30,"name":"x","bp":"e",)J" + cat +
        "}]");
    CHECK(trace.correlations()[only(trace, "k")] == 41);
    CHECK(trace.correlations()[only(trace, "cudaLaunchKernel")] == 41);
  }
}

TEST_CASE("a call's stack is the operators and Python functions around it") {
  const Trace trace = must_import(R"J({"traceEvents":[
    {"ph":"X","cat":"python_function","name":"train.py(12): main","pid":9,"tid":9,"ts":0,"dur":100},
    {"ph":"X","cat":"python_function","name":"lib/model.py(7): forward","pid":9,"tid":9,"ts":10,"dur":50},
    {"ph":"X","cat":"python_function","name":"<built-in method item of Tensor object at 0x7f>","pid":9,"tid":9,"ts":12,"dur":40},
    {"ph":"X","cat":"cpu_op","name":"aten::item","pid":9,"tid":9,"ts":15,"dur":30},
    {"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":9,"tid":9,"ts":20,"dur":10,"args":{"correlation":3}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaEventQuery","pid":9,"tid":9,"ts":70,"dur":1,"args":{"correlation":4}}]})J");
  CHECK(stack_text(trace, only(trace, "cudaStreamSynchronize")) ==
        "aten::item < <built-in method item of Tensor object at 0x7f> < lib/model.py:7 forward < "
        "train.py:12 main");
  CHECK(stack_text(trace, only(trace, "cudaEventQuery")) == "train.py:12 main");
  CHECK(trace.details()[only(trace, "train.py(12): main")] ==
        static_cast<uint8_t>(RangeKind::python));
}

TEST_CASE("work of an autograd thread is placed where backward() was called") {
  const Trace trace = must_import(R"J({"traceEvents":[
    {"ph":"X","cat":"python_function","name":"train.py(30): step","pid":9,"tid":9,"ts":0,"dur":100},
    {"ph":"X","cat":"python_function","name":"torch/_tensor.py(500): backward","pid":9,"tid":9,"ts":10,"dur":50},
    {"ph":"X","cat":"cpu_op","name":"MulBackward0","pid":9,"tid":11,"ts":20,"dur":20},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":11,"ts":22,"dur":2,"args":{"correlation":3}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":9,"tid":11,"ts":80,"dur":2,"args":{"correlation":4}}]})J");
  CHECK(stack_text(trace, only(trace, "cudaLaunchKernel")) ==
        "MulBackward0 < torch/_tensor.py:500 backward < train.py:30 step");
  CHECK(stack_text(trace, only(trace, "cudaMemcpyAsync")).empty());
}

TEST_CASE("a backward operator's work is placed at the line of its forward operator") {
  // Forward operators on their way to the node have its number too: the last decides.
  const std::string forward =
      R"J({"ph":"X","cat":"python_function","name":"train.py(30): step","pid":9,"tid":9,"ts":0,"dur":100},
    {"ph":"X","cat":"python_function","name":"model.py(7): forward","pid":9,"tid":9,"ts":1,"dur":4},
    {"ph":"X","cat":"cpu_op","name":"aten::detach","pid":9,"tid":9,"ts":2,"dur":1,"args":{"Sequence number":5,"Fwd thread id":0}},
    {"ph":"X","cat":"python_function","name":"model.py(8): attend","pid":9,"tid":9,"ts":5,"dur":4},
    {"ph":"X","cat":"cpu_op","name":"aten::mul","pid":9,"tid":9,"ts":6,"dur":1,"args":{"Sequence number":5,"Fwd thread id":0}},
    {"ph":"X","cat":"python_function","name":"torch/_tensor.py(500): backward","pid":9,"tid":9,"ts":10,"dur":50},)J";
  const auto backward = [](int thread, int sequence) {
    const std::string head = R"J({"ph":"X","pid":9,"tid":)J" + std::to_string(thread) + ",";
    return head + R"J("cat":"cpu_op","name":"evaluate","ts":20,"dur":20},)J" + head +
           R"J("cat":"cpu_op","name":"MulBackward0","ts":21,"dur":18,"args":{"Sequence number":)J" +
           std::to_string(sequence) + R"J(,"Fwd thread id":1}},)J" + head +
           R"J("cat":"cuda_runtime","name":"cudaLaunchKernel","ts":22,"dur":2,"args":{"correlation":3}})J";
  };
  constexpr std::string_view kJoined =
      "MulBackward0 < evaluate < model.py:8 attend < train.py:30 step";
  constexpr std::string_view kAtBackward =
      "MulBackward0 < evaluate < torch/_tensor.py:500 backward < train.py:30 step";
  const std::string other_thread =
      R"J({"ph":"X","cat":"python_function","name":"other.py(1): work","pid":9,"tid":8,"ts":0,"dur":9},
    {"ph":"X","cat":"cpu_op","name":"aten::add","pid":9,"tid":8,"ts":2,"dur":1,"args":{"Sequence number":5,"Fwd thread id":0}},)J";
  const struct {
    std::string events;
    std::string_view stack;
  } cases[] = {
      {forward + backward(11, 5), kJoined},
      {forward + backward(9, 5), kJoined},  // on a CPU the calling thread runs it
      {forward + backward(11, 6), kAtBackward},
      // Two threads' numbers are the same: whose it is cannot be told.
      {forward + other_thread + backward(11, 5), kAtBackward},
      {R"J({"ph":"X","cat":"cpu_op","name":"aten::mul","pid":9,"tid":12,"ts":6,"dur":1,
        "args":{"Sequence number":5,"Fwd thread id":0,"Call stack":"model.py(3): mask;train.py(8): main"}},)J" +
           backward(11, 5),
       "MulBackward0 < evaluate < model.py:3 mask < train.py:8 main"},
  };
  for (const auto& it : cases) {
    CAPTURE(it.events);
    const Trace trace = must_import("[" + it.events + "]");
    CHECK(stack_text(trace, only(trace, "cudaLaunchKernel")) == it.stack);
  }
}

TEST_CASE("older profilers write an operator's Python stack as text") {
  const Trace trace = must_import(R"J([
    {"ph":"X","cat":"cpu_op","name":"aten::nonzero","pid":9,"tid":9,"ts":0,"dur":9,"args":{"Call stack":"model.py(3): mask;train.py(8): main"}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":9,"tid":9,"ts":1,"dur":1,"args":{"correlation":3}}])J");
  CHECK(stack_text(trace, only(trace, "cudaStreamSynchronize")) ==
        "aten::nonzero < model.py:3 mask < train.py:8 main");
}

TEST_CASE("synchronisation, events, memory, overhead and counters") {
  const Trace trace = must_import(R"J({"traceEvents":[
    {"ph":"X","cat":"cuda_sync","name":"Stream Wait Event","pid":0,"tid":20,"ts":5,"dur":1,"args":{"cuda_sync_kind":"Stream Wait Event","wait_on_stream":7,"wait_on_cuda_event_record_corr_id":51,"wait_on_cuda_event_id":2,"stream":20,"correlation":52,"device":0}},
    {"ph":"X","cat":"cuda_sync","name":"Context Sync","pid":0,"tid":-1,"ts":6,"dur":1,"args":{"cuda_sync_kind":"Context Sync","stream":4294967295,"correlation":53,"device":0}},
    {"ph":"X","cat":"cuda_event","name":"cuda event record","pid":0,"tid":7,"ts":4,"dur":0,"args":{"event_id":2,"stream":7,"correlation":51,"device":0}},
    {"ph":"X","cat":"overhead","name":"Activity Buffer Request","pid":-1,"tid":0,"ts":8,"dur":3},
    {"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":9,"tid":9,"ts":9,"args":{"Bytes":-512,"Addr":77,"Device Type":1,"Device Id":2,"Total Allocated":1024}},
    {"ph":"C","name":"queue","pid":9,"tid":9,"ts":9,"args":{"depth":4}},
    {"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":99}]})J");
  const EventId wait = only(trace, "Stream Wait Event");
  CHECK(trace.kinds()[wait] == EventKind::stream_wait);
  CHECK(trace.integer(wait, kKeyStream) == 20);
  CHECK(trace.integer(wait, kKeyWaitStream) == 7);
  CHECK(trace.integer(wait, kKeyEventRecord) == 51);
  const EventId context = only(trace, "Context Sync");
  CHECK(trace.kinds()[context] == EventKind::sync);
  CHECK(trace.details()[context] == static_cast<uint8_t>(SyncKind::device));
  CHECK(track_of(trace, context).id == -1);
  CHECK(trace.kinds()[only(trace, "cuda event record")] == EventKind::event_record);
  CHECK(trace.kinds()[only(trace, "Activity Buffer Request")] == EventKind::overhead);
  const EventId memory = only(trace, "[memory]");
  CHECK(trace.kinds()[memory] == EventKind::alloc);
  CHECK(trace.details()[memory] == static_cast<uint8_t>(AllocKind::release));
  CHECK(trace.integer(memory, kKeyBytes) == 512);
  CHECK(trace.integer(memory, kKeyTotalBytes) == 1024);
  CHECK(trace.integer(only(trace, "queue"), kKeyValue) == 4);
  CHECK(trace.size() == 6);
}

TEST_CASE("collectives say their message, from the kernel or from the operator that launched it") {
  const std::string args =
      R"J("Collective name":"allreduce","In msg nelems":1000,"Out msg nelems":1000,"dtype":"BFloat16","Group size":8,"Process Group Name":"3","Seq":12)J";
  const std::string call =
      R"J({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":9,"tid":9,"ts":2,"dur":1,"args":{"correlation":4}})J";
  const std::string kernel =
      R"J({"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)","pid":0,"tid":20,"ts":9,"dur":4,"args":{"correlation":4,"device":0,"stream":20)J";
  const std::string op =
      R"J({"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":9,"tid":9,"ts":1,"dur":5,"args":{)J";
  for (const std::string& text : {"[" + call + "," + kernel + "," + args + "}}]",
                                  "[" + op + args + "}}," + call + "," + kernel + "}}]"}) {
    const Trace trace = must_import(text);
    const EventId id =
        only(trace, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    CHECK(trace.text_field(id, kKeyCollective) == "allreduce");
    CHECK(trace.integer(id, kKeyElements) == 1000);
    CHECK(trace.integer(id, kKeyBytes) == 2000);
    CHECK(trace.integer(id, kKeyWorldSize) == 8);
    CHECK(trace.integer(id, kKeySequence) == 12);
    CHECK(trace.text_field(id, kKeyGroup) == "3");
  }
}

TEST_CASE("groups are known by their members, whatever a process calls them") {
  const auto group_of = [](const std::string& config, const std::string& args) {
    const Trace trace = must_import(R"J({"distributedInfo":{"rank":1,"world_size":16)J" + config +
                                    R"J(},"traceEvents":[
      {"ph":"X","cat":"kernel","name":"nccl","pid":0,"tid":20,"ts":9,"dur":4,"args":{"device":0,
       "stream":20,"Collective name":"allreduce")J" +
                                    args + "}}]}");
    return std::string(trace.text_field(only(trace, "nccl"), kKeyGroup));
  };
  struct Case {
    const char *config, *args, *group;
  };
  for (const Case& c : {
           Case{"", R"(,"Process Group Name":"7")", "7"},
           {"", R"(,"Process Group Name":"7","Process Group Ranks":[0, 1, 2])", "ranks 0-2"},
           {"", R"(,"Process Group Name":"7","Process Group Ranks":"[1, 9]")", "ranks 1,9"},
           {"", R"(,"Process Group ID":2,"Process Group Ranks":"[1]")", "rank 1"},
           {"",
            R"(,"Process Group Name":"7","Process Group Ranks":"[0, 2, ..., 14]","Group size":8,)"
            R"("Global rank start":0,"Global rank stride":2)",
            "ranks 0-14 by 2"},
           {"", R"(,"Process Group Name":"7","Process Group Ranks":"[0, 2, ..., 14]")", "7"},
           {"",
            R"(,"Process Group Name":"7","Group size":99999999,"Global rank start":0,)"
            R"("Global rank stride":1)",
            "7"},
           {R"(,"pg_config":[{"pg_name":"0","ranks":[0,1]}])", "", "ranks 0,1"},
           {R"(,"pg_config":[{"pg_name":"0","ranks":[0,1]}])", R"(,"Group size":8)", "0"},
           {R"(,"pg_config":[{"pg_name":"0","ranks":[0,1,2]},{"pg_name":"10","ranks":[1,2]},)"
            R"({"pg_name":"4","ranks":[0,1,2]}])",
            R"(,"Process Group Name":"4")", "ranks 0-2 #2"},
       }) {
    CAPTURE(c.args);
    CHECK(group_of(c.config, c.args) == c.group);
  }
}

TEST_CASE("MTIA: kernels, transfers and events of its queues") {
  const Trace trace = must_import(R"J({"traceEvents":[
    {"ph":"X","cat":"mtia_runtime","name":"runFunction - job","pid":865,"tid":9,"ts":1,"dur":1,"args":{"correlation":4}},
    {"ph":"X","cat":"mtia_ccp_events","name":"fc-dtype_Float","pid":17,"tid":3774,"ts":4,"dur":2,"args":{"correlation":4,"stream":108}},
    {"ph":"X","cat":"mtia_ccp_events","name":"event_wait","pid":17,"tid":3774,"ts":2,"dur":9,"args":{"stream":108}},
    {"ph":"X","cat":"mtia_ccp_events","name":"dma_request","pid":17,"tid":3672,"ts":7,"dur":2,"args":{"correlation":5,"stream":105,"direction":"DEVICE_TO_HOST","size":1024}}]})J");
  const EventId kernel = only(trace, "fc-dtype_Float"), copy = only(trace, "dma_request");
  CHECK(trace.kinds()[kernel] == EventKind::kernel);
  CHECK(track_of(trace, kernel).device == 17);
  CHECK(track_of(trace, kernel).id == 108);
  CHECK(trace.kinds()[copy] == EventKind::memcpy);
  CHECK(trace.details()[copy] == static_cast<uint8_t>(CopyKind::device_to_host));
  CHECK(trace.integer(copy, kKeyBytes) == 1024);
  CHECK(trace.size() == 3);
}

TEST_CASE("another tool's Chrome trace is said to be one") {
  const auto warnings = [](const std::string& category) {
    return must_import(R"J({"traceEvents":[{"ph":"X","cat":")J" + category +
                       R"J(","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]})J")
        .health.warnings;
  };
  REQUIRE(warnings("devtools.timeline").size() == 1);
  CHECK(warnings("devtools.timeline")[0].find("(devtools.timeline)") != std::string::npos);
  CHECK(warnings("cpu_op").empty());
  CHECK(warnings("user_annotation").empty());
  CHECK(warnings("").empty());
}

TEST_CASE("AMD names") {
  const Trace trace = must_import(R"J({"traceEvents":[
    {"ph":"X","cat":"cuda_runtime","name":"hipExtModuleLaunchKernel","pid":9,"tid":9,"ts":1,"dur":1,"args":{"correlation":4}},
    {"ph":"X","cat":"cuda_runtime","name":"hipMemcpyWithStream","pid":9,"tid":9,"ts":3,"dur":9,"args":{"correlation":5}},
    {"ph":"X","cat":"kernel","name":"Cijk_Ailk_Bljk.kd","pid":2,"tid":0,"ts":4,"dur":2,"args":{"correlation":4,"device":2,"stream":0}},
    {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Host -> Device)","pid":2,"tid":0,"ts":7,"dur":2,"args":{"correlation":5,"bytes":64}}]})J");
  CHECK(trace.details()[only(trace, "hipExtModuleLaunchKernel")] ==
        static_cast<uint8_t>(ApiCall::launch));
  CHECK(trace.details()[only(trace, "hipMemcpyWithStream")] ==
        static_cast<uint8_t>(ApiCall::copy_blocking));
  const EventId copy = only(trace, "Memcpy HtoD (Host -> Device)");
  CHECK(trace.details()[copy] == static_cast<uint8_t>(CopyKind::host_to_device));
  CHECK(track_of(trace, copy).device == 2);
}

TEST_CASE("XLA profiler: processes and threads tell what events are") {
  const Trace trace =
      must_import(R"J({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
    {"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:3 NVIDIA H100"}},
    {"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #13(Compute)"}},
    {"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"XLA Ops"}},
    {"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
    {"ph":"M","pid":701,"tid":5,"name":"thread_name","args":{"name":"python"}},
    {"ph":"X","pid":701,"tid":5,"ts":0.5,"dur":90,"name":"$train.py:40 train_step"},
    {"ph":"X","pid":701,"tid":5,"ts":0,"dur":95,"name":"train","args":{"step_num":"7"}},
    {"ph":"X","pid":701,"tid":5,"ts":1,"dur":2,"name":"cuLaunchKernel","args":{"correlation_id":"31"}},
    {"ph":"X","pid":1,"tid":14,"ts":10.25,"dur":5.5,"name":"fusion_3","args":{"correlation_id":"31","hlo_op":"fusion.3","source":"model.py:22"}},
    {"ph":"X","pid":1,"tid":14,"ts":20,"dur":1,"name":"MemcpyD2H","args":{"memcpy_details":"kind_src:device kind_dst:pinned size:4096 dest:0 async:1"}},
    {"ph":"X","pid":1,"tid":2,"ts":10.25,"dur":5.5,"name":"fusion.3"}]})J");
  const EventId kernel = only(trace, "fusion_3");
  CHECK(trace.kinds()[kernel] == EventKind::kernel);
  CHECK(track_of(trace, kernel).device == 3);
  CHECK(track_of(trace, kernel).id == 13);
  CHECK(trace.correlations()[kernel] == 31);
  CHECK(stack_text(trace, kernel) == "fusion.3 < model.py:22 ");
  const EventId copy = only(trace, "MemcpyD2H");
  CHECK(trace.kinds()[copy] == EventKind::memcpy);
  CHECK(trace.integer(copy, kKeyBytes) == 4096);
  CHECK(trace.text_field(copy, kKeyTargetMemory) == "pinned");
  CHECK(trace.kinds()[only(trace, "fusion.3")] == EventKind::range);
  const EventId call = only(trace, "cuLaunchKernel");
  CHECK(trace.kinds()[call] == EventKind::api);
  CHECK(stack_text(trace, call) == "train.py:40 train_step");
  CHECK(trace.full_name(only(trace, "step")) == "step 7, name = train");
}

TEST_CASE("devices of XLA and TensorFlow without stream names") {
  // An accelerator that shows its work by operator, by module and by step: only the first is work.
  const Trace tpu = must_import(R"J({"traceEvents":[
    {"ph":"M","pid":2,"name":"process_name","args":{"name":"/device:TPU:1"}},
    {"ph":"M","pid":2,"tid":1,"name":"thread_name","args":{"name":"Steps"}},
    {"ph":"M","pid":2,"tid":2,"name":"thread_name","args":{"name":"XLA Modules"}},
    {"ph":"M","pid":2,"tid":3,"name":"thread_name","args":{"name":"XLA Ops"}},
    {"ph":"X","pid":2,"tid":1,"ts":0,"dur":100,"name":"7"},
    {"ph":"X","pid":2,"tid":2,"ts":0,"dur":90,"name":"jit_step"},
    {"ph":"X","pid":2,"tid":3,"ts":10,"dur":50,"name":"fusion.1"},{}]})J");
  CHECK(tpu.kinds()[only(tpu, "fusion.1")] == EventKind::kernel);
  CHECK(track_of(tpu, only(tpu, "fusion.1")).device == 1);
  CHECK(tpu.kinds()[only(tpu, "jit_step")] == EventKind::range);
  CHECK(tpu.health.repairs.empty());  // the empty object at the end is how XLA writes
  // Lines without any names are streams.
  const Trace bare = must_import(R"J({"traceEvents":[
    {"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
    {"ph":"X","pid":1,"tid":5,"ts":10,"dur":50,"name":"gemm_fusion"}]})J");
  CHECK(bare.kinds()[only(bare, "gemm_fusion")] == EventKind::kernel);
  // TensorFlow 1: a process per stream, one for all of them, one for the host's enqueueing.
  const Trace one = must_import(R"J({"traceEvents":[
    {"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:GPU:0/stream:all Compute"}},
    {"ph":"M","pid":4,"name":"process_name","args":{"name":"/device:GPU:0/stream:14 Compute"}},
    {"ph":"M","pid":5,"name":"process_name","args":{"name":"/job:localhost/replica:0/task:0/device:GPU:0 Compute"}},
    {"ph":"X","cat":"Op","pid":3,"tid":0,"ts":10,"dur":50,"name":"all"},
    {"ph":"X","cat":"Op","pid":4,"tid":0,"ts":10,"dur":50,"name":"MatMul"},
    {"ph":"X","cat":"Op","pid":5,"tid":0,"ts":1,"dur":2,"name":"enqueue"}]})J");
  CHECK(one.kinds()[only(one, "MatMul")] == EventKind::kernel);
  CHECK(track_of(one, only(one, "MatMul")).id == 14);
  CHECK(one.kinds()[only(one, "all")] == EventKind::range);
  CHECK(track_of(one, only(one, "enqueue")).kind == TrackKind::thread);
}

TEST_CASE("what surrounds the events") {
  const Trace trace = must_import(R"J({"schemaVersion":1,
    "deviceProperties":[{"id":0,"name":"NVIDIA H100","maxThreads":[1,2]},{"id":1,"name":"NVIDIA H100"}],
    "distributedInfo":{"backend":"nccl","rank":34,"world_size":300,"pg_config":[{"pg_name":"0"}],"nccl_version":"2.20.5"},
    "traceEvents":[
    {"ph":"M","name":"process_name","pid":9,"tid":0,"args":{"name":"python3"}},
    {"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"stream 7 "}},
    {"ph":"X","cat":"cpu_op","name":"op","pid":9,"tid":9,"ts":1,"dur":1},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":2,"dur":1,"args":{"correlation":1}}]})J");
  CHECK(trace.processes[0].rank == 34);
  CHECK(trace.processes[0].world_size == 300);
  CHECK(trace.processes[0].pid == 9);
  CHECK(trace.processes[0].name == "python3");
  CHECK(trace.environment.at("gpu.name") == "NVIDIA H100");
  CHECK(trace.environment.at("gpu.count") == "2");
  CHECK(trace.environment.at("nccl.version") == "2.20.5");
  CHECK(trace.text(track_of(trace, only(trace, "k")).name) == "stream 7 ");
}

TEST_CASE("a merged file keeps each process's devices") {
  const Trace trace = must_import(R"J([
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":100,"tid":1,"ts":1,"dur":1,"args":{"correlation":4}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":200,"tid":1,"ts":1,"dur":1,"args":{"correlation":5}},
    {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":2,"dur":1,"args":{"correlation":4,"device":0}},
    {"ph":"X","cat":"kernel","name":"b","pid":1,"tid":7,"ts":2,"dur":1,"args":{"correlation":5,"device":1}}])J");
  CHECK(trace.processes.size() == 2);
  CHECK(trace.processes[track_of(trace, only(trace, "a")).process].pid == 100);
  CHECK(trace.processes[track_of(trace, only(trace, "b")).process].pid == 200);
}

TEST_CASE("begin and end events nest per thread") {
  const Trace trace = must_import(R"J([
    {"ph":"B","name":"outer","pid":9,"tid":1,"ts":1},
    {"ph":"B","name":"inner","pid":9,"tid":1,"ts":2},
    {"ph":"B","name":"other","pid":9,"tid":2,"ts":2},
    {"ph":"E","pid":9,"tid":1,"ts":4},{"ph":"E","pid":9,"tid":2,"ts":9},{"ph":"E","pid":9,"tid":1,"ts":7}])J");
  CHECK(trace.durations()[only(trace, "outer")] == 6000);
  CHECK(trace.durations()[only(trace, "inner")] == 2000);
  CHECK(trace.durations()[only(trace, "other")] == 7000);
  CHECK(trace.health.repairs.empty());
}

TEST_CASE("a begin without an end is closed by the last event, or at once when there is none") {
  const Trace alone = must_import(R"J([{"ph":"B","name":"open","pid":9,"tid":1,"ts":1.5}])J");
  CHECK(alone.durations()[only(alone, "open")] == 0);
  CHECK(alone.health.repairs.size() == 1);
  const Trace followed = must_import(
      R"J([{"ph":"B","name":"open","pid":9,"tid":1,"ts":1.5},{"ph":"X","name":"x","pid":9,"tid":1,"ts":3,"dur":1}])J");
  CHECK(followed.durations()[only(followed, "open")] == 2500);
}

TEST_CASE("ranks in file names") {
  struct Case {
    const char* path;
    int32_t rank;
  };
  for (const Case& c : std::initializer_list<Case>{{"/a/rank3.json.gz", 3},
                                                   {"/rank9/trace.json", -1},
                                                   {"trace_Rank_12.pt.trace.json", 12},
                                                   {"x-rank-0.json", 0},
                                                   {"rankings.json", -1}}) {
    CAPTURE(c.path);
    CHECK(rank_in_name(c.path) == c.rank);
  }
}
