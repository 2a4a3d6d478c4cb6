// Broken traces: each fault ends in a named error or a stated repair.
#include "import/import_support.h"
#include "import/json_repair.h"

using namespace stallscope;
using namespace stallscope::test;

namespace {

constexpr char kGood[] =
    R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":2,"args":{"device":0,"stream":7,"correlation":1}})";
constexpr char kAfter[] =
    R"({"ph":"X","cat":"kernel","name":"after","pid":0,"tid":7,"ts":90.5,"dur":1,"args":{"device":0,"stream":7,"correlation":9}})";

std::string around(std::string_view event) {
  return std::string(R"({"schemaVersion":1,"traceEvents":[)") + kGood + ",\n" + std::string(event) +
         ",\n" + kAfter + "]}";
}

uint64_t repairs(const Trace& trace, const char* what) {
  const auto found = trace.health.repairs.find(what);
  return found == trace.health.repairs.end() ? 0 : found->second;
}

}  // namespace

TEST_CASE("one broken event is mended or skipped, counted, and its neighbours survive") {
  struct Case {
    std::string fault;
    std::string event;
    const char* repair;
    const char* name;  // of the mended event; nullptr when it is skipped
  };
  const std::string tail = R"(","pid":0,"tid":7,"ts":20,"dur":5,"args":{"device":0,"stream":7}})";
  const std::string head = R"({"ph":"X","cat":"kernel","name":")";
  for (
      const Case& c : std::initializer_list<Case>{
          {"integer beyond 64 bits, read",
           R"({"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"ts":20,"dur":5,"args":{"device":0,"stream":7,"correlation":99999999999999999999999}})",
           kRepairBigInteger, "x"},
          {"integer beyond 64 bits, not read",
           R"({"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"ts":20,"dur":5,"args":{"device":0,"stream":7,"other":-99999999999999999999999}})",
           kRepairBigInteger, "x"},
          {"invalid UTF-8",
           head +
               "a\xff\xfe"
               "b" +
               tail,
           kRepairUtf8,
           "a\xEF\xBF\xBD\xEF\xBF\xBD"
           "b"},
          {"raw control character", head + "a\nb" + tail, kRepairControl, "a\nb"},
          {"unescaped quotes, even", head + "f(\"a\")" + tail, kRepairQuote, "f(\"a\")"},
          {"unescaped quote, odd", head + R"(5" disk)" + tail, kRepairQuote, R"(5" disk)"},
          {"invalid escape", head + R"(C:\Users)" + tail, kRepairEscape, R"(C:\Users)"},
          {"half a surrogate pair", head + R"(a\ud800b)" + tail, kRepairUtf8,
           "a\xEF\xBF\xBD"
           "b"},
          {"NaN",
           R"J({"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"ts":20,"dur":5,"args":{"est. achieved occupancy %":NaN,"device":0,"stream":7}})J",
           kRepairNotANumber, "x"},
          {"negative infinity",
           R"J({"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"ts":20,"dur":5,"args":{"memory bandwidth (GB/s)":-Infinity,"device":0,"stream":7}})J",
           kRepairNotANumber, "x"},
          {"nan as C prints it",
           R"J({"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"ts":20,"dur":5,"args":{"memory bandwidth (GB/s)":nan,"device":0,"stream":7}})J",
           kRepairNotANumber, "x"},
          {"missing value",
           R"({"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"ts":20,"dur":5,"args":{"Process Group Description": ,"device":0,"stream":7}})",
           kRepairNoValue, "x"},
          {"missing comma inside",
           R"({"ph":"X","cat":"kernel" "name":"x","pid":0,"tid":7,"ts":20,"dur":5,"args":{"device":0,"stream":7}})",
           kRepairComma, "x"},
          {"negative duration",
           R"({"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"ts":20,"dur":-5,"args":{"device":0,"stream":7}})",
           "negative duration read as 0", "x"},
          {"missing duration",
           R"({"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"ts":20,"args":{"device":0,"stream":7}})",
           "missing duration read as 0", "x"},
          {"no time",
           R"({"ph":"X","cat":"kernel","name":"x","pid":0,"tid":7,"dur":5,"args":{"device":0,"stream":7}})",
           "event without a readable time skipped", nullptr},
          {"words between events", "what is this", kRepairGarbage, nullptr},
          {"a number among events", "17", kRepairGarbage, nullptr},
          {"beyond repair", R"({"ph":"X","cat":"kernel",garbage:"x","ts":@@})", kRepairUnreadable,
           nullptr},
          {"end without begin", R"({"ph":"E","pid":5,"tid":6,"ts":3})",
           "end without a begin skipped", nullptr},
          {"begin without end", R"({"ph":"B","name":"x","pid":5,"tid":6,"ts":3})",
           "begin without an end closed at the last time seen", "x"},
      }) {
    CAPTURE(c.fault);
    Result<Trace> trace = import_text("kineto", around(c.event));
    REQUIRE(trace.ok());
    CHECK(repairs(*trace, c.repair) >= 1);
    bool first = false, last = false, mended = false;
    for (EventId id = 0; id < trace->size(); ++id) {
      first = first || trace->name(id) == "k";
      last = last || (trace->name(id) == "after" && trace->starts()[id] == 90500);
      mended = mended || (c.name != nullptr && trace->name(id) == c.name);
    }
    CHECK(first);
    CHECK(last);
    CHECK(mended == (c.name != nullptr));
    CHECK(trace->size() == (c.name == nullptr ? 2 : 3));
    CHECK_FALSE(trace->health.cut_short);
  }
}

