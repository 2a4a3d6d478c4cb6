#include "record/python_stacks.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "trace/python_lines.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

// glibc keeps the kernel's number of a thread here in struct pthread (x86-64, since 2.2).
constexpr uint64_t kPthreadTid = 720;

// What is read of a frame, and of the data stack around it at once.
constexpr size_t kFrameBytes = 112;
constexpr uint64_t kWindow = 4096;

// No interpreter has more; a damaged list ends.
constexpr size_t kMostInterpreters = 64, kMostThreads = 4096;
constexpr uint64_t kLongestText = 4096, kLongestTable = 1 << 20;

bool is_thread_of(pid_t pid, pid_t tid) {
  std::error_code error;
  return tid > 0 &&
         fs::exists("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid), error);
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 63));
    out += static_cast<char>(0x80 | (code & 63));
  } else if (code < 0x110000) {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 63));
    out += static_cast<char>(0x80 | (code >> 6 & 63));
    out += static_cast<char>(0x80 | (code & 63));
  }
}

uint32_t name_offset(const PythonLayout& layout) {
  constexpr uint32_t kQualifiedName = 128;  // co_qualname, from 3.11
  return layout.minor >= 11 ? kQualifiedName : layout.code_name;
}

}  // namespace

std::optional<uint64_t> PythonStacks::interpreter_head() const {
  const PythonLayout& layout = *runtime_.layout;
  if (layout.runtime_interpreters != 0)
    return memory_.pointer(runtime_.runtime + layout.runtime_interpreters);
  char cookie[8];
  if (!memory_.read(runtime_.runtime, cookie, sizeof cookie) ||
      std::memcmp(cookie, kDebugCookie, sizeof cookie) != 0)
    return std::nullopt;
  const std::optional<uint64_t> offset = memory_.pointer(runtime_.runtime + kDebugInterpretersHead);
  if (!offset || *offset > kLongestTable) return std::nullopt;
  return memory_.pointer(runtime_.runtime + *offset);
}

uint64_t PythonStacks::interpreter_next() const {
  if (runtime_.layout->runtime_interpreters != 0) return 0;
  return memory_.pointer(runtime_.runtime + kDebugNext).value_or(kLongestTable);
}

// New interpreters come first in the list, the main one is the last.
uint64_t PythonStacks::main_interpreter() const {
  const uint64_t next_at = interpreter_next();
  std::optional<uint64_t> interpreter = interpreter_head();
  uint64_t last = 0;
  for (size_t i = 0; interpreter && *interpreter != 0 && i < kMostInterpreters; ++i) {
    last = *interpreter;
    interpreter = memory_.pointer(last + next_at);
  }
  return last;
}

// A thread that runs code in another interpreter has a state in each: newer interpreters, which
// come first, are entered from older ones.
void PythonStacks::add(PythonThread thread, std::vector<PythonThread>& threads) {
  const auto known = std::ranges::find(threads, thread.tid, &PythonThread::tid);
  if (known == threads.end())
    threads.push_back(std::move(thread));
  else
    known->entered_from.push_back(thread.state);
}

pid_t PythonStacks::tid_of(uint64_t state) const {
  const PythonLayout& layout = *runtime_.layout;
  const auto pthread = memory_.pointer(state + layout.thread_id);
  if (!pthread) return 0;
  const uint64_t tid_at =
      layout.minor >= 11 ? state + layout.thread_id + 8 : *pthread + kPthreadTid;
  return static_cast<pid_t>(memory_.get<uint32_t>(tid_at).value_or(0));
}

