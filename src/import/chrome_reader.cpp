#include "import/chrome_reader.h"

#include <algorithm>

#include "import/event_parser.h"
#include "import/text_window.h"

namespace stallscope {
namespace {

constexpr size_t kBatchBytes = kBlockBytes;  // held at least
constexpr size_t kMostBatch =
    kBlockBytes + kBlockHeadroom;             // 1 MB: stays in the second-level cache
constexpr size_t kMaxEventBytes = 64U << 20;  // an event larger than this is skipped
constexpr int kBordersTried = 16;             // ends considered for a broken event
constexpr auto kNone = std::string_view::npos;

class Reader {
 public:
  Reader(BlockStream& stream, const ChromeHandlers& handlers)
      : window_(stream), stream_(stream), handlers_(handlers) {
    sink_ = [this](const RawEvent& event) { stopped_ = !handlers_.event(event) || stopped_; };
  }

  Result<ChromeResult> run() {
    if (Status held = window_.hold(kBatchBytes); !held) return held.error();
    if (window_.text().starts_with("\xEF\xBB\xBF")) window_.consume(3);
    skip_blanks();
    if (window_.text().empty()) return Error{.message = "holds no text"};
    const char first = window_.text().front();
    if (first != '{' && first != '[') return Error{.message = "is not a JSON object or array"};
    window_.consume(1);
    if (Status read = first == '[' ? read_events() : read_members(); !read) return read.error();
    // Where blanks are skipped an error looks like the end.
    if (window_.error()) return *window_.error();
    result_.cut_short = result_.cut_short || !stream_.damage().empty();
    if (!stream_.damage().empty()) ++result_.repairs[stream_.damage()];
    return std::move(result_);
  }

 private:
  void skip_blanks() {
    for (;;) {
      const std::string_view text = window_.text();
      const size_t blanks = std::min(text.find_first_not_of(" \n\t\r"), text.size());
      window_.consume(blanks);
      if (blanks < text.size() || window_.at_end()) return;
      if (!window_.hold(kBatchBytes)) return;
    }
  }

  // The extent of the value at the front of the window, held whole; kNone when
  // it never ends or is larger than an event may be.
  size_t hold_value() {
    for (size_t bytes = kBatchBytes;; bytes *= 2) {
      const std::string_view text = window_.text();
      if (text.empty()) return kNone;
      size_t extent;
      if (text.front() == '{' || text.front() == '[') {
        extent = json_extent(text);
      } else if (text.front() == '"') {
        extent = json_string_extent(text);
      } else {
        extent = text.find_first_of(",}] \n\t\r");
      }
      if (extent != kNone || window_.at_end() || bytes > kMaxEventBytes) return extent;
      if (!window_.hold(bytes * 2)) return kNone;
    }
  }

  Status read_members() {
    for (;;) {
      if (Status held = window_.hold(kBatchBytes); !held) return held;
      skip_blanks();
      const std::string_view text = window_.text();
      if (text.empty()) {
        end_missing();
        return ok_status();
      }
      if (text.front() == '}') return ok_status();
      if (text.front() == ',') {
        window_.consume(1);
        continue;
      }
      if (!read_member() && !find_events()) return ok_status();
      // Events that end in garbage are given up: what follows may be terabytes of it.
      if (stopped_ || result_.cut_short) return ok_status();
      if (Status failed = std::move(events_status_); !failed) return failed;
    }
  }

  // One "key": value. False when that is not what the text holds.
  bool read_member() {
    if (window_.text().front() != '"') return false;
    const size_t key_extent = hold_value();
    if (key_extent == kNone) return false;
    const std::string key(window_.text().substr(1, key_extent - 2));
    const size_t colon = window_.text().find_first_not_of(" \n\t\r", key_extent);
    if (colon == kNone || window_.text()[colon] != ':') return false;
    window_.consume(colon + 1);
    skip_blanks();
    if (key == "traceEvents" && window_.text().starts_with('[')) {
      window_.consume(1);
      events_status_ = read_events();
      return true;
    }
    const size_t extent = hold_value();
    if (extent == kNone) return false;
    handlers_.member(key, window_.text().substr(0, extent));
    window_.consume(extent);
    return true;
  }

  // What surrounds the events is broken: go on at the events themselves.
  bool find_events() {
    static constexpr std::string_view kKey = "\"traceEvents\"";
    ++result_.repairs[kRepairGarbage];
    // What stands here was tried: going on at the same place would never end.
    if (!window_.text().empty()) window_.consume(1);
    for (;;) {
      const size_t found = window_.text().find(kKey);
      if (found != kNone) {
        window_.consume(found);
        return true;
      }
      window_.consume(window_.text().size() - std::min(window_.text().size(), kKey.size()));
      if (window_.at_end()) return false;
      if (!window_.hold(kBatchBytes)) return false;
    }
  }

  Status read_events() {
    for (bool first = true; !stopped_; first = false) {
      if (Status held = window_.hold(kBatchBytes); !held) return held;
      if (handlers_.progress) handlers_.progress();
      if (!separator(first)) return ok_status();
      const std::string_view text = window_.text();
      if (text.front() != '{') {
        if (!skip_garbage()) return ok_status();
        continue;
      }
      // The border lies a little before the end of the batch: whole events only.
      const size_t cut = last_event_border(text.substr(0, kMostBatch));
      if (cut == kNone) {
        if (Status one = read_one(); !one) return one;
        continue;
      }
      const size_t done = parse_batch(cut);
      window_.consume(done);
      bool front = done == 0;
      for (size_t left = cut - done; left > 0 && !stopped_; front = false) {
        const uint64_t before = window_.position();
        if (!separator(front)) return ok_status();
        if (window_.text().front() != '{') break;
        if (Status one = read_one(); !one) return one;
        left -= std::min<size_t>(left, window_.position() - before);
      }
    }
    return ok_status();
  }

