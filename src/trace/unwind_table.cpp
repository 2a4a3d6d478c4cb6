#include "trace/unwind_table.h"

#include <string.h>

namespace stallscope {
namespace {

// Encodings of pointers (DW_EH_PE_*).
constexpr uint8_t kOmitted = 0xff, kFormat = 0x0f, kRelation = 0x70;
constexpr uint8_t kAbsolute = 0x00, kUnsigned128 = 0x01, kUnsigned2 = 0x02, kUnsigned4 = 0x03,
                  kUnsigned8 = 0x04, kSigned128 = 0x09, kSigned2 = 0x0a, kSigned4 = 0x0b,
                  kSigned8 = 0x0c;
constexpr uint8_t kRelativeToPlace = 0x10, kRelativeToHeader = 0x30;
constexpr uint8_t kSortedTable = 0x3b;  // header-relative, signed 4 bytes

// Registers by DWARF number on x86-64.
constexpr uint64_t kFramePointerRegister = 6, kStackPointerRegister = 7, kReturnAddress = 16;

/// Reads forward within bounds; `ok` turns false at the first read beyond them.
class Cursor {
 public:
  Cursor(uint64_t place, uint64_t end) : place_(place), end_(end) {}

  template <typename T>
  T get() {
    T value{};
    if (place_ == 0 || place_ > end_ || end_ - place_ < sizeof value) {
      ok = false;
      return value;
    }
    memcpy(&value, reinterpret_cast<const void*>(place_), sizeof value);
    place_ += sizeof value;
    return value;
  }

  uint64_t unsigned128() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && ok; shift += 7) {
      const auto byte = get<uint8_t>();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    ok = false;
    return 0;
  }

  int64_t signed128() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && ok; shift += 7) {
      const auto byte = get<uint8_t>();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) value |= ~0ULL << (shift + 7);
      return static_cast<int64_t>(value);
    }
    ok = false;
    return 0;
  }

  uint64_t pointer(uint8_t encoding, uint64_t header) {
    const uint64_t base = place_;
    uint64_t value = 0;
    switch (encoding & kFormat) {
      case kAbsolute:
      case kUnsigned8:
      case kSigned8:
        value = get<uint64_t>();
        break;
      case kUnsigned128:
        value = unsigned128();
        break;
      case kSigned128:
        value = static_cast<uint64_t>(signed128());
        break;
      case kUnsigned2:
        value = get<uint16_t>();
        break;
      case kUnsigned4:
        value = get<uint32_t>();
        break;
      case kSigned2:
        value = static_cast<uint64_t>(static_cast<int64_t>(get<int16_t>()));
        break;
      case kSigned4:
        value = static_cast<uint64_t>(static_cast<int64_t>(get<int32_t>()));
        break;
      default:
        ok = false;
    }
    if ((encoding & kRelation) == kRelativeToPlace)
      value += base;
    else if ((encoding & kRelation) == kRelativeToHeader)
      value += header;
    else if ((encoding & kRelation) != 0)
      ok = false;
    return value;
  }

  void skip(uint64_t bytes) {
    if (bytes > end_ - place_)
      ok = false;
    else
      place_ += bytes;
  }
  const char* text() {
    const auto* begin = reinterpret_cast<const char*>(place_);
    while (ok && get<char>() != '\0') {
    }
    return ok ? begin : "";
  }
  bool more() const { return ok && place_ < end_; }
  uint64_t place() const { return place_; }

  bool ok = true;

 private:
  uint64_t place_;
  uint64_t end_;
};

struct Cie {
  uint64_t code_align = 1;
  int64_t data_align = 1;
  uint8_t pointer_encoding = kAbsolute;
  bool augmented = false;
  uint64_t code = 0, code_end = 0;
};

bool read_cie(const UnwindObject& object, uint64_t place, Cie* cie) {
  Cursor cursor(place, object.end);
  const auto bytes = cursor.get<uint32_t>();
  if (bytes == 0 || bytes == 0xffffffff) return false;
  cie->code_end = cursor.place() + bytes;
  if (cie->code_end > object.end || cursor.get<uint32_t>() != 0) return false;
  const auto version = cursor.get<uint8_t>();
  if (version != 1 && version != 3) return false;
  const char* augmentation = cursor.text();
  cie->code_align = cursor.unsigned128();
  cie->data_align = cursor.signed128();
  const uint64_t return_register = version == 1 ? cursor.get<uint8_t>() : cursor.unsigned128();
  if (return_register != kReturnAddress) return false;
  if (*augmentation == 'z') {
    cie->augmented = true;
    const uint64_t length = cursor.unsigned128();
    const uint64_t end = cursor.place() + length;
    for (const char* letter = augmentation + 1; *letter != '\0'; ++letter) {
      if (*letter == 'R') {
        cie->pointer_encoding = cursor.get<uint8_t>();
      } else if (*letter == 'P') {
        const auto encoding = cursor.get<uint8_t>();
        cursor.pointer(encoding & 0x7f, 0);
      } else if (*letter == 'L') {
        cursor.get<uint8_t>();
      } else if (*letter == 'S') {
        return false;  // a signal frame: its rules are expressions
      }
    }
    if (end > cie->code_end) return false;
    cursor = Cursor(end, object.end);
  } else if (*augmentation != '\0') {
    return false;
  }
  cie->code = cursor.place();
  return cursor.ok && cie->code <= cie->code_end;
}

