// What each kind of observation says, on cases written in CUPTI's terms.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "analyze/analyze.h"
#include "trace/event_lines.h"

using namespace stallscope;

namespace {

// Ten steps of 1 ms: `lines`, after a launch at 10 us whose kernel runs from 100 to 400 us.
RankSummary summary_of_ten_steps(const std::string& lines, const std::string& header = "") {
  const auto trace = read_event_lines(header + R"lines({"repeat":10,"everyNs":1000000}
{"name":"train_step","startUs":0,"durationUs":900}
{"kind":"api","name":"cudaLaunchKernel","startUs":10,"durationUs":20,"correlation":1,"stack":["/home/u/train.py:5 train"]}
{"kind":"kernel","name":"gemm","startUs":100,"durationUs":300,"correlation":1}
)lines" + lines + "\n{\"end\":true}\n",
                                      {.file = "case"});
  REQUIRE_MESSAGE(trace.ok(), trace.error().to_string());
  auto summaries = analyze_trace(*trace);
  REQUIRE(summaries.size() == 1);
  return std::move(summaries[0]);
}

const Observation& only(const RankSummary& summary, std::string_view kind) {
  REQUIRE(std::ranges::count(summary.observations, kind, &Observation::kind) == 1);
  return *std::ranges::find(summary.observations, kind, &Observation::kind);
}

size_t count(const RankSummary& summary, std::string_view kind) {
  return static_cast<size_t>(std::ranges::count(summary.observations, kind, &Observation::kind));
}

}  // namespace

TEST_CASE("item(): one block of copy and synchronisation, its cause, its place, its operators") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"name":"aten::item","startUs":190,"durationUs":240}
{"name":"aten::_local_scalar_dense","startUs":191,"durationUs":238}
{"kind":"api","name":"cudaMemcpyAsync","startUs":195,"durationUs":10,"correlation":2,"stack":["/home/u/x/site-packages/torch/_tensor.py:1 item","/home/u/train.py:12 train_step","/home/u/train.py:40 main"]}
{"kind":"memcpy","name":"Memcpy DtoH (Device -> Pageable)","startUs":400,"durationUs":2,"correlation":2,"bytes":4}
{"kind":"api","name":"cudaStreamSynchronize","startUs":206,"durationUs":200,"stream":7,"stack":["/home/u/x/site-packages/torch/_tensor.py:1 item","/home/u/train.py:12 train_step","/home/u/train.py:40 main"]}
{"kind":"api","name":"cudaLaunchKernel","startUs":500,"durationUs":20,"correlation":3}
{"kind":"kernel","name":"next","startUs":530,"durationUs":200,"correlation":3})lines");
  const Observation& sync = only(summary, "host-sync");
  CHECK(sync.place.file == "/home/u/train.py");
  CHECK(sync.place.line == 12);
  CHECK(sync.place.function == "train_step");
  CHECK(sync.stack.size() == 3);
  CHECK(sync.texts.at("operator") == "aten::_local_scalar_dense");
  CHECK(sync.texts.at("operators") == "aten::_local_scalar_dense < aten::item");
  CHECK(sync.texts.at("call") == "stream-sync");
  CHECK(sync.texts.at("copy") == "device-to-host");
  CHECK(sync.texts.at("host_memory") == "pageable");
  CHECK(sync.numbers.at("bytes") == 4);
  CHECK(sync.cause == "gemm");                          // what the copy itself stood behind
  CHECK(sync.numbers.at("device_busy_ns") == 207'000);  // from the copy's call to the return
  CHECK(sync.count.per_step() == 1);
  CHECK(sync.count.steps_affected == 8);
  CHECK(sync.blocked_ns.median == 200'000);
  CHECK(sync.idle_ns.median == 128'000);  // from 402 to 530 us
  CHECK(sync.exemplars.size() == 8);
  CHECK(sync.events.size() == 16);
  CHECK(count(summary, "pageable-copy") == 1);
}

TEST_CASE("a copy and its wait are one block, also where the driver's call within is recorded") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"kind":"api","name":"cudaMemcpyAsync","startUs":195,"durationUs":10,"correlation":2,"stack":["train.py:12 train_step"]}
{"kind":"api","name":"cuMemcpyDtoHAsync_v2","startUs":197,"durationUs":6,"correlation":2}
{"kind":"memcpy","detail":"device-to-host","startUs":400,"durationUs":2,"correlation":2,"bytes":4}
{"kind":"api","name":"cudaStreamSynchronize","startUs":206,"durationUs":200,"stream":7,"stack":["train.py:12 train_step"]})lines");
  const Observation& sync = only(summary, "host-sync");
  CHECK(sync.texts.at("copy") == "device-to-host");
  CHECK(sync.place.line == 12);
}

