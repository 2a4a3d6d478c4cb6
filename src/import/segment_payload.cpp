#include "import/segment_payload.h"

#include <fmt/format.h>
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace stallscope {
namespace {

using ByteSpan = std::span<const unsigned char>;

constexpr int kMaxNesting = 4;
constexpr size_t kMaxElements = 32;  // of an array, shown as text
constexpr size_t kMaxFields = 256;
constexpr uint32_t kMaxVisits = 16'384;  // entries of schemas looked at for one payload

enum class Shape { integer, unsigned_integer, real, brain, text, handle, other };

struct Basic {
  Shape shape = Shape::other;
  uint32_t bytes = 0;
};

Basic basic_type(uint32_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
      return {Shape::integer, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE:
      return {Shape::unsigned_integer, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
      return {Shape::integer, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_USHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
      return {Shape::unsigned_integer, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
      return {Shape::integer, 4};
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32:
      return {Shape::unsigned_integer, 4};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
      return {Shape::integer, 8};
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
    case NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS:
    case NVTX_PAYLOAD_ENTRY_TYPE_RANGE_ID:
    case NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64:
      return {Shape::unsigned_integer, 8};
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
      return {Shape::real, 4};
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64:
      return {Shape::real, 8};
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
      return {Shape::brain, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
      return {Shape::text, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE:
      return {Shape::handle, 8};
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
      return {Shape::other, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128:
      return {Shape::other, 16};
    default:
      return {Shape::other, 8};
  }
}

uint64_t load(ByteSpan bytes, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min(size, sizeof value));
  return value;
}

int64_t sign_extend(uint64_t value, size_t bytes) {
  const unsigned shift = 64 - static_cast<unsigned>(bytes) * 8;
  return static_cast<int64_t>(value << shift) >> shift;
}

std::string_view as_text(ByteSpan bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.substr(0, all.find('\0'));
}

/// Reads one part: a schema's struct or bare values.
class PartReader {
 public:
  PartReader(const SegmentDefinitions& definitions, Trace& trace, DecodedPayload& into)
      : definitions_(definitions), trace_(trace), into_(into) {}

  void read(uint32_t schema, ByteSpan data) {
    if (const PayloadSchema* known = definitions_.schema(schema)) {
      if (into_.schema == nullptr) into_.schema = known;
      read_struct(*known, data, 0, "");
      return;
    }
    if (pending_text_ < pending_.size() && basic_type(schema).shape == Shape::text) {
      // The text that a pointer in the struct before pointed to.
      add_text(pending_[pending_text_++], as_text(data));
      return;
    }
    PayloadEntry bare;
    bare.type = schema;
    bare.key = kKeyValue;
    const Basic type = basic_type(schema);
    if (type.shape == Shape::text) {
      add_text(bare, as_text(data));
    } else if (type.bytes > 0 && data.size() >= type.bytes) {
      add_value(bare, data);
    }
  }

 private:
  struct Size {
    size_t bytes = 0, align = 1;
  };

  Size size_of(uint32_t type, int depth) {
    if (const PayloadEnum* values = definitions_.enumeration(type))
      return {values->bytes, std::max<size_t>(values->bytes, 1)};
    if (const PayloadSchema* nested = definitions_.schema(type)) {
      size_t align = 1;
      if (depth < kMaxNesting)
        for (const PayloadEntry& entry : nested->entries)
          if (visit()) align = std::max(align, size_of(entry.type, depth + 1).align);
      return {nested->static_bytes, align};
    }
    const Basic basic = basic_type(type);
    return {basic.bytes, std::min<size_t>(basic.bytes, 8)};
  }

  // Damaged schemas may hold themselves, several times over: their entries are not followed for
  // ever.
  bool visit() { return visits_ < kMaxVisits && ++visits_ != 0; }

  void read_struct(const PayloadSchema& schema, ByteSpan data, int depth,
                   const std::string& prefix) {
    const bool is_union = schema.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION ||
                          schema.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR;
    if (is_union || depth > kMaxNesting) return;
    std::vector<uint64_t> values(schema.entries.size());  // for entries that give a length
    size_t cursor = 0;
    for (size_t i = 0; i < schema.entries.size() && into_.fields.size() < kMaxFields; ++i) {
      if (!visit()) return;
      PayloadEntry entry = schema.entries[i];
      if (!prefix.empty())
        entry.key = trace_.strings.intern(prefix + std::string(trace_.text(entry.key)));
      Size one = size_of(entry.type, depth);
      if (schema.pack != 0) one.align = std::min<size_t>(one.align, schema.pack);
      const size_t offset =
          entry.offset_given ? entry.offset : (cursor + one.align - 1) / one.align * one.align;
      if (offset > data.size()) return;
      cursor = offset + read_entry(entry, one.bytes, data.subspan(offset), values, depth);
      if (one.bytes <= 8 && one.bytes > 0 && data.size() - offset >= one.bytes)
        values[i] = load(data.subspan(offset), one.bytes);
    }
  }

  /// Number of elements of an array entry; nullopt for a single value.
  std::optional<uint64_t> count_of(const PayloadEntry& entry, const std::vector<uint64_t>& values,
                                   size_t element, ByteSpan data) const {
    switch (NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_TYPE(entry.flags)) {
      case 0:
        return std::nullopt;
      case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE:
        return entry.array;
      case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX:
        return entry.array < values.size() ? values[entry.array] : 0;
      case NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED: {
        uint64_t count = 0;
        while (element > 0 && (count + 1) * element <= data.size() &&
               load(data.subspan(count * element), element) != 0)
          ++count;
        return count;
      }
      default:
        return 0;
    }
  }

  /// Reads an entry at the front of `data`; how many bytes it takes there.
  size_t read_entry(const PayloadEntry& entry, size_t element, ByteSpan data,
                    const std::vector<uint64_t>& values, int depth) {
    if ((entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0) return 8;
    const Basic basic = basic_type(entry.type);
    const auto count = count_of(entry, values, element, data);
    if (basic.shape == Shape::text && definitions_.schema(entry.type) == nullptr) {
      if (!count && entry.array == 0) {  // a pointer: its text follows as a part
        pending_.push_back(entry);
        return 8;
      }
      const uint64_t length = std::min<uint64_t>(count.value_or(entry.array), data.size());
      add_text(entry, as_text(data.first(static_cast<size_t>(length))));
      return static_cast<size_t>(length);
    }
    if (element == 0) return 0;
    if (!count) {
      if (data.size() >= element) read_single(entry, data.first(element), depth);
      return element;
    }
    const uint64_t fits = data.size() / element;
    const uint64_t elements = std::min(*count, fits);
    add_array(entry, element, data, elements);
    return static_cast<size_t>(elements) * element;
  }

  void read_single(const PayloadEntry& entry, ByteSpan data, int depth) {
    if (const PayloadSchema* nested = definitions_.schema(entry.type)) {
      read_struct(*nested, data, depth + 1, std::string(trace_.text(entry.key)) + ".");
      return;
    }
    add_value(entry, data);
  }

  void add_array(const PayloadEntry& entry, size_t element, ByteSpan data, uint64_t count) {
    const Basic basic = basic_type(entry.type);
    if (basic.shape == Shape::other || definitions_.schema(entry.type) != nullptr) return;
    std::string text = "[";
    for (uint64_t i = 0; i < std::min<uint64_t>(count, kMaxElements); ++i) {
      const ByteSpan one = data.subspan(static_cast<size_t>(i) * element, element);
      if (i > 0) text += ", ";
      text += basic.shape == Shape::real ? fmt::format("{}", real(one))
              : basic.shape == Shape::integer
                  ? fmt::format("{}", sign_extend(load(one, element), element))
                  : fmt::format("{}", load(one, element));
    }
    if (count > kMaxElements) text += ", ...";
    add_text(entry, text + "]");
  }

  static double real(ByteSpan data) {
    if (data.size() == 4) return std::bit_cast<float>(static_cast<uint32_t>(load(data, 4)));
    return std::bit_cast<double>(load(data, 8));
  }

  void add_value(const PayloadEntry& entry, ByteSpan data) {
    if (const PayloadEnum* values = definitions_.enumeration(entry.type)) {
      const uint64_t value = load(data, values->bytes);
      const auto known =
          std::ranges::find(values->values, value, &std::pair<uint64_t, StringId>::first);
      if (known == values->values.end()) {
        into_.fields.push_back(Field::of_integer(entry.key, static_cast<int64_t>(value)));
      } else if (known->second != 0) {
        into_.fields.push_back(Field::of_text(entry.key, known->second));
      }
      return;
    }
    const Basic basic = basic_type(entry.type);
    const uint64_t raw = load(data, basic.bytes);
    switch (basic.shape) {
      case Shape::integer:
        into_.fields.push_back(Field::of_integer(entry.key, sign_extend(raw, basic.bytes)));
        return;
      case Shape::unsigned_integer:
        into_.fields.push_back(Field::of_integer(entry.key, static_cast<int64_t>(raw)));
        return;
      case Shape::real:
        into_.fields.push_back(Field::of_real(entry.key, real(data.first(basic.bytes))));
        return;
      case Shape::brain:
        into_.fields.push_back(
            Field::of_real(entry.key, std::bit_cast<float>(static_cast<uint32_t>(raw) << 16)));
        return;
      case Shape::handle:
        // A registered string's handle is its number, doubled and odd.
        if ((raw & 1) != 0) add_text(entry, definitions_.text(static_cast<uint32_t>(raw >> 1)));
        return;
      default:
        return;
    }
  }

  void add_text(const PayloadEntry& entry, std::string_view text) {
    const StringId id = trace_.strings.intern(text);
    if ((entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE) ==
        NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE) {
      into_.message = id;
      return;
    }
    into_.fields.push_back(Field::of_text(entry.key, id));
  }

  const SegmentDefinitions& definitions_;
  Trace& trace_;
  DecodedPayload& into_;
  std::vector<PayloadEntry> pending_;
  size_t pending_text_ = 0;
  uint32_t visits_ = 0;
};

}  // namespace

void decode_payload(const RecordView& record, const SegmentDefinitions& definitions, Trace& trace,
                    DecodedPayload& into) {
  into.clear();
  if (record.head.payload_bytes == 0 || record.head.payload_bytes > record.body.size()) return;
  ByteSpan data = record.body.first(record.head.payload_bytes);
  PartReader reader(definitions, trace, into);
  if ((record.head.flags & segment::kManyPayloads) == 0) {
    reader.read(record.tail.tail, data);
    return;
  }
  while (data.size() >= sizeof(segment::PayloadPart)) {
    segment::PayloadPart part{};
    std::memcpy(&part, data.data(), sizeof part);
    data = data.subspan(sizeof part);
    if (part.bytes > data.size()) return;
    reader.read(part.schema, data.first(part.bytes));
    const size_t padded = (static_cast<size_t>(part.bytes) + 7) / 8 * 8;
    data = data.subspan(std::min(padded, data.size()));
  }
}

}  // namespace stallscope
