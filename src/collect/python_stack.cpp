#include "collect/python_stack.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>

#include "collect/definitions.h"
#include "collect/note.h"
#include "collect/text.h"
#include "trace/python_layout.h"
#include "trace/python_lines.h"

namespace stallscope::collect {
namespace {

constexpr uint32_t kSlots = 1 << 14;
constexpr uint32_t kMaxPlaces = kSlots / 2;
constexpr uint32_t kMaxProbes = 32;
constexpr int kCheckedWalks = 8;          // until the layout is believed
constexpr uint32_t kQualifiedName = 128;  // co_qualname, from 3.11
constexpr size_t kLongestTable = 64 * 1024;
constexpr size_t kLongestText = 1024;

/// A code object and an instruction in it, as the frame word that names its line.
/// `name` and `lines` are compared on every use: code is freed and its memory used again.
struct Place {
  uint64_t code;  ///< 0 = empty; written last
  int64_t unit;
  uint64_t name, lines;
  uint64_t word;
};

enum class Readable : uint32_t { not_looked, no, yes };

std::atomic<Readable> g_readable = Readable::not_looked;
const PythonLayout* g_layout = nullptr;
void* (*g_this_state)() = nullptr;
int (*g_is_initialized)() = nullptr;
Place* g_places = nullptr;
uint32_t g_place_count = 0;
uint32_t g_code_count = 0;
int g_checked_walks = 0;
uint8_t g_table[kLongestTable];  // under number_lock

// Reads this process's own memory so that a bad address is an error, not a fault.
bool safe_read(uint64_t address, void* into, size_t bytes) {
  iovec local{into, bytes};
  iovec remote{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

template <typename T>
bool load(uint64_t address, T* value) {
  if (g_checked_walks < kCheckedWalks) return safe_read(address, value, sizeof *value);
  memcpy(value, reinterpret_cast<const void*>(address), sizeof *value);
  return true;
}

template <typename Function>
Function symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

const PythonLayout* running_layout() {
  const auto version = symbol<const char* (*)()>("Py_GetVersion");
  const auto runtime = reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, "_PyRuntime"));
  if (version == nullptr || runtime == 0) return nullptr;
  const char* text = version();
  if (text == nullptr || text[0] != '3' || text[1] != '.') return nullptr;
  const PythonLayout* layout = python_layout(3, static_cast<int>(parse_number(text + 2, -1)));
  if (layout == nullptr || layout->minor < 13) return layout;
  char cookie[sizeof kDebugCookie - 1] = {};
  uint64_t free_threaded = 0;
  if (!safe_read(runtime, cookie, sizeof cookie) ||
      memcmp(cookie, kDebugCookie, sizeof cookie) != 0 ||
      !safe_read(runtime + kDebugFreeThreaded, &free_threaded, sizeof free_threaded))
    return nullptr;
  if (free_threaded == 0) return layout;
  // It moves frames and counts about.
  note(
      "CPython is a free-threaded build here: blocking calls are known without their Python lines");
  return nullptr;
}

size_t put_utf8(char* out, uint32_t code) {
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  const size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out[0] = static_cast<char>(kLead[more] | code >> (6 * more));
  for (size_t i = 1; i <= more; ++i)
    out[i] = static_cast<char>(0x80 | ((code >> (6 * (more - i))) & 63));
  return more + 1;
}

// The number of a str's text; 0 when it cannot be read.
uint32_t intern_text(uint64_t address) {
  uint64_t length = 0;
  uint32_t word = 0;
  if (!safe_read(address + kTextLength, &length, sizeof length) ||
      !safe_read(address + kTextState, &word, sizeof word))
    return 0;
  const auto [kind, compact, ascii] = text_state(word);
  if (!compact || (kind != 1 && kind != 2 && kind != 4)) return 0;
  if (length > kLongestText) length = kLongestText;
  uint8_t data[kLongestText * 4];
  if (!safe_read(address + (ascii ? g_layout->text_ascii : g_layout->text_compact), data,
                 length * kind))
    return 0;
  char text[kLongestText * 4];
  size_t used = 0;
  for (uint64_t i = 0; i < length; ++i) {
    uint32_t code = 0;
    memcpy(&code, data + i * kind, kind);
    used += put_utf8(text + used, code & 0x1fffff);
  }
  return intern(text, used);
}

uint32_t name_offset() {
  return g_layout->minor >= 11 ? kQualifiedName : g_layout->code_name;
}

// With number_lock held. First sight of a place: its texts and its line.
uint64_t describe(const Place& place) {
  uint64_t file = 0, bytes = 0;
  int32_t first_line = 0;
  if (!safe_read(place.code + g_layout->code_file, &file, sizeof file) ||
      !safe_read(place.code + g_layout->code_first_line, &first_line, sizeof first_line) ||
      !safe_read(place.lines + kBytesLength, &bytes, sizeof bytes) || bytes > kLongestTable ||
      !safe_read(place.lines + kBytesData, g_table, bytes))
    return 0;
  const uint32_t name = intern_text(place.name), path = intern_text(file);
  if (name == 0 || path == 0) return 0;
  const uint32_t line = python_line(g_layout->lines, {g_table, bytes}, first_line, place.unit);
  segment::Record head{};
  head.kind = segment::RecordKind::code;
  head.name = name;
  head.extra = g_code_count + 1;
  const segment::PythonCode code{path, static_cast<uint32_t>(first_line)};
  if (!define(head, &code, sizeof code, 0)) return 0;
  ++g_code_count;
  return segment::kPythonFrame | static_cast<uint64_t>(g_code_count) << 32 | line;
}

uint64_t frame_word(uint64_t code, int64_t unit) {
  Place wanted{code, unit, 0, 0, 0};
  if (!load(code + name_offset(), &wanted.name) ||
      !load(code + g_layout->code_lines, &wanted.lines))
    return 0;
  auto index = static_cast<uint32_t>(
      ((code ^ static_cast<uint64_t>(unit) << 40) * 0x9e3779b97f4a7c15ULL) >> 50);
  Place* slot = nullptr;
  for (uint32_t probe = 0; probe < kMaxProbes; ++probe, index = (index + 1) & (kSlots - 1)) {
    Place& place = g_places[index];
    const uint64_t found = __atomic_load_n(&place.code, __ATOMIC_ACQUIRE);
    if (found == code && place.unit == unit && place.name == wanted.name &&
        place.lines == wanted.lines)
      return place.word;
    if (found != 0) continue;
    slot = &place;
    break;
  }
  if (slot == nullptr || g_place_count >= kMaxPlaces) return 0;
  const Locked locked(g_session->number_lock);
  if (!locked || slot->code != 0) return 0;
  wanted.word = describe(wanted);
  if (wanted.word == 0) return 0;
  slot->unit = unit;
  slot->name = wanted.name;
  slot->lines = wanted.lines;
  slot->word = wanted.word;
  __atomic_store_n(&slot->code, code, __ATOMIC_RELEASE);
  ++g_place_count;
  return wanted.word;
}

// A code object's type is named "code": asked while the layout is on trial.
bool is_code(uint64_t address) {
  if (g_checked_walks >= kCheckedWalks) return true;
  uint64_t type = 0, name = 0;
  char text[5] = {};
  return safe_read(address + 8, &type, sizeof type) && safe_read(type + 24, &name, sizeof name) &&
         safe_read(name, text, sizeof text) && memcmp(text, "code", 5) == 0;
}

void look_once() {
  if (g_readable.load(std::memory_order_relaxed) != Readable::not_looked) return;
  g_is_initialized = symbol<int (*)()>("Py_IsInitialized");
  if (g_is_initialized == nullptr || g_is_initialized() == 0) return;  // perhaps later
  g_this_state = symbol<void* (*)()>("PyGILState_GetThisThreadState");
  g_layout = running_layout();
  g_places = static_cast<Place*>(map_private(kSlots * sizeof(Place)));
  const bool readable = g_this_state != nullptr && g_layout != nullptr && g_places != nullptr;
  g_readable.store(readable ? Readable::yes : Readable::no, std::memory_order_release);
}

}  // namespace

void look_for_python() {
  if (g_readable.load(std::memory_order_acquire) != Readable::not_looked) return;
  static SpinLock looking;
  if (!looking.try_lock()) return;  // another thread does
  look_once();
  looking.unlock();
}

size_t walk_python(uint64_t (&frames)[kMaxPythonFrames]) {
  if (g_readable.load(std::memory_order_acquire) != Readable::yes || g_is_initialized() == 0)
    return 0;
  const PythonLayout& layout = *g_layout;
  const auto state = reinterpret_cast<uint64_t>(g_this_state());
  uint64_t frame = 0;
  if (state == 0 || !load(state + layout.thread_frame, &frame)) return 0;
  if (layout.frame_indirect >= 0 && frame != 0 &&
      !load(frame + static_cast<uint32_t>(layout.frame_indirect), &frame))
    return 0;
  size_t count = 0;
  for (size_t steps = 0; frame != 0 && count < kMaxPythonFrames && steps < 4 * kMaxPythonFrames;
       ++steps) {
    uint64_t code = 0, previous = 0, instruction = 0;
    uint8_t owner = 0;
    if (!load(frame + layout.frame_code, &code) ||
        !load(frame + layout.frame_previous, &previous) ||
        !load(frame + layout.frame_instruction, &instruction) ||
        (layout.frame_owner >= 0 &&
         !load(frame + static_cast<uint32_t>(layout.frame_owner), &owner)))
      break;
    frame = previous;
    if (owner >= kOwnerInterpreter) continue;
    if (layout.minor >= 14) code &= ~3ULL;  // the low bits are tags
    if (!is_code(code)) {
      // Not the layout that the version promises: never again.
      g_readable.store(Readable::no, std::memory_order_release);
      return 0;
    }
    int64_t unit = 0;
    if (layout.frame_objects) {
      const auto last = static_cast<int32_t>(instruction);
      unit = layout.minor >= 10 ? last : last / 2;
    } else {
      unit = static_cast<int64_t>(instruction - code - layout.code_begin) / 2;
    }
    if (const uint64_t word = frame_word(code, unit)) frames[count++] = word;
  }
  if (g_checked_walks < kCheckedWalks && count > 0) ++g_checked_walks;
  return count;
}

}  // namespace stallscope::collect