/// The state that the tables' programs compute.
struct State {
  uint64_t cfa_register = kStackPointerRegister;
  int64_t cfa_offset = 8;
  bool cfa_unusual = false;
  bool frame_pointer_saved = false;
  bool frame_pointer_unusual = false;
  int64_t frame_pointer_at = 0;
  bool return_undefined = false;
};

void set_saved(State& state, uint64_t reg, int64_t at) {
  if (reg != kFramePointerRegister) return;
  state.frame_pointer_saved = true;
  state.frame_pointer_unusual = false;
  state.frame_pointer_at = at;
}

void set_unusual(State& state, uint64_t reg, bool undefined) {
  if (reg == kFramePointerRegister) state.frame_pointer_unusual = !undefined;
  if (reg == kReturnAddress && undefined) state.return_undefined = true;
}

void set_same(State& state, const State& initial, uint64_t reg) {
  if (reg != kFramePointerRegister) return;
  state.frame_pointer_saved = initial.frame_pointer_saved;
  state.frame_pointer_at = initial.frame_pointer_at;
  state.frame_pointer_unusual = false;
}

// Runs a program until it passes `target` bytes of code.
bool run(Cursor cursor, const Cie& cie, uint64_t target, const State& initial, State& state) {
  constexpr size_t kMaxRemembered = 8;
  State remembered[kMaxRemembered];
  size_t remembered_count = 0;
  uint64_t location = 0;
  while (cursor.more()) {
    const auto op = cursor.get<uint8_t>();
    const uint8_t low = op & 0x3f;
    uint64_t advance = 0;
    switch (op & 0xc0) {
      case 0x40:
        advance = low;
        break;
      case 0x80:
        set_saved(state, low, static_cast<int64_t>(cursor.unsigned128()) * cie.data_align);
        continue;
      case 0xc0:
        set_same(state, initial, low);
        continue;
      default:
        switch (low) {
          case 0x00:  // nop
            continue;
          case 0x02:
            advance = cursor.get<uint8_t>();
            break;
          case 0x03:
            advance = cursor.get<uint16_t>();
            break;
          case 0x04:
            advance = cursor.get<uint32_t>();
            break;
          case 0x05: {  // offset_extended
            const uint64_t reg = cursor.unsigned128();
            set_saved(state, reg, static_cast<int64_t>(cursor.unsigned128()) * cie.data_align);
            continue;
          }
          case 0x06:  // restore_extended
            set_same(state, initial, cursor.unsigned128());
            continue;
          case 0x07:  // undefined
            set_unusual(state, cursor.unsigned128(), true);
            continue;
          case 0x08: {  // same_value
            const uint64_t reg = cursor.unsigned128();
            if (reg == kFramePointerRegister) state.frame_pointer_saved = false;
            continue;
          }
          case 0x09:  // register
            set_unusual(state, cursor.unsigned128(), false);
            cursor.unsigned128();
            continue;
          case 0x0a:
            if (remembered_count == kMaxRemembered) return false;
            remembered[remembered_count++] = state;
            continue;
          case 0x0b:
            if (remembered_count == 0) return false;
            state = remembered[--remembered_count];
            continue;
          case 0x0c:  // def_cfa
            state.cfa_register = cursor.unsigned128();
            state.cfa_offset = static_cast<int64_t>(cursor.unsigned128());
            state.cfa_unusual = false;
            continue;
          case 0x0d:
            state.cfa_register = cursor.unsigned128();
            continue;
          case 0x0e:
            state.cfa_offset = static_cast<int64_t>(cursor.unsigned128());
            continue;
          case 0x0f:  // def_cfa_expression
            state.cfa_unusual = true;
            cursor.skip(cursor.unsigned128());
            continue;
          case 0x10:    // expression
          case 0x16: {  // val_expression
            set_unusual(state, cursor.unsigned128(), false);
            cursor.skip(cursor.unsigned128());
            continue;
          }
          case 0x11: {  // offset_extended_sf
            const uint64_t reg = cursor.unsigned128();
            set_saved(state, reg, cursor.signed128() * cie.data_align);
            continue;
          }
          case 0x12:  // def_cfa_sf
            state.cfa_register = cursor.unsigned128();
            state.cfa_offset = cursor.signed128() * cie.data_align;
            state.cfa_unusual = false;
            continue;
          case 0x13:
            state.cfa_offset = cursor.signed128() * cie.data_align;
            continue;
          case 0x2e:  // GNU_args_size
            cursor.unsigned128();
            continue;
          default:
            return false;
        }
    }
    location += advance * cie.code_align;
    if (location > target) return true;
  }
  return cursor.ok;
}

