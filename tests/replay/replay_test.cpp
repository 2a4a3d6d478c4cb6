#include <doctest/doctest.h>

#include <functional>

#include "replay/price.h"

using namespace stallscope;

namespace {

constexpr Ns kMs = 1'000'000;
constexpr uint32_t kSteps = 10;

// A run on one thread and one stream, built step by step. Calls take 10 us,
// device work starts 5 us after its launch at the earliest.
struct Run {
  Trace trace;
  RankSummary rank;
  TrackId thread = 0, stream = 0;
  Ns host = 0, device = 0;
  uint32_t correlation = 0;
  std::vector<EventId> marked;  // in order of addition; ids are found after finish()

  Run() {
    const uint32_t process = trace.add_process({.pid = 1});
    thread = trace.track(process, TrackKind::thread, -1, 1);
    stream = trace.track(process, TrackKind::stream, 0, 7);
    rank.pid = 1;
    rank.device = 0;
  }

  void launch(std::string_view kernel, Ns duration) {
    ++correlation;
    add(EventKind::api, static_cast<uint8_t>(ApiCall::launch), host, 10'000, thread,
        "cudaLaunchKernel");
    const Ns start = std::max(host + 5'000, device);
    add(EventKind::kernel, 0, start, duration, stream, kernel);
    device = start + duration;
    host += 10'000;
  }

  void sync() {
    ++correlation;
    const Ns end = std::max(host + 2'000, device + 1'000);
    add(EventKind::api, static_cast<uint8_t>(ApiCall::device_sync), host, end - host, thread,
        "cudaDeviceSynchronize");
    host = end;
  }

  void add(EventKind kind, uint8_t detail, Ns start, Ns duration, TrackId track,
           std::string_view name) {
    trace.add({.kind = kind,
               .detail = detail,
               .start = start,
               .duration = duration,
               .track = track,
               .name = trace.strings.intern(name),
               .correlation = correlation});
  }

  void steps(const std::function<void(Run&)>& body, uint32_t count = kSteps) {
    for (uint32_t step = 0; step < count; ++step) {
      const Ns start = host;
      body(*this);
      rank.steps.push_back({.index = step, .host_start = start, .host_end = host});
    }
    trace.finish();
  }

  std::vector<EventId> events(std::string_view name) const {
    std::vector<EventId> found;
    for (EventId id = 0; id < trace.size(); ++id)
      if (trace.name(id) == name) found.push_back(id);
    return found;
  }
};

StepGraph graph_of(const Run& run) {
  return build_graph(run.trace, run.rank, 0, kSteps - 1);
}

}  // namespace

TEST_CASE("an unchanged graph replays to the measured step") {
  Run run;
  run.steps([](Run& r) {
    r.launch("a", kMs);
    r.sync();
    r.host += kMs / 2;
    r.launch("b", kMs);
  });
  const StepGraph graph = graph_of(run);
  REQUIRE(graph.steps == kSteps - 1);
  CHECK(replay(graph, ReplayModel::none, {}) == measured(graph));
}

TEST_CASE("removing a sync lets the host run ahead until the device is the bound") {
  Run run;
  run.steps([](Run& r) {
    r.launch("a", kMs);
    r.sync();
    r.host += kMs / 2;  // the device idles meanwhile
    r.launch("b", kMs);
  });
  const StepGraph graph = graph_of(run);
  CHECK(measured(graph) > 5 * kMs / 2 - kMs / 10);
  const Ns without = replay(graph, ReplayModel::remove_sync, run.events("cudaDeviceSynchronize"));
  CHECK(without == doctest::Approx(2 * kMs).epsilon(0.03));
}

TEST_CASE("removing a sync that another one follows gains next to nothing") {
  Run run;
  run.steps([](Run& r) {
    r.launch("a", kMs);
    r.sync();
    r.sync();
    r.host += kMs / 2;
    r.launch("b", kMs);
  });
  const StepGraph graph = graph_of(run);
  std::vector<EventId> first_of_each;
  const auto syncs = run.events("cudaDeviceSynchronize");
  for (size_t i = 0; i < syncs.size(); i += 2) first_of_each.push_back(syncs[i]);
  const Ns saved = measured(graph) - replay(graph, ReplayModel::remove_sync, first_of_each);
  CHECK(saved < kMs / 20);
}

TEST_CASE("two waits of one function are priced alone and together") {
  Run run;
  run.steps([](Run& r) {
    r.launch("a", kMs);
    r.sync();
    r.sync();
    r.host += kMs / 2;
    r.launch("b", kMs);
  });
  const auto syncs = run.events("cudaDeviceSynchronize");
  for (const uint32_t line : {10U, 11U}) {
    Observation o;
    o.kind = "host-sync";
    o.place = {.file = "train.py", .line = line, .function = "step"};
    for (size_t i = line - 10; i < syncs.size(); i += 2) o.events.push_back(syncs[i]);
    run.rank.observations.push_back(o);
  }
  price_by_replay(run.trace, run.rank);
  for (const Observation& o : run.rank.observations) {
    CHECK(o.numbers.at("replay_saved_ns") < kMs / 20);
    CHECK(o.numbers.at("replay_together_ns") == doctest::Approx(kMs / 2).epsilon(0.1));
  }
}

TEST_CASE("a wait beside one that costs more is not given the other's price") {
  Run run;
  run.steps([](Run& r) {
    r.launch("a", kMs);
    r.sync();
    r.host += 5 * kMs;  // the device idles
    r.launch("b", kMs);
    r.host += 2 * kMs;  // and has long been done when the host waits again
    r.sync();
  });
  const auto syncs = run.events("cudaDeviceSynchronize");
  for (const size_t which : {0U, 1U}) {
    Observation o;
    o.kind = "host-sync";
    o.place = {.file = "train.py", .line = 10 + static_cast<uint32_t>(which), .function = "step"};
    for (size_t i = which; i < syncs.size(); i += 2) o.events.push_back(syncs[i]);
    run.rank.observations.push_back(o);
  }
  price_by_replay(run.trace, run.rank);
  const Observation &dear = run.rank.observations[0], &cheap = run.rank.observations[1];
  CHECK(dear.numbers.at("replay_together_ns") > kMs / 2);
  CHECK(cheap.numbers.at("replay_together_ns") < kMs / 20);
}

TEST_CASE("one call for many takes the work of the others with it") {
  constexpr int kCalls = 10;
  Run run;
  run.steps([](Run& r) {
    r.launch("backward", kMs);
    for (int i = 0; i < kCalls; ++i) {
      r.launch("norm", kMs / 10);
      r.sync();
      r.host += kMs / 10;  // the device idles
    }
  });
  const StepGraph graph = graph_of(run);
  const auto syncs = run.events("cudaDeviceSynchronize");
  const Ns without = replay(graph, ReplayModel::batch_calls, syncs);
  // The first call of a step remains, with its kernel and the host's work behind it.
  CHECK(without == doctest::Approx(kMs + kMs / 10 + kMs / 10).epsilon(0.1));
}

TEST_CASE("removing kernels saves their time on a busy device and nothing on a waiting one") {
  Run busy;
  busy.steps([](Run& r) {
    r.launch("mask", kMs);
    r.launch("gemm", 2 * kMs);
  });
  const StepGraph graph = graph_of(busy);
  CHECK(replay(graph, ReplayModel::remove_kernels, busy.events("mask")) ==
        doctest::Approx(2 * kMs).epsilon(0.03));

  Run waiting;
  waiting.steps([](Run& r) {
    r.launch("mask", kMs / 10);
    r.host += 3 * kMs;
    r.launch("gemm", kMs / 10);
  });
  const StepGraph host_bound = graph_of(waiting);
  const Ns saved = measured(host_bound) -
                   replay(host_bound, ReplayModel::remove_kernels, waiting.events("mask"));
  CHECK(saved < kMs / 10);
}

TEST_CASE("shrinking the host's work is bounded by the device") {
  Run run;
  run.steps([](Run& r) {
    r.host += 2 * kMs;
    r.launch("after_gap", kMs);
  });
  const StepGraph graph = graph_of(run);
  const Ns without = replay(graph, ReplayModel::shrink_host, run.events("after_gap"));
  CHECK(without >= kMs);
  CHECK(without < measured(graph));
}

TEST_CASE("a range of the host is taken out of the gap it lies in, and no more") {
  Run run;
  run.steps([](Run& r) {
    r.add(EventKind::range, 0, r.host, kMs, r.thread, "fetch");
    r.host += 3 * kMs;
    r.launch("after_gap", kMs / 2);
  });
  Observation fetch{.kind = "input-wait"};
  fetch.events = run.events("fetch");
  run.rank.observations = {fetch};
  price_by_replay(run.trace, run.rank);
  CHECK(run.rank.observations[0].numbers.at("replay_saved_ns") ==
        doctest::Approx(kMs).epsilon(0.02));
}

TEST_CASE("what starts to cost after some steps is priced where the steps are like the mean one") {
  constexpr uint32_t kFull = 12, kAll = 30;  // until then the loader's queue is full
  Run run;
  uint32_t step = 0;
  run.steps(
      [&step](Run& r) {
        const Ns waits = step++ < kFull ? kMs / 100 : 3 * kMs;
        r.add(EventKind::range, 0, r.host, waits, r.thread, "fetch");
        r.host += waits;
        r.launch("work", kMs);
        r.sync();
      },
      kAll);
  for (Step& each : run.rank.steps) {
    each.classes[StepClass::compute] = kMs;
    each.classes[StepClass::input_wait] = each.host_end - each.host_start - kMs;
    for (size_t c = 0; c < kStepClasses; ++c) run.rank.mean_breakdown.ns[c] += each.classes.ns[c];
  }
  for (Ns& ns : run.rank.mean_breakdown.ns) ns /= kAll;
  Observation fetch{.kind = "input-wait"};
  fetch.events = run.events("fetch");
  run.rank.observations = {fetch};
  price_by_replay(run.trace, run.rank);
  const double mean_wait = 3.0 * kMs * (kAll - kFull) / kAll;
  // Eight steps hold five or six of the waits.
  CHECK(run.rank.observations[0].numbers.at("replay_saved_ns") ==
        doctest::Approx(mean_wait).epsilon(0.3));
}

TEST_CASE("observations are priced, and the replay's own error is stated") {
  Run run;
  run.steps([](Run& r) {
    r.launch("a", kMs);
    r.sync();
    r.host += kMs / 2;
    r.launch("b", kMs);
  });
  Observation sync{.kind = "host-sync"};
  sync.events = run.events("cudaDeviceSynchronize");
  run.rank.observations = {sync, {.kind = "host-sync"}, {.kind = "launch-bound"}};
  price_by_replay(run.trace, run.rank);
  CHECK(run.rank.replay_error == doctest::Approx(0));
  CHECK(run.rank.observations[0].numbers.at("replay_saved_ns") ==
        doctest::Approx(kMs / 2).epsilon(0.05));
  CHECK_FALSE(run.rank.observations[1].numbers.contains("replay_saved_ns"));
  CHECK_FALSE(run.rank.observations[2].numbers.contains("replay_saved_ns"));
}

TEST_CASE("hiding a collective frees the streams that wait for it, as recorded or as times tell") {
  // On one stream 300 us, on another a collective of 400 us that waits for it, then 200 us that
  // wait for the collective. The host is far ahead.
  const auto priced = [](bool recorded) {
    Run run;
    const TrackId other = run.trace.track(0, TrackKind::stream, 0, 20);
    const auto wait = [&](TrackId waiting, int64_t on, int64_t from) {
      ++run.correlation;
      const uint32_t record = run.correlation;
      run.add(EventKind::api, static_cast<uint8_t>(ApiCall::event_record), run.host, 1'000,
              run.thread, "cudaEventRecord");
      ++run.correlation;
      run.add(EventKind::api, static_cast<uint8_t>(ApiCall::stream_wait), run.host + 1'000, 1'000,
              run.thread, "cudaStreamWaitEvent");
      run.host += 2'000;
      if (!recorded) return;
      const std::vector<Field> fields = {Field::of_integer(kKeyStream, on),
                                         Field::of_integer(kKeyWaitStream, from),
                                         Field::of_integer(kKeyEventRecord, record)};
      run.trace.add({.kind = EventKind::stream_wait,
                     .start = run.host,
                     .track = waiting,
                     .name = run.trace.strings.intern("Stream Wait Event"),
                     .correlation = run.correlation,
                     .payload = run.trace.add_payload(fields)});
    };
    const auto launch = [&](TrackId stream, std::string_view name, Ns duration) {
      ++run.correlation;
      run.add(EventKind::api, static_cast<uint8_t>(ApiCall::launch), run.host, 5'000, run.thread,
              "cudaLaunchKernel");
      run.host += 5'000;
      run.device = std::max(run.device, run.host + 5'000) + 2'000;
      run.add(EventKind::kernel, 0, run.device, duration, stream, name);
      run.device += duration;
    };
    run.steps([&](Run&) {
      launch(run.stream, "compute", 300'000);
      wait(other, 20, 7);
      launch(other, "nccl", 400'000);
      wait(run.stream, 7, 20);
      launch(run.stream, "after", 200'000);
      run.host += 700'000;  // behind the device by the end of the step, but never late
    });
    Observation row;
    row.kind = "collective";
    row.numbers["exposed_ns"] = 400'000;
    row.events = run.events("nccl");
    run.rank.observations.push_back(row);
    for (Step& step : run.rank.steps) step.use = StepUse::used;
    price_by_replay(run.trace, run.rank);
    return run.rank.observations[0].numbers.at("replay_saved_ns");
  };
  // The host, at 719 us a step, is the next bound.
  CHECK(priced(false) == doctest::Approx(187'000).epsilon(0.1));
  CHECK(priced(true) == doctest::Approx(187'000).epsilon(0.1));
}

TEST_CASE("a run without steps is left unpriced") {
  Trace trace;
  trace.add_process({.pid = 1});
  trace.finish();
  RankSummary rank;
  price_by_replay(trace, rank);
  CHECK(rank.replay_error < 0);
}