TEST_CASE("what PyTorch's engine does on its own thread belongs to the line that asked for it") {
  const auto waits = [](const std::string& backward) {
    return summary_of_ten_steps(backward + R"lines(
{"kind":"api","tid":9,"name":"cudaDeviceSynchronize","startUs":150,"durationUs":260,"stack":["/x/site-packages/torch/autograd/function.py:311 apply"]})lines");
  };
  const std::string range =
      R"lines({"name":"backward","startUs":140,"durationUs":400,"stack":["/x/site-packages/torch/autograd/__init__.py:354 backward","/home/u/train.py:21 train_step"]})lines";
  const RankSummary asked = waits(range);
  CHECK(only(asked, "host-sync").place.file == "/home/u/train.py");
  CHECK(only(asked, "host-sync").place.line == 21);
  CHECK_FALSE(only(waits(""), "host-sync").place.known());
}

TEST_CASE("what calls the recorder back is no part of the program's stack") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"kind":"api","name":"cudaDeviceSynchronize","startUs":150,"durationUs":260,"stack":[{"function":"libcupti.so.13+0x7d163","module":"/usr/lib/libcupti.so.13"},{"function":"cudaDeviceSynchronize","module":"/usr/lib/libcudart.so.13"},"train.cu:30 step"]})lines");
  const Observation& sync = only(summary, "host-sync");
  REQUIRE(sync.stack.size() == 2);
  CHECK(sync.stack[0].function == "cudaDeviceSynchronize");
  CHECK(sync.place.line == 30);
}

TEST_CASE("under a trainer's one call, the dearest library line and its stack are shown") {
  constexpr const char* kSync =
      R"({"kind":"api","name":"cudaDeviceSynchronize","startUs":%s,"durationUs":%s,"stack":[%s"/home/u/run.py:16 <module>"]})";
  const auto sync = [](const char* start, const char* duration, const std::string& frames) {
    char line[512];
    std::snprintf(line, sizeof line, kSync, start, duration, frames.c_str());
    return std::string(line) + "\n";
  };
  const std::string packages = "\"/x/site-packages/";
  const std::string before =
      sync("-900", "100", packages + "transformers/trainer.py:487 Trainer.__init__\",");
  const std::string torch = packages + "torch/_tensor.py:1 item\",";
  const std::string trainer = torch + packages + "transformers/trainer.py:1847 Trainer.train\",";
  const std::string copies = packages + "accelerate/operations.py:160 send\"," + packages +
                             "transformers/trainer.py:1809 Trainer.train\",";
  const RankSummary summary =
      summary_of_ten_steps(sync("150", "60", copies) + sync("220", "180", trainer), before);
  const Observation& row = only(summary, "host-sync");
  CHECK(row.place.file == "/home/u/run.py");
  CHECK(row.texts.at("library_line") == "transformers/trainer.py:1847 (Trainer.train)");
  CHECK(row.numbers.at("library_share") == doctest::Approx(0.75).epsilon(0.05));
  REQUIRE(row.stack.size() == 3);
  CHECK(row.stack[1].line == 1847);
  // The user's own line says it already.
  const RankSummary own = summary_of_ten_steps(sync("220", "180", torch));
  CHECK_FALSE(only(own, "host-sync").texts.contains("library_line"));
}

TEST_CASE("a synchronisation every fifth step does not vanish") {
  const RankSummary summary = summary_of_ten_steps(
      R"lines({"kind":"api","name":"cudaDeviceSynchronize","startUs":200,"durationUs":220,"every":5})lines");
  const Observation& sync = only(summary, "host-sync");
  CHECK(sync.count.median == 0);
  CHECK(sync.count.steps_affected == 1);  // turn 4; turn 9 is the last step
  CHECK(sync.blocked_ns.maximum == 220'000);
}

TEST_CASE("the cause follows events and waits between streams, not overlap in time") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"kind":"api","name":"cudaLaunchKernel","startUs":40,"durationUs":5,"correlation":2}
{"kind":"kernel","name":"other_stream","stream":20,"startUs":100,"durationUs":500,"correlation":2}
{"kind":"api","name":"cudaEventRecord","startUs":50,"durationUs":2,"stream":20,"event":77}
{"kind":"api","name":"cudaLaunchKernel","startUs":55,"durationUs":5,"correlation":3}
{"kind":"kernel","name":"unrelated","stream":30,"startUs":100,"durationUs":550,"correlation":3}
{"kind":"api","name":"cudaStreamWaitEvent","startUs":62,"durationUs":2,"stream":7,"event":77}
{"kind":"api","name":"cudaStreamSynchronize","startUs":70,"durationUs":535,"stream":7}
{"kind":"api","name":"cudaEventSynchronize","startUs":606,"durationUs":10,"event":77})lines");
  REQUIRE(count(summary, "host-sync") == 2);
  for (const Observation& o : summary.observations) {
    if (o.kind != "host-sync") continue;
    if (o.texts.at("call") == "stream-sync") CHECK(o.cause == "other_stream");
    if (o.texts.at("call") == "event-sync") CHECK(o.cause.empty());  // it had ended before
  }
}

