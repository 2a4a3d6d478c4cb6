// Analysis per event, against one pass over the same columns as the yardstick.
#include <benchmark/benchmark.h>

#include "analyze/analyze.h"
#include "synthetic_trace.h"

using namespace stallscope;

namespace {

const Trace& trace_of(int64_t events) {
  static Trace trace;
  static int64_t size = 0;
  if (size != events) trace = synthetic_trace({.events = static_cast<size_t>(events)});
  size = events;
  return trace;
}

void bm_one_pass(benchmark::State& state) {
  const Trace& trace = trace_of(state.range(0));
  for (auto _ : state) {
    Ns sum = 0;
    for (EventId id = 0; id < trace.size(); ++id)
      sum += trace.durations()[id] + static_cast<Ns>(trace.kinds()[id]) + trace.correlations()[id];
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(trace.size()));
}

void bm_analyze(benchmark::State& state) {
  const Trace& trace = trace_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(analyze_trace(trace));
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(trace.size()));
}

BENCHMARK(bm_one_pass)->Arg(1'000'000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(bm_analyze)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