// The FDE that may cover `address`, by binary search in the sorted table.
uint64_t find_fde(const UnwindObject& object, uint64_t address) {
  Cursor cursor(object.header, object.end);
  const auto version = cursor.get<uint8_t>();
  const auto frame_encoding = cursor.get<uint8_t>();
  const auto count_encoding = cursor.get<uint8_t>();
  const auto table_encoding = cursor.get<uint8_t>();
  if (version != 1 || count_encoding == kOmitted || table_encoding != kSortedTable) return 0;
  cursor.pointer(frame_encoding, object.header);
  const uint64_t count = cursor.pointer(count_encoding, object.header);
  struct Row {
    int32_t begin, fde;
  };
  if (!cursor.ok || count == 0 || count > (object.end - cursor.place()) / sizeof(Row)) return 0;
  const auto* rows = reinterpret_cast<const Row*>(cursor.place());
  const auto wanted = static_cast<int64_t>(address - object.header);
  uint64_t first = 0, last = count;
  while (first < last) {
    const uint64_t middle = (first + last) / 2;
    if (rows[middle].begin <= wanted)
      first = middle + 1;
    else
      last = middle;
  }
  if (first == 0) return 0;
  return object.header + static_cast<uint64_t>(static_cast<int64_t>(rows[first - 1].fde));
}

UnwindRule rule_of(const State& state) {
  UnwindRule rule;
  if (state.return_undefined) {
    rule.kind = UnwindRule::kEnd;
    return rule;
  }
  constexpr int64_t kMostOffset = 1 << 26;
  if (state.cfa_unusual || state.frame_pointer_unusual || state.cfa_offset < 8 ||
      state.cfa_offset > kMostOffset || state.frame_pointer_at > 0 ||
      state.frame_pointer_at < -kMostOffset)
    return rule;
  if (state.cfa_register == kStackPointerRegister)
    rule.kind = UnwindRule::kStackPointer;
  else if (state.cfa_register == kFramePointerRegister)
    rule.kind = UnwindRule::kFramePointer;
  else
    return rule;
  rule.cfa_offset = static_cast<int32_t>(state.cfa_offset);
  rule.saves_frame_pointer = state.frame_pointer_saved;
  rule.saved_at = static_cast<int32_t>(state.frame_pointer_at);
  return rule;
}

}  // namespace

UnwindRule find_rule(const UnwindObject& object, uint64_t address) {
  if (object.header < object.begin || object.header >= object.end) return {};
  const uint64_t fde = find_fde(object, address);
  if (fde < object.begin || fde >= object.end) return {};
  Cursor cursor(fde, object.end);
  const auto bytes = cursor.get<uint32_t>();
  if (bytes == 0 || bytes == 0xffffffff) return {};
  const uint64_t code_end = cursor.place() + bytes;
  const uint64_t cie_field = cursor.place();
  const auto cie_distance = cursor.get<uint32_t>();
  Cie cie;
  if (code_end > object.end || cie_distance == 0 || cie_distance > cie_field - object.begin ||
      !read_cie(object, cie_field - cie_distance, &cie))
    return {};
  const uint64_t begin = cursor.pointer(cie.pointer_encoding, object.header);
  const uint64_t length = cursor.pointer(cie.pointer_encoding & kFormat, object.header);
  if (!cursor.ok || address < begin || address - begin >= length) return {};
  if (cie.augmented) cursor.skip(cursor.unsigned128());
  if (!cursor.ok) return {};
  State initial;
  if (!run(Cursor(cie.code, cie.code_end), cie, ~0ULL, initial, initial)) return {};
  State state = initial;
  UnwindRule rule;
  if (run(Cursor(cursor.place(), code_end), cie, address - begin, initial, state))
    rule = rule_of(state);
  rule.function = begin;
  return rule;
}

}  // namespace stallscope