std::vector<PythonThread> PythonStacks::threads() const {
  const PythonLayout& layout = *runtime_.layout;
  std::vector<PythonThread> threads;
  std::optional<uint64_t> interpreter = interpreter_head();
  uint64_t head_at = layout.interpreter_threads;
  const uint64_t next_at = interpreter_next(), main = main_interpreter();
  if (layout.runtime_interpreters == 0)
    head_at = memory_.pointer(runtime_.runtime + kDebugThreadsHead).value_or(kLongestTable);
  if (head_at >= kLongestTable || next_at >= kLongestTable) return threads;
  for (size_t i = 0; interpreter && *interpreter != 0 && i < kMostInterpreters; ++i) {
    std::optional<uint64_t> state = memory_.pointer(*interpreter + head_at);
    while (state && *state != 0 && threads.size() < kMostThreads) {
      PythonThread thread{.state = *state, .tid = tid_of(*state)};
      thread.shares_lock = layout.minor < 12 || *interpreter == main;
      if (is_thread_of(memory_.pid(), thread.tid)) add(std::move(thread), threads);
      state = memory_.pointer(*state + kThreadNext);
    }
    interpreter = memory_.pointer(*interpreter + next_at);
  }
  return threads;
}

void PythonStacks::find_lock(const std::vector<PythonThread>& threads) {
  if (lock_.found()) return;
  std::vector<uint64_t> states;
  for (const PythonThread& thread : threads) {
    states.push_back(thread.state);
    states.insert(states.end(), thread.entered_from.begin(), thread.entered_from.end());
  }
  if (const uint64_t interpreter = main_interpreter()) lock_.find(interpreter, states);
}

std::optional<uint64_t> PythonStacks::lock_holder() {
  return lock_words_ ? PythonLock::holder_of(*lock_words_) : lock_.holder();
}

bool PythonStacks::read_at_hint(uint64_t state, const Hint& hint, uint64_t& first,
                                uint64_t& frame) {
  const PythonLayout& layout = *runtime_.layout;
  RemoteMemory::Piece pieces[4];
  size_t count = 0;
  pieces[count++] = {state + layout.thread_frame, &first, sizeof first};
  if (hint.indirect != 0)
    pieces[count++] = {hint.indirect + static_cast<uint32_t>(layout.frame_indirect), &frame,
                       sizeof frame};
  if (hint.window != 0) {
    window_.resize(hint.bytes);
    window_begin_ = hint.window;
    pieces[count++] = {hint.window, window_.data(), hint.bytes};
  }
  PythonLock::Words words;
  const bool with_lock = lock_.found() && !lock_words_;
  if (with_lock) pieces[count++] = {lock_.address(), &words, sizeof words};
  if (!memory_.read({pieces, count})) {
    window_.clear();
    return false;
  }
  if (with_lock) lock_words_ = words;
  return true;
}

uint64_t PythonStacks::innermost(uint64_t state, Hint& hint) {
  const PythonLayout& layout = *runtime_.layout;
  uint64_t first = 0, frame = 0;
  if (!read_at_hint(state, hint, first, frame)) {
    hint = {.exact = hint.exact || hint.window != 0, .none = hint.none || hint.exact};
    if (!memory_.read(state + layout.thread_frame, &first, sizeof first)) return 0;
  }
  if (layout.frame_indirect < 0 || first == 0) return first;
  if (first != hint.indirect) {
    hint.indirect = first;
    frame = memory_.pointer(first + static_cast<uint32_t>(layout.frame_indirect)).value_or(0);
  }
  return frame;
}

