// Registered schemas and enums, and the payloads they describe. Offsets are
// resolved here, by the alignment rules of the NVTX headers, so that the reader
// finds them given.
#include <string.h>

#include "collect/nvtx_types.h"
#include "collect/stack.h"

namespace stallscope::collect {
namespace {

constexpr uint32_t kMaxSchemas = 4096;
constexpr uint32_t kMaxEntries = 128;
constexpr uint32_t kMaxPointers = 8;
constexpr uint64_t kDynamicStart = 1ULL << 32;  // ids from here are ours
constexpr uint64_t kStaticStart = 1ULL << 24;   // ids from here are the caller's
constexpr char kStackEntry[] = "stallscope.stack";

struct Pointer {
  uint16_t offset;
  uint16_t type;
};

/// What the record path must know of a schema or enum.
struct LocalSchema {
  uint64_t given_id;
  uint32_t bytes;
  uint16_t align;
  int16_t stack_offset;  ///< of a StackPolicy in the payload; -1 = none
  uint8_t domain;
  uint8_t pointer_count;
  Pointer pointers[kMaxPointers];  ///< C strings outside the payload
};

LocalSchema* g_schemas = nullptr;
uint32_t g_schema_count = 0;

struct Layout {
  uint32_t bytes = 0;
  uint32_t align = 1;
};

const LocalSchema* local(uint32_t number) {
  if (number < segment::kFirstSchema) return nullptr;
  const uint32_t index = number - segment::kFirstSchema;
  return index < __atomic_load_n(&g_schema_count, __ATOMIC_ACQUIRE) ? &g_schemas[index] : nullptr;
}

// Our number of a schema id as the program knows it; 0 when unknown.
uint32_t number_of(uint64_t id, uint8_t domain) {
  if (id < kStaticStart) return id < segment::kFirstSchema ? static_cast<uint32_t>(id) : 0;
  if (id >= kDynamicStart) {
    const uint64_t number = id - kDynamicStart;
    return number <= UINT32_MAX && local(static_cast<uint32_t>(number)) != nullptr
               ? static_cast<uint32_t>(number)
               : 0;
  }
  const uint32_t count = __atomic_load_n(&g_schema_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = count; i > 0; --i)
    if (g_schemas[i - 1].given_id == id && g_schemas[i - 1].domain == domain)
      return segment::kFirstSchema + i - 1;
  return 0;
}

bool is_text(uint32_t type) {
  return type >= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING && type <= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32;
}

uint32_t code_unit(uint32_t type) {
  return type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16   ? 2
         : type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32 ? 4
                                                         : 1;
}

Layout basic_layout(uint32_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_UCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR8:
    case NVTX_PAYLOAD_ENTRY_TYPE_BYTE:
      return {1, 1};
    case NVTX_PAYLOAD_ENTRY_TYPE_SHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_USHORT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR16:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16:
    case NVTX_PAYLOAD_ENTRY_TYPE_BF16:
      return {2, 2};
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TF32:
    case NVTX_PAYLOAD_ENTRY_TYPE_WCHAR:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR32:
    case NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY:
    case NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB:
    case NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32:
      return {4, 4};
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGDOUBLE:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT128:
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128:
      return {16, 16};
    default:
      return {8, 8};
  }
}

Layout type_layout(uint32_t type) {
  if (const LocalSchema* nested = local(type)) return {nested->bytes, nested->align};
  return basic_layout(type);
}

// Size and alignment of one entry; 0 bytes when only the data can tell.
Layout entry_layout(const nvtxPayloadSchemaEntry_t& entry, uint32_t type) {
  const uint64_t array = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_TYPE(entry.flags);
  if ((entry.flags & NVTX_PAYLOAD_ENTRY_FLAG_POINTER) != 0) return {8, 8};
  if (is_text(type)) {
    if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX ||
        array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED)
      return {0, code_unit(type)};
    if (entry.arrayOrUnionDetail == 0) return {8, 8};  // a pointer to the text
    return {static_cast<uint32_t>(entry.arrayOrUnionDetail) * code_unit(type), code_unit(type)};
  }
  const Layout one = type_layout(type);
  if (array == 0) return one;
  if (array != NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE) return {0, one.align};
  return {one.bytes * static_cast<uint32_t>(entry.arrayOrUnionDetail), one.align};
}

uint32_t claim(const LocalSchema& schema) {
  const Locked locked(g_session->number_lock);
  if (!locked) return 0;
  if (g_schemas == nullptr)
    g_schemas = static_cast<LocalSchema*>(map_private(kMaxSchemas * sizeof(LocalSchema)));
  if (g_schemas == nullptr || g_schema_count >= kMaxSchemas) return 0;
  g_schemas[g_schema_count] = schema;
  const uint32_t number = segment::kFirstSchema + g_schema_count;
  __atomic_store_n(&g_schema_count, g_schema_count + 1, __ATOMIC_RELEASE);
  return number;
}

