// Importing a Kineto trace against a bare walk of the same bytes by the same
// parser, and against inflating them; importing an nsys export against reading
// its rows by SQLite. STALLSCOPE_BENCH_TRACE names the JSON file, whose .gz lies
// beside it, and STALLSCOPE_BENCH_NSYS the export. scripts/bench/import.sh makes
// them.
#include <benchmark/benchmark.h>
#include <simdjson.h>
#include <sqlite3.h>

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

/// Every column of every row of the tables that an export's events lie in.
void read_rows(benchmark::State& state, const std::string& path) {
  constexpr const char* kTables[] = {"StringIds",
                                     "NVTX_EVENTS",
                                     "CUPTI_ACTIVITY_KIND_KERNEL",
                                     "CUPTI_ACTIVITY_KIND_MEMCPY",
                                     "CUPTI_ACTIVITY_KIND_MEMSET",
                                     "CUPTI_ACTIVITY_KIND_RUNTIME",
                                     "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"};
  for (auto _ : state) {
    sqlite3* database = nullptr;
    if (sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK) {
      state.SkipWithError("the export cannot be opened");
      return;
    }
    int64_t sum = 0;
    for (const char* table : kTables) {
      sqlite3_stmt* rows = nullptr;
      const std::string sql = std::string("SELECT * FROM ") + table;
      if (sqlite3_prepare_v2(database, sql.c_str(), -1, &rows, nullptr) != SQLITE_OK) continue;
      const int columns = sqlite3_column_count(rows);
      while (sqlite3_step(rows) == SQLITE_ROW)
        for (int i = 0; i < columns; ++i)
          sum += sqlite3_column_type(rows, i) == SQLITE_TEXT ? sqlite3_column_text(rows, i)[0]
                                                             : sqlite3_column_int64(rows, i);
      sqlite3_finalize(rows);
    }
    sqlite3_close(database);
    benchmark::DoNotOptimize(sum);
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
  if (const char* nsys = std::getenv("STALLSCOPE_BENCH_NSYS")) {
    benchmark::RegisterBenchmark("rows/sqlite", read_rows, std::string(nsys))
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
    benchmark::RegisterBenchmark("import/sqlite", import_file, std::string(nsys))
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
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
