#include "trace/event_lines.h"

#include <doctest/doctest.h>

using namespace stallscope;

namespace {

std::string dump(const Trace& trace) {
  std::string text = header_lines(trace);
  for (EventId id = 0; id < trace.size(); ++id) text += event_line(trace, id) + "\n";
  return text;
}

Trace read(std::string_view text) {
  auto trace = read_event_lines(text, {.file = "case"});
  REQUIRE_MESSAGE(trace.ok(), trace.error().to_string());
  return std::move(*trace);
}

}  // namespace

TEST_CASE("a dump reads back as what was dumped") {
  const std::string text = dump(read(
      R"lines({"kind":"process","pid":5,"rank":1,"localRank":1,"worldSize":2,"host":"a","name":"train"}
{"kind":"environment","gpu.name":"H100"}
{"kind":"health","lostRecords":3,"cutShort":true}
{"kind":"hole","startNs":5,"durationNs":6,"reason":"handed over"}
{"kind":"range","name":"aten::mul, op_id = 7","args":", op_id = 7","domain":"D","startNs":10,"durationNs":20,"pid":5,"tid":6}
{"kind":"api","name":"cudaMemcpyAsync","startNs":12,"durationNs":3,"pid":5,"tid":6,"stream":7,"correlation":9,"stack":[{"function":"f","file":"a.cpp","line":3,"module":"m.so","kind":"native"},"train.py:4 main"]}
{"kind":"memcpy","name":"Memcpy DtoH (Device -> Pageable)","startNs":14,"durationNs":2,"pid":5,"device":1,"stream":7,"correlation":9,"bytes":4,"targetMemory":"pageable"}
{"kind":"collective","name":"MPI_Allreduce","startNs":40,"durationNs":2,"pid":5,"tid":6,"bytes":64,"sequence":3,"group":"world","worldSize":2}
{"kind":"counter","name":"queue","startNs":50,"pid":5,"tid":6,"value":1.5,"payload":{"name":"odd","rank":3}}
)lines"));
  CHECK(dump(read(text)) == text);
  const Trace trace = read(text);
  REQUIRE(trace.size() == 5);
  CHECK(trace.processes[0].world_size == 2);
  CHECK(trace.health.lost_records == 3);
  CHECK(trace.health.holes.size() == 1);
  CHECK(trace.name(0) == "aten::mul");
  CHECK(trace.full_name(0) == "aten::mul, op_id = 7");
  CHECK(trace.text_field(0, kKeyDomain) == "D");
  CHECK(static_cast<RangeKind>(trace.details()[0]) == RangeKind::op);
  CHECK(static_cast<ApiCall>(trace.details()[1]) == ApiCall::copy);
  CHECK(trace.integer(1, kKeyStream) == 7);
  REQUIRE(trace.stack(trace.stacks()[1]).size() == 2);
  const Frame& outer = trace.frame(trace.stack(trace.stacks()[1])[1]);
  CHECK(trace.text(outer.file) == "train.py");
  CHECK(outer.line == 4);
  CHECK(outer.kind == FrameKind::python);
  CHECK(static_cast<CollectiveOp>(trace.details()[2]) == CollectiveOp::all_reduce);
  CHECK(trace.number(3, kKeyValue) == 1.5);
  CHECK(static_cast<CopyKind>(trace.details()[4]) == CopyKind::device_to_host);
  CHECK(trace.tracks[trace.tracks_of_events()[4]].device == 1);
}

TEST_CASE("a hand-written case needs little") {
  const Trace trace = read(R"(# twelve steps
{"repeat":3,"everyNs":1000}
{"name":"step {i}","startNs":0,"durationNs":900}
{"kind":"api","name":"cudaLaunchKernel","startNs":10,"durationUs":0.005,"correlation":1}
{"kind":"kernel","name":"gemm","startNs":20,"durationNs":50,"correlation":1}
{"kind":"kernel","name":"next","durationNs":5,"correlation":1}
{"kind":"api","name":"cudaFree","startNs":600,"onlyIn":[1]}
{"kind":"api","name":"cudaMalloc","startNs":700,"every":2}
{"end":true}
// the end
)");
  REQUIRE(trace.size() == 3 * 4 + 1 + 1);
  CHECK(trace.name(0) == "step 0");
  std::vector<uint32_t> kernels;
  std::vector<Ns> starts;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.kinds()[id] == EventKind::kernel) {
      kernels.push_back(trace.correlations()[id]);
      starts.push_back(trace.starts()[id]);
    }
    if (trace.name(id) == "cudaFree") CHECK(trace.starts()[id] == 1600);
    if (trace.name(id) == "cudaMalloc") CHECK(trace.starts()[id] == 1700);
  }
  CHECK(starts == std::vector<Ns>{20, 70, 1020, 1070, 2020, 2070});
  CHECK(kernels[0] == kernels[1]);
  CHECK(kernels[0] != kernels[2]);
}

TEST_CASE("a bad line is an error with its number") {
  struct Case {
    const char* text;
    const char* message;
    uint64_t line;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"{\"kind\":\"kernel\"}\n{\"kind\":\"kernal\"}\n", "unknown kind 'kernal'", 2},
           {"\n\nnonsense\n", "not a JSON object", 3},
           {"[1]\n", "not a JSON object", 1},
           {"{\"durationNs\":-1}\n", "negative", 1},
           {"{\"durationNs\":\"x\"}\n", "must be a number", 1},
           {"{\"startNs\":9223372036854775807,\"durationNs\":5}\n", "beyond all time", 1},
           {"{\"kind\":\"api\",\"detail\":\"nap\"}\n", "unknown detail 'nap'", 1},
           {"{\"stack\":[{\"func\":\"x\"}]}\n", "unknown key 'func'", 1},
           {"{\"correlation\":-4}\n", "'correlation'", 1},
           {"{\"list\":[1]}\n", "must be a number or a text", 1},
           {"{\"repeat\":2,\"everyNs\":5}\n{\"name\":\"x\"}\n", "not closed", 1},
           {"{\"end\":true}\n", "without a repeat", 1},
           {"{\"repeat\":2}\n", "needs 'everyNs'", 1},
       }) {
    CAPTURE(c.text);
    const auto trace = read_event_lines(c.text, {.file = "bad.jsonl"});
    REQUIRE_FALSE(trace.ok());
    CHECK(trace.error().message.find(c.message) != std::string::npos);
    CHECK(trace.error().line == c.line);
    CHECK(trace.error().file == "bad.jsonl");
    CHECK_FALSE(trace.error().to_string().empty());
  }
}

TEST_CASE("a cut last line is repaired and counted; bad lines are skipped when asked") {
  const auto cut = read_event_lines("{\"kind\":\"kernel\",\"durationNs\":1}\n{\"kind\":\"ker");
  REQUIRE(cut.ok());
  CHECK(cut->size() == 1);
  CHECK(cut->health.cut_short);
  CHECK(cut->health.repairs.at("cut last line") == 1);

  const auto skipped = read_event_lines("{\"kind\":\"x\"}\n{\"kind\":\"kernel\"}\n{}}\n",
                                        {.file = {}, .skip_bad_lines = true});
  REQUIRE(skipped.ok());
  CHECK(skipped->size() == 1);
  CHECK(skipped->health.repairs.at("bad line skipped") == 2);
}