uint64_t given_or_ours(uint64_t given, uint32_t number) {
  if (number == 0) return 0;
  return given != 0 ? given : kDynamicStart + number;
}

uint32_t name_of(const char* name) {
  return name == nullptr ? 0 : intern(name, strlen(name));
}

}  // namespace

uint64_t register_schema(uint8_t domain, const nvtxPayloadSchemaAttr_t& given) {
  if (given.entries == nullptr || given.numEntries == 0 || given.numEntries > kMaxEntries) return 0;
  const auto has = [&](uint64_t field) { return (given.fieldMask & field) != 0; };
  const uint64_t id = has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) ? given.schemaId : 0;
  const auto pack =
      static_cast<uint32_t>(has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT) ? given.packAlign : 0);
  LocalSchema schema{};
  schema.given_id = id;
  schema.domain = domain;
  schema.stack_offset = -1;
  struct {
    segment::SchemaHead head;
    segment::SchemaEntry entries[kMaxEntries];
  } body;
  uint32_t end = 0, align = 1;
  bool fixed = true;  // until an entry whose size only the data tells
  const bool is_union = given.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION ||
                        given.type == NVTX_PAYLOAD_SCHEMA_TYPE_UNION_WITH_INTERNAL_SELECTOR;
  for (size_t i = 0; i < given.numEntries; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = given.entries[i];
    const uint32_t type = number_of(entry.type, domain);
    Layout layout = entry_layout(entry, type);
    if (pack != 0 && layout.align > pack) layout.align = pack;
    if (layout.align > align) align = layout.align;
    const bool explicit_offset = entry.offset != 0 || i == 0;
    uint64_t offset = explicit_offset ? entry.offset : round_up(end, layout.align);
    if (is_union && !explicit_offset) offset = 0;
    if (offset + layout.bytes > UINT16_MAX) return 0;
    body.entries[i] = {type,
                       static_cast<uint32_t>(entry.flags),
                       name_of(entry.name),
                       static_cast<uint32_t>(entry.arrayOrUnionDetail),
                       static_cast<uint32_t>(offset),
                       fixed || explicit_offset ? 1U : 0U};
    if (offset + layout.bytes > end) end = static_cast<uint32_t>(offset) + layout.bytes;
    if (layout.bytes == 0) fixed = false;
    if (!fixed) continue;
    if (is_text(type) && entry.arrayOrUnionDetail == 0 &&
        NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_TYPE(entry.flags) == 0 && schema.pointer_count < kMaxPointers)
      schema.pointers[schema.pointer_count++] = {static_cast<uint16_t>(offset),
                                                 static_cast<uint16_t>(type)};
    if (entry.name != nullptr && strcmp(entry.name, kStackEntry) == 0 && layout.bytes == 1)
      schema.stack_offset = static_cast<int16_t>(offset);
  }
  const bool sized = has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) && given.payloadStaticSize > 0;
  schema.bytes = sized ? static_cast<uint32_t>(given.payloadStaticSize)
                       : static_cast<uint32_t>(round_up(end, align));
  schema.align = static_cast<uint16_t>(align);
  const uint32_t number = claim(schema);
  if (number == 0) return 0;
  body.head = {static_cast<uint32_t>(given.type), static_cast<uint32_t>(given.numEntries),
               fixed ? schema.bytes : 0, pack};
  segment::Record head{};
  head.kind = segment::RecordKind::schema;
  head.name = has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) ? name_of(given.name) : 0;
  head.extra = domain;
  const bool defined =
      define(head, &body, sizeof body.head + given.numEntries * sizeof body.entries[0], number);
  return defined ? given_or_ours(id, number) : 0;
}

uint64_t register_enum(uint8_t domain, const nvtxPayloadEnumAttr_t& given) {
  constexpr size_t kMaxValues = 200;
  if (given.entries == nullptr || given.numEntries == 0 || given.sizeOfEnum == 0 ||
      given.sizeOfEnum > 8)
    return 0;
  const size_t count = given.numEntries < kMaxValues ? given.numEntries : kMaxValues;
  LocalSchema schema{};
  schema.given_id =
      (given.fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) != 0 ? given.schemaId : 0;
  schema.domain = domain;
  schema.stack_offset = -1;
  schema.bytes = static_cast<uint32_t>(given.sizeOfEnum);
  schema.align = static_cast<uint16_t>(given.sizeOfEnum);
  struct {
    segment::EnumHead head;
    segment::EnumEntry entries[kMaxValues];
  } body;
  for (size_t i = 0; i < count; ++i)
    body.entries[i] = {given.entries[i].value, name_of(given.entries[i].name),
                       given.entries[i].isFlag != 0 ? 1U : 0U};
  body.head = {schema.bytes, static_cast<uint32_t>(count)};
  const uint32_t number = claim(schema);
  if (number == 0) return 0;
  segment::Record head{};
  head.kind = segment::RecordKind::enumeration;
  head.name = (given.fieldMask & NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME) != 0 ? name_of(given.name) : 0;
  head.extra = domain;
  const bool defined =
      define(head, &body, sizeof body.head + count * sizeof body.entries[0], number);
  return defined ? given_or_ours(schema.given_id, number) : 0;
}