TEST_CASE("the cause follows waits that only the runtime's own records tell") {
  // As profilers write them: calls without handles, and a record of each on its stream.
  for (const bool waited_stream_known : {true, false}) {
    Trace trace;
    const uint32_t process = trace.add_process({.pid = 1});
    const TrackId thread = trace.track(process, TrackKind::thread, -1, 1);
    const TrackId waiting = trace.track(process, TrackKind::stream, 0, 7);
    const TrackId other = trace.track(process, TrackKind::stream, 0, 20);
    const auto add = [&](EventKind kind, ApiCall call, int64_t start_us, int64_t us, TrackId track,
                         std::string_view name, uint32_t correlation, PayloadId payload = 0) {
      trace.add({.kind = kind,
                 .detail = static_cast<uint8_t>(call),
                 .start = start_us * 1000,
                 .duration = us * 1000,
                 .track = track,
                 .name = trace.strings.intern(name),
                 .correlation = correlation,
                 .payload = payload});
    };
    for (uint32_t step = 0; step < 10; ++step) {
      const int64_t at = step * 1000;
      const uint32_t id = step * 10;
      add(EventKind::range, ApiCall::other, at, 900, thread, "train_step", 0);
      add(EventKind::api, ApiCall::launch, at + 10, 5, thread, "cudaLaunchKernel", id + 1);
      add(EventKind::kernel, ApiCall::other, at + 100, 500, other, "other_stream", id + 1);
      add(EventKind::api, ApiCall::event_record, at + 20, 2, thread, "cudaEventRecord", id + 2);
      add(EventKind::event_record, ApiCall::other, at + 20, 0, other, "record", id + 2);
      add(EventKind::api, ApiCall::stream_wait, at + 30, 2, thread, "cudaStreamWaitEvent", id + 3);
      std::vector<Field> fields = {Field::of_integer(kKeyEventRecord, id + 2)};
      if (waited_stream_known) fields.push_back(Field::of_integer(kKeyWaitStream, 20));
      add(EventKind::stream_wait, ApiCall::other, at + 31, 0, waiting, "wait", id + 3,
          trace.add_payload(fields));
      const std::vector<Field> stream = {Field::of_integer(kKeyStream, 7)};
      add(EventKind::api, ApiCall::stream_sync, at + 40, 565, thread, "cudaStreamSynchronize",
          id + 4, trace.add_payload(stream));
      add(EventKind::api, ApiCall::launch, at + 700, 5, thread, "cudaLaunchKernel", id + 5);
      add(EventKind::kernel, ApiCall::other, at + 710, 10, waiting, "mine", id + 5);
    }
    trace.finish();
    const auto summaries = analyze_trace(trace);
    REQUIRE(summaries.size() == 1);
    CHECK(only(summaries[0], "host-sync").cause == "other_stream");
  }
}

TEST_CASE("constants built anew in every step, but not gradients cleared") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"name":"aten::triu","startUs":420,"durationUs":30}
{"kind":"api","name":"cudaLaunchKernel","startUs":425,"durationUs":5,"correlation":2,"stack":["model.py:7 mask"]}
{"kind":"kernel","name":"triu_tril_kernel","startUs":440,"durationUs":10,"correlation":2}
{"name":"aten::zero_","startUs":500,"durationUs":30}
{"kind":"api","name":"cudaLaunchKernel","startUs":505,"durationUs":5,"correlation":3,"stack":["model.py:9 zero_grad"]}
{"kind":"kernel","name":"vectorized_elementwise_kernel<FillFunctor>","startUs":520,"durationUs":10,"correlation":3})lines");
  const Observation& constant = only(summary, "repeated-kernels");
  CHECK(constant.place.line == 7);
  CHECK(constant.texts.at("constant") == "triu");
  CHECK(constant.numbers.at("duration_ns") == 10'000);
}