TEST_CASE("a file that ends too early keeps what it has and says so") {
  struct Case {
    std::string fault;
    std::string text;
    const char* repair;
    size_t events;
    bool warned = false;  // what has all its events but a bracket is no news
  };
  const std::string good = kGood, after = kAfter;
  for (const Case& c : std::initializer_list<Case>{
           {"in the middle of an event", R"({"traceEvents":[)" + good + "," + after.substr(0, 60),
            kRepairTail, 1, true},
           {"after a comma", R"({"traceEvents":[)" + good + ",", kRepairNoEnd, 1},
           {"without the closing brackets", R"({"traceEvents":[)" + good, kRepairNoEnd, 1},
           {"a bare array without its end", "[" + good + ",\n" + after, kRepairNoEnd, 2},
           {"filled up with zeros", R"({"traceEvents":[)" + good + "," + std::string(5000, '\0'),
            kRepairGarbage, 1, true},
       }) {
    CAPTURE(c.fault);
    Result<Trace> trace = import_text("kineto", c.text);
    REQUIRE(trace.ok());
    CHECK(trace->size() == c.events);
    CHECK(repairs(*trace, c.repair) == 1);
    CHECK(trace->health.cut_short);
    CHECK(trace->health.warnings.size() == (c.warned ? 1 : 0));
  }
}

TEST_CASE("a file that only begins like a compressed one is not said to be empty") {
  struct Case {
    std::string bytes, error;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"", "is empty"},
           {std::string("\x1f\x8b\x08\x00") + std::string(500, '\x7e'), "compressed"}}) {
    const TempFile file("begins.json.gz", c.bytes);
    const Result<Trace> trace = import_trace(file.path(), {});
    REQUIRE_FALSE(trace.ok());
    CHECK_MESSAGE(trace.error().message.find(c.error) != std::string::npos, trace.error().message);
  }
}

TEST_CASE("what is no trace is refused with the file's name") {
  struct Case {
    std::string fault;
    std::string text;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"empty", ""},
           {"blank", "  \n "},
           {"another JSON", R"({"a": 1})"},
           {"no events", R"({"traceEvents": []})"},
           {"zeros", std::string(4096, '\0')},
           {"a key that leads nowhere", R"({"a" "traceEvents" "traceEvents", 5})"},
       }) {
    CAPTURE(c.fault);
    Result<Trace> trace = import_text("kineto", c.text);
    REQUIRE_FALSE(trace.ok());
    CHECK(trace.error().file.find("import-test") != std::string::npos);
    CHECK_FALSE(trace.error().message.empty());
  }
}

TEST_CASE("a broken member around the events does not cost the events") {
  const std::string text =
      R"({"schemaVersion":1, "INFO": ["a"b"c"], "traceEvents":[)" + std::string(kGood) + "]}";
  Result<Trace> trace = import_text("kineto", text);
  REQUIRE(trace.ok());
  CHECK(trace->size() == 1);
}

TEST_CASE("thousands of broken events are mended across batches") {
  std::string text = R"({"traceEvents":[)";
  constexpr int kEvents = 12000;  // more than one batch
  for (int i = 0; i < kEvents; ++i) {
    text += i == 0 ? "" : ",";
    text += R"({"ph":"X","cat":"cpu_op","name":"op ")" + std::string(i % 3 == 0 ? "\"" : "") +
            R"( x","pid":5,"tid":6,"ts":)" + std::to_string(i * 10) +
            R"(.250,"dur":5.125,"args":{}})";
  }
  text += "]}";
  Result<Trace> trace = import_text("kineto", text);
  REQUIRE(trace.ok());
  CHECK(trace->size() == kEvents);
  CHECK(trace->starts()[0] == 250);
  CHECK(trace->starts()[kEvents - 1] == (kEvents - 1) * 10000 + 250);
  CHECK(repairs(*trace, kRepairQuote) >= kEvents);
}

TEST_CASE("limits are errors that name the way out") {
  const TempFile file("limit", around(kGood));
  Result<Trace> trace = import_with("kineto", file.path(), {.max_events = 1, .progress = {}});
  REQUIRE_FALSE(trace.ok());
  CHECK(trace.error().message.find("more than 1 events") != std::string::npos);
}

TEST_CASE("duplicate correlation ids are stated") {
  const std::string call =
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":1,"dur":1,"args":{"correlation":4}})";
  Result<Trace> trace = import_text("kineto", "[" + call + "," + call + "]");
  REQUIRE(trace.ok());
  CHECK(trace->size() == 2);
  CHECK(trace->health.repairs.size() == 1);
}