namespace {

size_t payload_bytes(const nvtxPayloadData_t& data, uint32_t number) {
  if (data.size != SIZE_MAX) return data.size;
  const auto* text = static_cast<const char*>(data.payload);
  if (number == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING || number == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8)
    return strlen(text);
  const LocalSchema* schema = local(number);
  return schema != nullptr ? schema->bytes : 0;
}

/// Puts parts one after the other into a buffer.
struct Parts {
  uint8_t* buffer;
  size_t used = 0;
  bool add(uint32_t schema, const void* data, size_t bytes) {
    const segment::PayloadPart part{schema, static_cast<uint32_t>(bytes)};
    const size_t padded = round_up(bytes, 8);
    if (bytes > kPayloadBuffer || used + sizeof part + padded > kPayloadBuffer) return false;
    memcpy(buffer + used, &part, sizeof part);
    memset(buffer + used + sizeof part, 0, padded);
    memcpy(buffer + used + sizeof part, data, bytes);
    used += sizeof part + padded;
    return true;
  }
};

void add_pointed_texts(Parts& parts, const LocalSchema& schema, const uint8_t* data, size_t bytes) {
  for (uint8_t i = 0; i < schema.pointer_count; ++i) {
    const Pointer& pointer = schema.pointers[i];
    const char* text = nullptr;
    if (pointer.offset + sizeof text > bytes) return;
    memcpy(static_cast<void*>(&text), data + pointer.offset, sizeof text);
    const bool narrow = code_unit(pointer.type) == 1;
    const size_t length = text != nullptr && narrow ? strnlen(text, 512) : 0;
    if (!parts.add(pointer.type, text != nullptr ? text : "", length)) return;
  }
}

}  // namespace

void add_payloads(RangeText& what, const nvtxPayloadData_t* data, size_t count,
                  uint8_t (&buffer)[kPayloadBuffer]) {
  if (data == nullptr) return;
  Parts parts{buffer};
  for (size_t i = 0; i < count; ++i) {
    if (data[i].payload == nullptr || data[i].size == 0) continue;
    const uint32_t number = number_of(data[i].schemaId, what.domain);
    const size_t bytes = payload_bytes(data[i], number);
    if (number == 0 || bytes == 0) continue;
    const LocalSchema* schema = local(number);
    const auto* bytes_of = static_cast<const uint8_t*>(data[i].payload);
    if (schema != nullptr && schema->stack_offset >= 0 &&
        static_cast<size_t>(schema->stack_offset) < bytes)
      what.stack_policy = bytes_of[schema->stack_offset];
    if (count == 1 && (schema == nullptr || schema->pointer_count == 0)) {
      what.schema = number;
      what.payload = data[i].payload;
      what.payload_bytes = static_cast<uint32_t>(bytes <= UINT32_MAX ? bytes : UINT32_MAX);
      return;
    }
    if (!parts.add(number, data[i].payload, bytes)) break;
    if (schema != nullptr) add_pointed_texts(parts, *schema, bytes_of, bytes);
  }
  if (parts.used == 0) return;
  what.flags = segment::kManyPayloads;
  what.payload = buffer;
  what.payload_bytes = static_cast<uint32_t>(parts.used);
}

SplitText text_of_handle(nvtxStringHandle_t handle) {
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if ((value & 1) != 0) return {static_cast<uint32_t>(value >> 1), 0, nullptr};
  if (value == 0) return {};
  const auto* text = reinterpret_cast<const char*>(value);
  return {0, static_cast<uint32_t>(strlen(text)), text};
}

nvtxStringHandle_t register_text(const char* text, size_t bytes) {
  if (const uint32_t number = intern(text, bytes))
    return reinterpret_cast<nvtxStringHandle_t>((static_cast<uintptr_t>(number) << 1) | 1);
  if (bytes == 0) return nullptr;
  // The table is full: a copy of its own, for the process's life. Page-aligned, so even.
  auto* copy = static_cast<char*>(map_private(bytes + 1));
  if (copy != nullptr) memcpy(copy, text, bytes);
  return reinterpret_cast<nvtxStringHandle_t>(copy);
}

}  // namespace stallscope::collect