  // Parses the events before the comma at `cut`; returns how many bytes are done.
  size_t parse_batch(size_t cut) {
    char* const first = window_.data() - 1;
    const char saved_first = *first, saved_last = first[1 + cut];
    *first = '[';
    first[1 + cut] = ']';
    const size_t size = cut + 2;
    const size_t done = parser_.parse({first, size}, sink_, result_.repairs);
    *first = saved_first;
    first[1 + cut] = saved_last;
    return done == size ? cut : done == 0 ? 0 : std::min(done - 1, cut);
  }

  // Passes the comma before the next event. False at the end of the events.
  bool separator(bool first) {
    size_t commas = 0;
    for (;;) {
      skip_blanks();
      if (!window_.text().starts_with(',')) break;
      ++commas;
      window_.consume(1);
    }
    const std::string_view text = window_.text();
    if (text.empty()) {
      end_missing();
      return false;
    }
    const bool last = text.front() == ']';
    if (last) window_.consume(1);
    const bool due = !first && !last && !resynchronised_;
    if (commas > 1 || (commas == 1) != due) {
      if (!resynchronised_) ++result_.repairs[kRepairComma];
    }
    resynchronised_ = false;
    return !last;
  }

  // The file ends before its brackets close; said once.
  void end_missing() {
    if (!result_.cut_short) ++result_.repairs[kRepairNoEnd];
    result_.cut_short = true;
  }

  // What stands here is no event: go on at the next one.
  bool skip_garbage() {
    ++result_.repairs[kRepairGarbage];
    resynchronised_ = true;
    for (uint64_t skipped = 0; skipped < kMaxEventBytes;) {
      const std::string_view text = window_.text();
      const size_t brace = text.find('{');
      const size_t bracket = text.find(']');
      const size_t stop = std::min(brace, bracket);
      window_.consume(std::min(stop, text.size()));
      if (stop != kNone) return true;
      skipped += text.size();
      if (window_.at_end()) return true;  // separator() sees the end
      if (!window_.hold(kBatchBytes)) return false;
    }
    result_.cut_short = true;
    return false;
  }

  bool try_event(std::string_view text) { return parser_.parse_one(text, sink_, result_.repairs); }

  // The event at the front of the window, alone, mended when it is broken.
  Status read_one() {
    for (size_t bytes = kBatchBytes;; bytes *= 2) {
      const std::string_view text = window_.text();
      const size_t extent = json_extent(text);
      const size_t border = next_event_border(text, 0);
      const bool whole = extent != kNone && (border == kNone || extent <= border);
      if (whole) {
        if (!try_event(text.substr(0, extent))) ++result_.repairs[kRepairUnreadable];
        window_.consume(extent);
        return ok_status();
      }
      if (border != kNone) {
        read_broken(text, extent, border);
        return ok_status();
      }
      if (window_.at_end()) {
        read_tail(text);
        return ok_status();
      }
      if (bytes > kMaxEventBytes) {
        ++result_.repairs[kRepairOversized];
        window_.consume(text.size());
        resynchronised_ = true;
        return ok_status();
      }
      if (Status held = window_.hold(bytes * 2); !held) return held;
    }
  }

  // The event contains what looks like the border to the next one, or its
  // quotes do not pair: take the shortest piece that makes sense.
  void read_broken(std::string_view text, size_t extent, size_t border) {
    if (extent != kNone && parser_.parse_strict(text.substr(0, extent), sink_, result_.repairs)) {
      window_.consume(extent);
      return;
    }
    size_t end = border;
    for (int tried = 0; tried < kBordersTried && end != kNone; ++tried) {
      if (try_event(text.substr(0, end))) {
        window_.consume(end);
        return;
      }
      end = next_event_border(text, end);
    }
    ++result_.repairs[kRepairUnreadable];
    window_.consume(border);
  }

  // The last event of a file that is broken there: mended if its end is near, else given up.
  void read_tail(std::string_view text) {
    for (size_t end = text.find('}'); end != kNone; end = text.find('}', end + 1)) {
      const size_t next = text.find_first_not_of(" \n\t\r", end + 1);
      if (next == kNone || text[next] != ']') continue;
      if (!try_event(text.substr(0, end + 1))) continue;
      window_.consume(end + 1);
      return;
    }
    ++result_.repairs[kRepairTail];
    result_.cut_short = true;
    window_.consume(text.size());
  }

  TextWindow window_;
  BlockStream& stream_;
  const ChromeHandlers& handlers_;
  EventParser parser_;
  EventParser::Sink sink_;
  ChromeResult result_;
  Status events_status_ = ok_status();
  bool stopped_ = false;         // a handler wants no more
  bool resynchronised_ = false;  // commas here were part of what was skipped
};

}  // namespace

Result<ChromeResult> read_chrome_trace(BlockStream& stream, const ChromeHandlers& handlers) {
  return Reader(stream, handlers).run();
}

}  // namespace stallscope