TEST_CASE("a constant is priced with the mathematics of its line, not with another line's") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"kind":"api","name":"cudaLaunchKernel","startUs":425,"durationUs":5,"correlation":2,"stack":["rope.py:7 table"]}
{"kind":"kernel","name":"elementwise_kernel_with_index<arange>","startUs":440,"durationUs":10,"correlation":2}
{"kind":"api","name":"cudaLaunchKernel","startUs":435,"durationUs":5,"correlation":3,"stack":["rope.py:7 table"]}
{"kind":"kernel","name":"vectorized_elementwise_kernel<sin_kernel_cuda>","startUs":450,"durationUs":30,"correlation":3}
{"kind":"api","name":"cudaLaunchKernel","startUs":445,"durationUs":5,"correlation":4,"stack":["rope.py:7 table"]}
{"kind":"kernel","name":"sgemm_128x64","startUs":480,"durationUs":50,"correlation":4}
{"kind":"api","name":"cudaLaunchKernel","startUs":455,"durationUs":5,"correlation":5,"stack":["model.py:9 forward"]}
{"kind":"kernel","name":"vectorized_elementwise_kernel<sin_kernel_cuda>","startUs":530,"durationUs":70,"correlation":5})lines");
  const Observation& constant = only(summary, "repeated-kernels");
  CHECK(constant.place.file == "rope.py");
  CHECK(constant.texts.at("constant") == "arange");
  CHECK(constant.numbers.at("distinct") == 2);
  CHECK(constant.numbers.at("duration_ns") == 40'000);
}

