// Importing a Kineto trace against a bare walk of the same bytes by the same
// parser, and against inflating them. STALLSCOPE_BENCH_TRACE names the JSON
// file; its .gz lies beside it. scripts/bench/import.sh makes both.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "import/byte_stream.h"
#include "import/importer.h"

namespace {

namespace ondemand = simdjson::ondemand;

std::string trace_path() {
  const char* path = std::getenv("STALLSCOPE_BENCH_TRACE");
  return path == nullptr ? std::string() : path;
}

// Touches every key and value, as an importer must at least.
size_t walk(ondemand::value value) {
  size_t sum = 0;
  switch (value.type().value()) {
    case ondemand::json_type::array:
      for (auto element : value.get_array()) sum += walk(element.value());
      break;
    case ondemand::json_type::object:
      for (auto field : value.get_object()) sum += walk(field.value().value());
      break;
    default:
      sum += value.raw_json_token().size();
  }
  return sum;
}

void bare_walk(benchmark::State& state) {
  for (auto _ : state) {
    simdjson::padded_string text;
    if (simdjson::padded_string::load(trace_path()).get(text) != simdjson::SUCCESS) {
      state.SkipWithError("the trace cannot be read");
      return;
    }
    ondemand::parser parser;
    ondemand::document document = parser.iterate(text).value();
    size_t sum = 0;
    for (auto field : document.get_object()) sum += walk(field.value().value());
    benchmark::DoNotOptimize(sum);
  }
}

void inflate(benchmark::State& state) {
  std::vector<char> block(1 << 20);
  for (auto _ : state) {
    auto stream = stallscope::open_stream(trace_path() + ".gz");
    if (!stream) {
      state.SkipWithError("no .gz beside the trace");
      return;
    }
    for (;;) {
      const auto got = (*stream)->read(block);
      if (!got || *got == 0) break;
    }
  }
}

void import_file(benchmark::State& state, const std::string& path) {
  for (auto _ : state) {
    const auto trace = stallscope::import_trace(path);
    if (!trace) {
      state.SkipWithError(trace.error().to_string().c_str());
      return;
    }
    state.counters["events"] = static_cast<double>(trace->size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (trace_path().empty()) {
    std::fprintf(stderr, "set STALLSCOPE_BENCH_TRACE, or run scripts/bench.sh import\n");
    return 2;
  }
  benchmark::RegisterBenchmark("walk/json", bare_walk)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  benchmark::RegisterBenchmark("inflate/gz", inflate)->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const char* ending : {"", ".gz"})
    benchmark::RegisterBenchmark(
        (std::string("import/json") + ending).c_str(),
        [path = trace_path() + ending](benchmark::State& state) { import_file(state, path); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