std::optional<PythonStacks::FrameWords> PythonStacks::read_frame(uint64_t address) {
  const PythonLayout& layout = *runtime_.layout;
  const auto inside = [&] {
    // A torn read gives any address, also one so high that adding to it wraps around.
    return address >= window_begin_ && window_.size() >= kFrameBytes &&
           address - window_begin_ <= window_.size() - kFrameBytes;
  };
  uint8_t bytes[kFrameBytes];
  if (!layout.frame_objects && !inside()) {
    // Callers lie below on the data stack: one read fetches several of them.
    window_.resize(kWindow);
    window_begin_ = address + kFrameBytes - kWindow;
    if (!memory_.read(window_begin_, window_.data(), kWindow)) window_.clear();
  }
  if (!layout.frame_objects && inside())
    std::memcpy(bytes, window_.data() + (address - window_begin_), kFrameBytes);
  else if (!memory_.read(address, bytes, kFrameBytes))
    return std::nullopt;
  FrameWords frame{};
  std::memcpy(&frame.code, bytes + layout.frame_code, 8);
  std::memcpy(&frame.previous, bytes + layout.frame_previous, 8);
  std::memcpy(&frame.instruction, bytes + layout.frame_instruction, 8);
  if (layout.frame_owner >= 0) frame.owner = bytes[layout.frame_owner];
  if (layout.minor >= 14) frame.code &= ~3ULL;  // the low bits are tags
  return frame;
}

const std::vector<PythonFrame>& PythonStacks::walk(const PythonThread& thread) {
  frames_.clear();
  constexpr size_t kMostHints = 4096;
  if (hints_.size() > kMostHints) hints_.clear();  // of threads that have long ended
  // What one thread left another may have taken since the threads were looked for.
  const bool alone = thread.entered_from.empty();
  bool whole = (!alone && tid_of(thread.state) != thread.tid) || walk_state(thread.state);
  for (const uint64_t state : thread.entered_from) whole = whole && walk_state(state);
  if (!whole) frames_.clear();
  return frames_;
}

bool PythonStacks::walk_state(uint64_t state) {
  window_.clear();
  Hint& hint = hints_[state];
  return walk_frames(innermost(state, hint), hint);
}

bool PythonStacks::walk_frames(uint64_t address, Hint& hint) {
  const PythonLayout& layout = *runtime_.layout;
  const uint64_t top = address + kFrameBytes;
  uint64_t lowest = address;
  while (address != 0 && frames_.size() < kMaxFrames) {
    const std::optional<FrameWords> frame = read_frame(address);
    if (!frame) return false;
    if (address < lowest && top - address <= kWindow) lowest = address;
    const bool shim = layout.frame_owner >= 0 && frame->owner >= kOwnerInterpreter;
    if (!shim) {
      if (!is_code(frame->code)) return false;
      int64_t unit = 0;
      if (layout.frame_objects) {
        const auto last = static_cast<int32_t>(frame->instruction);
        unit = layout.minor >= 10 ? last : last / 2;
      } else {
        unit = static_cast<int64_t>(frame->instruction - frame->code - layout.code_begin) / 2;
      }
      frames_.push_back({frame->code, unit});
    }
    address = frame->previous;
  }
  if (top != kFrameBytes && !layout.frame_objects && !hint.none) {
    // Room above for calls that are deeper next time; no more below than the stack had.
    constexpr uint64_t kRoom = 512;
    const uint64_t room = hint.exact ? 0 : kRoom;
    hint.bytes = std::min(kWindow, top - lowest + room);
    hint.window = top + room - hint.bytes;
  }
  return true;
}

bool PythonStacks::is_code(uint64_t address) {
  if (codes_.contains(address)) return true;
  constexpr uint64_t kType = 8, kTypeName = 24;  // PyObject.ob_type, PyTypeObject.tp_name
  const std::optional<uint64_t> type = memory_.pointer(address + kType);
  if (!type || *type == 0) return false;
  if (*type == code_type_) return true;
  const std::optional<uint64_t> name = memory_.pointer(*type + kTypeName);
  if (!name || memory_.c_string(*name) != "code") return false;
  code_type_ = *type;
  return true;
}