TEST_CASE("collectives: exposed and hidden time, bandwidth, bursts with their estimate") {
  std::string lines = R"lines(
{"kind":"api","name":"cudaLaunchKernel","startUs":40,"durationUs":5,"correlation":2,"stack":["ddp.py:3 sync"]}
{"kind":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL","stream":20,"startUs":300,"durationUs":200,"correlation":2,"bytes":2000000,"group":"dp","worldSize":2,"sequence":1})lines";
  for (int i = 0; i < 6; ++i) {
    const std::string at = std::to_string(600 + i * 20), correlation = std::to_string(10 + i);
    lines += "\n{\"kind\":\"api\",\"name\":\"cudaLaunchKernel\",\"startUs\":" + at +
             ",\"durationUs\":3,\"correlation\":" + correlation +
             ",\"stack\":[\"metrics.py:8 log\"]}\n{\"kind\":\"kernel\",\"name\":"
             "\"ncclDevKernel_AllReduce_Sum_f32_LL\",\"stream\":20,\"startUs\":" +
             std::to_string(604 + i * 20) + ",\"durationUs\":10,\"correlation\":" + correlation +
             ",\"bytes\":4,\"group\":\"dp\",\"worldSize\":2}";
  }
  const RankSummary summary = summary_of_ten_steps(lines);
  REQUIRE(count(summary, "collective") == 2);
  const auto large = std::ranges::find_if(summary.observations, [](const Observation& o) {
    return o.kind == "collective" && o.place.file == "ddp.py";
  });
  CHECK(large->numbers.at("exposed_ns") == 100'000);
  CHECK(large->numbers.at("hidden_ns") == 100'000);
  CHECK(large->numbers.at("exposed_fraction") == doctest::Approx(0.5));
  CHECK(large->numbers.at("algorithm_gb_per_s") == doctest::Approx(10));
  CHECK(large->numbers.at("bus_gb_per_s") == doctest::Approx(10));  // 2 (n - 1) / n = 1
  CHECK(large->texts.at("operation") == "all-reduce");
  std::set<uint32_t> shown;  // each timeline knows its step
  for (const Timeline& timeline : large->exemplars) shown.insert(timeline.step);
  CHECK(shown == std::set<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8});
  const Observation& burst = only(summary, "collective-burst");
  CHECK(burst.place.file == "metrics.py");
  CHECK(burst.numbers.at("run_length") == 6);
  CHECK(burst.numbers.at("run_bytes") == 24);
  CHECK(burst.numbers.at("duration_ns") == 110'000);
  CHECK(burst.numbers.at("coalesced_ns") == doctest::Approx(10'002).epsilon(0.001));
  CHECK(burst.events.size() == 48);
}

TEST_CASE("the host function that kept the device waiting is named") {
  const RankSummary by_range = summary_of_ten_steps(R"lines(
{"name":"rewrite tree","startUs":420,"durationUs":300,"stack":["tree.py:33 rewrite","train.py:9 main"]}
{"kind":"api","name":"cudaLaunchKernel","startUs":730,"durationUs":20,"correlation":2}
{"kind":"kernel","name":"next","startUs":760,"durationUs":100,"correlation":2})lines");
  const auto gap = std::ranges::find_if(by_range.observations, [](const Observation& o) {
    return o.kind == "host-gap" && o.subject == "rewrite tree";
  });
  REQUIRE(gap != by_range.observations.end());
  CHECK(gap->place.file == "tree.py");
  CHECK(gap->idle_ns.median == 360'000);
  CHECK(gap->numbers.at("at_step_start") == 0);

  const RankSummary by_sample = summary_of_ten_steps(R"lines(
{"kind":"sample","startUs":500,"stack":["eqx/site-packages/equinox/_tree.py:90 tree_at","train.py:21 update"]}
{"kind":"sample","startUs":600,"stack":["eqx/site-packages/equinox/_tree.py:95 tree_at","train.py:21 update"]}
{"kind":"api","name":"cudaLaunchKernel","startUs":730,"durationUs":20,"correlation":2}
{"kind":"kernel","name":"next","startUs":760,"durationUs":100,"correlation":2})lines");
  const auto sampled = std::ranges::find_if(by_sample.observations, [](const Observation& o) {
    return o.kind == "host-gap" && o.place.line == 21;
  });
  CHECK(sampled != by_sample.observations.end());
  const auto hot =
      std::ranges::find(by_sample.observations, "python-hot-function", &Observation::kind);
  REQUIRE(hot != by_sample.observations.end());
  CHECK(hot->place.line == 21);
  CHECK(hot->subject == "tree_at");
}

TEST_CASE("what a function does itself is charged to its line that takes most") {
  // Three lines of flatten work themselves; two lines of train call something else.
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"kind":"sample","detail":"python","startUs":420,"stack":["/home/u/a.py:5 flatten","/home/u/a.py:20 train"]}
{"kind":"sample","detail":"python","startUs":470,"stack":["/home/u/a.py:6 flatten","/home/u/a.py:20 train"]}
{"kind":"sample","detail":"python","startUs":520,"stack":["/home/u/a.py:6 flatten","/home/u/a.py:20 train"]}
{"kind":"sample","detail":"python","startUs":570,"stack":["/home/u/a.py:7 flatten","/home/u/a.py:20 train"]}
{"kind":"sample","detail":"python","startUs":620,"stack":["/usr/lib/python3.11/json/encoder.py:9 encode","/home/u/a.py:21 train"]}
{"kind":"sample","detail":"python","startUs":670,"stack":["/usr/lib/python3.11/json/encoder.py:9 encode","/home/u/a.py:22 train"]})lines");
  std::map<uint32_t, double> charged;
  for (const Observation& row : summary.observations)
    if (row.kind == "python-hot-function") charged[row.place.line] = row.numbers.at("charged_ns");
  REQUIRE(charged.size() == 6);
  CHECK(charged[6] > 0);
  CHECK(charged[5] == 0);
  CHECK(charged[7] == 0);
  CHECK(charged[20] == 0);
  CHECK(charged[6] == doctest::Approx(4 * charged[21]));
  CHECK(charged[22] > 0);
}

TEST_CASE("packages that an installer put beside the program are not the user's own") {
  const std::string samples = R"lines(
{"kind":"sample","detail":"python","startUs":500,"stack":["/home/u/vendor/package/inside.py:5 grind","/home/u/train.py:21 update"]}
{"kind":"sample","detail":"python","startUs":600,"stack":["/home/u/vendor/package/inside.py:5 grind","/home/u/train.py:21 update"]})lines";
  const auto has_line = [](const RankSummary& summary, uint32_t line) {
    return std::ranges::any_of(summary.observations, [line](const Observation& row) {
      return row.kind == "python-hot-function" && row.place.line == line;
    });
  };
  const RankSummary own = summary_of_ten_steps(samples);
  CHECK(has_line(own, 5));
  const RankSummary installed = summary_of_ten_steps(
      samples,
      "{\"kind\":\"environment\",\"python.installed\":\"/home/u/x.py:/home/u/vendor/"
      "package/\"}\n");
  CHECK_FALSE(has_line(installed, 5));
  CHECK(has_line(installed, 21));
}

TEST_CASE("waiting for Python's lock is told by what the thread that has it runs") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"kind":"sample","tid":9,"detail":"python","startUs":400,"durationUs":300,"stack":["/home/u/stats.py:7 histogram","/home/u/stats.py:20 watch"]}
{"kind":"sample","detail":"lock-wait","startUs":500,"durationUs":200,"wakerTid":9,"stack":["/home/u/train.py:21 update"]}
{"kind":"sample","detail":"waiting","startUs":700,"durationUs":100,"stack":["/home/u/train.py:22 update"]})lines");
  const Observation& row = only(summary, "lock-wait");
  CHECK(row.place.file == "/home/u/stats.py");
  CHECK(row.place.line == 7);
  CHECK(row.subject == "histogram");
  CHECK(row.texts.at("waiting") == "/home/u/train.py:21");
  CHECK(row.blocked_ns.per_step() == doctest::Approx(200'000));
}

TEST_CASE("hot lines name the library's function below them, not what it waits in") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"kind":"sample","detail":"native","startUs":500,"durationUs":300,"stack":[{"function":"__nanosleep","module":"/lib/libc.so.6","kind":"native"},{"function":"dgemv_kernel","module":"/v/numpy.libs/libopenblas64_-99b71e71.so","kind":"native"},{"function":"dgesdd_","module":"/v/numpy.libs/libopenblas64_-99b71e71.so","kind":"native"},{"function":"svd","module":"/v/_umath_linalg.cpython-311-x86_64-linux-gnu.so","kind":"native"},{"function":"update","file":"/home/u/train.py","line":21,"kind":"python"}]}
{"kind":"sample","detail":"python","startUs":800,"durationUs":50,"stack":["/home/u/train.py:21 update"]})lines");
  const Observation& row = only(summary, "hot-line");
  CHECK(row.texts.at("native") == "dgesdd_ (libopenblas64_)");
  CHECK(row.numbers.at("native_fraction") == doctest::Approx(1));
}