std::optional<std::string> PythonStacks::read_text(uint64_t address) const {
  const PythonLayout& layout = *runtime_.layout;
  const std::optional<uint64_t> length = memory_.pointer(address + kTextLength);
  const std::optional<uint32_t> word = memory_.get<uint32_t>(address + kTextState);
  if (!length || !word || *length > kLongestText) return std::nullopt;
  const TextState state = text_state(*word);
  if (!state.compact || (state.kind != 1 && state.kind != 2 && state.kind != 4))
    return std::nullopt;
  std::vector<uint8_t> data(*length * state.kind);
  const uint64_t at = address + (state.ascii ? layout.text_ascii : layout.text_compact);
  if (!data.empty() && !memory_.read(at, data.data(), data.size())) return std::nullopt;
  std::string text;
  for (size_t i = 0; i < data.size(); i += state.kind) {
    uint32_t code = 0;
    std::memcpy(&code, data.data() + i, state.kind);  // little-endian
    append_utf8(text, code);
  }
  return text;
}

std::optional<PythonCodeFacts> PythonStacks::read_code(uint64_t address) {
  const PythonLayout& layout = *runtime_.layout;
  if (!is_code(address)) return std::nullopt;
  PythonCodeFacts facts;
  const auto text_at = [&](uint32_t offset) -> std::optional<std::string> {
    const std::optional<uint64_t> text = memory_.pointer(address + offset);
    return text ? read_text(*text) : std::nullopt;
  };
  std::optional<std::string> name = text_at(name_offset(layout));
  std::optional<std::string> file = text_at(layout.code_file);
  const std::optional<int32_t> first = memory_.get<int32_t>(address + layout.code_first_line);
  const std::optional<uint64_t> name_address = memory_.pointer(address + name_offset(layout));
  const std::optional<uint64_t> table = memory_.pointer(address + layout.code_lines);
  if (!name || !file || !first || !name_address || !table) return std::nullopt;
  facts.name_address = *name_address;
  facts.lines_address = *table;
  const uint64_t bytes = memory_.pointer(*table + kBytesLength).value_or(0);
  facts.lines.resize(bytes <= kLongestTable ? bytes : 0);
  if (!facts.lines.empty() &&
      !memory_.read(*table + kBytesData, facts.lines.data(), facts.lines.size()))
    return std::nullopt;
  facts.function = std::move(*name);
  facts.file = std::move(*file);
  facts.first_line = *first;
  constexpr uint32_t kOldBytecode = 48;  // co_code, a bytes object, until 3.10
  facts.instructions = layout.frame_objects
                           ? memory_.pointer(address + kOldBytecode).value_or(0) + kBytesData
                           : address + layout.code_begin;
  return facts;
}

std::optional<PythonStacks::Place> PythonStacks::place(const PythonFrame& frame) {
  auto known = codes_.find(frame.code);
  if (known != codes_.end()) {
    // Code of a module is freed once it has run, and its memory used again.
    const PythonLayout& layout = *runtime_.layout;
    if (known->second.checked != look_) {
      uint64_t name = 0, lines = 0;
      const RemoteMemory::Piece pieces[] = {{frame.code + name_offset(layout), &name, sizeof name},
                                            {frame.code + layout.code_lines, &lines, sizeof lines}};
      known->second.checked = look_;
      if (!memory_.read(pieces) || name != known->second.name_address ||
          lines != known->second.lines_address) {
        codes_.erase(known);
        known = codes_.end();
      }
    }
  }
  if (known == codes_.end()) {
    // What cannot be read now may be code later: only what was read is kept.
    std::optional<PythonCodeFacts> read = read_code(frame.code);
    if (!read) return std::nullopt;
    read->checked = look_;
    known = codes_.emplace(frame.code, std::move(*read)).first;
  }
  const PythonCodeFacts& facts = known->second;
  return Place{facts.function, facts.file,
               python_line(runtime_.layout->lines, facts.lines, facts.first_line, frame.unit)};
}

uint64_t PythonStacks::instruction_address(const PythonFrame& frame) const {
  const auto known = codes_.find(frame.code);
  return known == codes_.end() ? 0
                               : known->second.instructions + 2 * static_cast<uint64_t>(frame.unit);
}

}  // namespace stallscope