TEST_CASE("operators that each fill a little idle time are one row by part of the step") {
  std::string lines;
  int correlation = 2;
  const auto gap = [&](const std::string& op, int start, int length) {
    lines +=
        "{\"kind\":\"range\",\"detail\":\"op\",\"name\":\"" + op +
        "\",\"startUs\":" + std::to_string(start) + ",\"durationUs\":" + std::to_string(length) +
        "}\n" + "{\"kind\":\"api\",\"name\":\"cudaLaunchKernel\",\"startUs\":" +
        std::to_string(start + length - 2) +
        ",\"durationUs\":1,\"correlation\":" + std::to_string(correlation) +
        "}\n{\"kind\":\"kernel\",\"name\":\"k\",\"startUs\":" + std::to_string(start + length) +
        ",\"durationUs\":2,\"correlation\":" + std::to_string(correlation) + "}\n";
    ++correlation;
  };
  gap("aten::add", 402, 30);
  gap("aten::mul", 434, 20);
  gap("aten::sub", 456, 25);
  gap("aten::nonzero", 483, 120);
  const RankSummary summary = summary_of_ten_steps(lines);
  const auto row = [&](std::string_view subject) {
    return std::ranges::find_if(summary.observations, [&](const Observation& o) {
      return o.kind == "host-gap" && o.subject == subject;
    });
  };
  const auto joined = row("operators of the step outside the backward pass");
  REQUIRE(joined != summary.observations.end());
  CHECK(joined->numbers.at("operators_joined") == 3);
  CHECK(joined->texts.at("most_of_it") == "aten::add, aten::sub, aten::mul");
  CHECK(joined->idle_ns.median == doctest::Approx(75'000).epsilon(0.1));
  CHECK(joined->count.median == 3);
  // One that fills a good part of the step keeps its own row.
  CHECK(row("aten::nonzero") != summary.observations.end());
}

TEST_CASE("collectives by size, with what waits for each") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"kind":"api","name":"cudaLaunchKernelExC","startUs":40,"durationUs":5,"correlation":2}
{"kind":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32","stream":20,"startUs":300,"durationUs":200,"correlation":2,"bytes":2000000,"group":"dp","worldSize":4}
{"name":"aten::add","startUs":50,"durationUs":10}
{"kind":"api","name":"cudaLaunchKernel","startUs":52,"durationUs":5,"correlation":3}
{"kind":"kernel","name":"add_kernel","startUs":502,"durationUs":20,"correlation":3}
{"kind":"api","name":"cudaLaunchKernelExC","startUs":62,"durationUs":5,"correlation":4}
{"kind":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32","stream":20,"startUs":530,"durationUs":10,"correlation":4,"bytes":4,"group":"dp","worldSize":4}
{"kind":"api","name":"cudaStreamSynchronize","startUs":70,"durationUs":475,"stream":20})lines");
  REQUIRE(count(summary, "collective-size") == 2);
  for (const Observation& row : summary.observations) {
    if (row.kind != "collective-size") continue;
    CHECK(row.texts.at("group") == "dp");
    if (row.numbers.at("bytes") == 4) {
      CHECK(row.texts.at("awaited_by") == "the host in cudaStreamSynchronize");
      continue;
    }
    CHECK(row.numbers.at("duration_ns") == 200'000);
    CHECK(row.numbers.at("hidden_ns") == 100'000);
    CHECK(row.numbers.at("exposed_ns") == 100'000);
    CHECK(row.numbers.at("algorithm_gb_per_s") == doctest::Approx(10));
    CHECK(row.numbers.at("bus_gb_per_s") == doctest::Approx(15));
    CHECK(row.texts.at("awaited_by") == "aten::add");
    CHECK(row.numbers.at("awaited_share") == 1);
  }
}

TEST_CASE("a kernel for messages is what the operators around its launch say") {
  for (const auto& [range, operation] : {std::pair{"nccl:all_to_all", "all-to-all"},
                                         {"c10d::recv_", "receive"},
                                         {"step 2", "send-receive"}}) {
    const RankSummary summary = summary_of_ten_steps(R"lines({"name":")lines" + std::string(range) +
                                                     R"lines(","startUs":405,"durationUs":20}
{"kind":"api","name":"cudaLaunchKernelExC","startUs":410,"durationUs":5,"correlation":2}
{"kind":"kernel","name":"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)","stream":20,"startUs":420,"durationUs":200,"correlation":2})lines");
    CHECK(only(summary, "collective").texts.at("operation") == operation);
  }
  // Some libraries have one kernel for everything.
  const RankSummary generic =
      summary_of_ten_steps(R"lines({"name":"c10d::allreduce_","startUs":405,"durationUs":20}
{"kind":"api","name":"hipExtLaunchKernel","startUs":410,"durationUs":5,"correlation":2}
{"kind":"kernel","name":"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)","stream":20,"startUs":420,"durationUs":200,"correlation":2})lines");
  CHECK(only(generic, "collective").texts.at("operation") == "all-reduce");
}

TEST_CASE("input wait, allocations, compilation, overhead, collection") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"name":"get_batch","startUs":410,"durationUs":200,"stack":["train.py:3 main"]}
{"kind":"api","name":"cudaMalloc","startUs":620,"durationUs":50,"bytes":1024,"stack":["train.py:4 main"]}
{"kind":"api","name":"cuModuleLoadData","startUs":680,"durationUs":30,"stack":["train.py:5 main"]}
{"kind":"overhead","name":"buffer","startUs":715,"durationUs":5}
{"name":"gc","startUs":721,"durationUs":8,"stack":["train.py:6 main"]}
{"kind":"api","name":"cudaLaunchKernel","startUs":730,"durationUs":20,"correlation":2}
{"kind":"kernel","name":"next","startUs":760,"durationUs":100,"correlation":2})lines");
  CHECK(only(summary, "input-wait").place.line == 3);
  CHECK(only(summary, "input-wait").blocked_ns.median == 200'000);
  CHECK(only(summary, "input-wait").idle_ns.median == 200'000);
  CHECK(only(summary, "allocation").numbers.at("bytes") == 1024);
  CHECK(only(summary, "allocation").blocked_ns.median == 50'000);
  CHECK(only(summary, "compile").place.line == 5);
  CHECK(only(summary, "overhead").blocked_ns.median == 5'000);
  CHECK(only(summary, "garbage-collection").place.line == 6);
}

TEST_CASE("memory peaks per step; start-up has phases") {
  const RankSummary summary = summary_of_ten_steps(
      R"lines({"kind":"alloc","name":"cudaMalloc","startUs":50,"bytes":100,"totalBytes":5000,"device":0}
{"kind":"api","name":"cudaLaunchKernel","startUs":420,"durationUs":20,"correlation":2}
{"kind":"kernel","name":"next","startUs":450,"durationUs":20,"correlation":2}
{"kind":"kernel","name":"late","startUs":900,"durationUs":500,"correlation":2,"onlyIn":[5]})lines",
      R"lines({"name":"import torch","startUs":-5000,"durationUs":2000}
{"name":"build model","startUs":-2900,"durationUs":1000}
)lines");
  CHECK(summary.peak_memory == 5000);
  CHECK(summary.steps[4].peak_memory == 5000);
  REQUIRE(summary.startup.size() >= 3);
  CHECK(summary.startup[0].name == "import");
  CHECK(summary.startup[0].duration == 2'000'000);
  CHECK(summary.startup[1].name == "model-build");
  CHECK_FALSE(summary.representative.slices.empty());
  CHECK_FALSE(summary.kernels.empty());
}

TEST_CASE("without steps, work whose call was not recorded is counted and charged to nobody") {
  const auto trace = read_event_lines(
      R"({"kind":"api","name":"cudaLaunchKernel","startNs":0,"durationNs":5000,"correlation":1}
{"kind":"kernel","name":"a","startNs":6000,"durationNs":1000,"correlation":1,"stream":7}
{"kind":"api","name":"cudaLaunchKernel","startNs":7500,"durationNs":9000,"correlation":2}
{"kind":"kernel","name":"b","startNs":17000,"durationNs":1000,"correlation":2,"stream":7}
{"kind":"kernel","name":"c","startNs":30000,"durationNs":1000,"stream":7}
)",
      {.file = "case"});
  REQUIRE(trace.ok());
  const RankSummary rank = analyze_trace(*trace)[0];
  CHECK(rank.gpu.kernels == 3);
  const auto bound = std::ranges::find(rank.observations, "launch-bound", &Observation::kind);
  REQUIRE(bound != rank.observations.end());
  CHECK(bound->numbers.at("kernels_per_step") == 3);
}

TEST_CASE("fields of rows are those that their kind documents") {
  const RankSummary summary = summary_of_ten_steps(R"lines(
{"kind":"api","name":"cudaMemcpyAsync","startUs":195,"durationUs":10,"correlation":2}
{"kind":"memcpy","name":"Memcpy DtoH (Device -> Pinned)","startUs":400,"durationUs":2,"correlation":2,"bytes":4}
{"kind":"api","name":"cudaStreamSynchronize","startUs":206,"durationUs":200,"stream":7}
{"kind":"api","name":"cudaMalloc","startUs":620,"durationUs":50,"bytes":1024}
{"kind":"api","name":"cudaLaunchKernel","startUs":730,"durationUs":120,"correlation":3}
{"kind":"kernel","name":"ncclAllReduce","startUs":860,"durationUs":100,"correlation":3,"bytes":8})lines");
  REQUIRE_FALSE(summary.observations.empty());
  for (const Observation& o : summary.observations) {
    const auto kind = std::ranges::find(observation_kinds(), o.kind, &ObservationKind::name);
    REQUIRE(kind != observation_kinds().end());
    const auto documented = [&](const std::string& field) {
      return std::ranges::any_of(kind->fields, [&](const auto& f) { return f.first == field; });
    };
    for (const auto& [field, value] : o.numbers) {
      CAPTURE(o.kind + "." + field);
      CHECK(documented(field));
    }
    for (const auto& [field, value] : o.texts) {
      CAPTURE(o.kind + "." + field);
      CHECK(documented(field));
    }
  }
}

TEST_CASE("a place is the innermost frame in the user's own code") {
  struct Case {
    const char* stack;
    const char* file;
    uint32_t line;
  };
  for (
      const Case& c : std::initializer_list<Case>{
          {R"(["a.py:1 f","b.py:2 g"])", "a.py", 1},
          {R"([{"function":"<built-in method to of Tensor>","kind":"python"},"b.py:2 g"])", "b.py",
           2},
          {R"(["torch/nn/modules/module.py:9 call","b.py:2 g"])", "b.py", 2},
          {R"(["/opt/venv/lib/python3.11/site-packages/x/y.py:9 call","/w/b.py:2 g"])", "/w/b.py",
           2},
          {R"(["/usr/include/c++/12/vector:3 push","/w/main.cpp:8 train"])", "/w/main.cpp", 8},
          {R"([{"function":"cudaMemcpy","module":"/usr/lib/libcudart.so.12"},"/w/main.cpp:8 train"])",
           "/w/main.cpp", 8},
          {R"(["torch/a.py:9 call"])", "", 0},
      }) {
    CAPTURE(std::string(c.stack));
    const RankSummary summary = summary_of_ten_steps(
        std::string(
            R"({"kind":"api","name":"cudaDeviceSynchronize","startUs":200,"durationUs":220,"stack":)") +
        c.stack + "}");
    const Observation& sync = only(summary, "host-sync");
    CHECK(sync.place.file == c.file);
    CHECK(sync.place.line == c.line);
  }
}
