// NVTX version 3: domains, ranges, marks, names. Called by the NVTX headers in
// the target, on any of its threads.
#include <string.h>

#include "collect/nvtx_types.h"

namespace stallscope::collect {
namespace {

SplitText ascii(const char* text) {
  return text == nullptr ? SplitText{} : resolve(text, strlen(text));
}

// Reads an event's attributes. Newer callers may pass a longer struct, older a
// shorter one: only what lies within `size` is read.
struct Attributes {
  explicit Attributes(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* given) {
    what.domain = domain_of(domain);
    if (given == nullptr) return;
    if (__builtin_expect(given->size < sizeof *given, 0)) return;
    what.category = given->category;
    switch (given->messageType) {
      case NVTX_MESSAGE_TYPE_REGISTERED:
        what.text = text_of_handle(given->message.registered);
        break;
      case NVTX_MESSAGE_TYPE_ASCII:
        what.text = ascii(given->message.ascii);
        break;
      case NVTX_MESSAGE_TYPE_UNICODE:
        if (given->message.unicode != nullptr)
          what.text = resolve(wide, to_utf8(given->message.unicode, wide));
        break;
      default:
        break;
    }
    if (given->payloadType != NVTX_PAYLOAD_UNKNOWN) read_payload(*given);
  }

  RangeText what;

 private:
  void bare(uint32_t schema, const void* value, uint32_t bytes) {
    what.schema = schema;
    what.payload = value;
    what.payload_bytes = bytes;
  }

  __attribute__((noinline)) void read_payload(const nvtxEventAttributes_t& given) {
    switch (given.payloadType) {
      case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        return bare(segment::kNvtxUint64, &given.payload.ullValue, 8);
      case NVTX_PAYLOAD_TYPE_INT64:
        return bare(segment::kNvtxInt64, &given.payload.llValue, 8);
      case NVTX_PAYLOAD_TYPE_DOUBLE:
        return bare(segment::kNvtxDouble, &given.payload.dValue, 8);
      case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        return bare(segment::kNvtxUint32, &given.payload.uiValue, 4);
      case NVTX_PAYLOAD_TYPE_INT32:
        return bare(segment::kNvtxInt32, &given.payload.iValue, 4);
      case NVTX_PAYLOAD_TYPE_FLOAT:
        return bare(segment::kNvtxFloat, &given.payload.fValue, 4);
      case NVTX_PAYLOAD_TYPE_EXT:
        if (given.reserved0 > 0)
          add_payloads(what,
                       reinterpret_cast<const nvtxPayloadData_t*>(
                           static_cast<uintptr_t>(given.payload.ullValue)),
                       static_cast<size_t>(given.reserved0), payloads);
        return;
      default:
        return;
    }
  }

  // Only touched when needed; left uninitialised for speed.
  char wide[kWideBuffer];
  uint8_t payloads[kPayloadBuffer];
};

RangeText ascii_text(const char* message) {
  RangeText what;
  what.text = ascii(message);
  return what;
}

struct WideText {
  explicit WideText(const wchar_t* message) {
    if (message != nullptr) what.text = resolve(buffer, to_utf8(message, buffer));
  }
  RangeText what;
  char buffer[kWideBuffer];
};

void define_named(segment::RecordKind kind, const char* name, uint32_t extra, uint32_t tail,
                  uint64_t start) {
  if (name == nullptr) return;
  segment::Record head{};
  head.kind = kind;
  head.name = intern(name, strlen(name));
  head.extra = extra;
  head.start = start;
  define(head, nullptr, 0, tail);
}

// ---- domain functions ----

void NVTX_API domain_mark_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* given) {
  const Attributes attributes(domain, given);
  mark(attributes.what);
}
nvtxRangeId_t NVTX_API domain_range_start_ex(nvtxDomainHandle_t domain,
                                             const nvtxEventAttributes_t* given) {
  const Attributes attributes(domain, given);
  return start_range(attributes.what);
}
void NVTX_API domain_range_end(nvtxDomainHandle_t, nvtxRangeId_t id) {
  end_started_range(id, nullptr);
}
int NVTX_API domain_range_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* given) {
  const Attributes attributes(domain, given);
  return begin_range(attributes.what);
}
int NVTX_API domain_range_pop(nvtxDomainHandle_t domain) {
  return end_range(domain_of(domain), nullptr);
}
nvtxDomainHandle_t NVTX_API domain_create_a(const char* name) {
  return domain_handle(domain_number(name));
}
nvtxDomainHandle_t NVTX_API domain_create_w(const wchar_t* name) {
  char text[kWideBuffer];
  if (name == nullptr) return nullptr;
  to_utf8(name, text);
  return domain_create_a(text);
}
void NVTX_API domain_destroy(nvtxDomainHandle_t) {}  // its number stays valid
nvtxStringHandle_t NVTX_API register_string_a(nvtxDomainHandle_t, const char* text) {
  return text == nullptr ? nullptr : register_text(text, strlen(text));
}
nvtxStringHandle_t NVTX_API register_string_w(nvtxDomainHandle_t, const wchar_t* text) {
  if (text == nullptr) return nullptr;
  char buffer[kWideBuffer];
  return register_text(buffer, to_utf8(text, buffer));
}
void NVTX_API domain_name_category_a(nvtxDomainHandle_t domain, uint32_t category,
                                     const char* name) {
  define_named(segment::RecordKind::category, name, category, domain_of(domain), 0);
}
void NVTX_API domain_name_category_w(nvtxDomainHandle_t domain, uint32_t category,
                                     const wchar_t* name) {
  char text[kWideBuffer];
  if (name == nullptr) return;
  to_utf8(name, text);
  domain_name_category_a(domain, category, text);
}
nvtxResourceHandle_t NVTX_API resource_create(nvtxDomainHandle_t domain,
                                              nvtxResourceAttributes_t* given) {
  if (given == nullptr || given->size < sizeof *given) return nullptr;
  const auto type = static_cast<uint32_t>(given->identifierType);
  char wide[kWideBuffer];
  if (given->messageType == NVTX_MESSAGE_TYPE_ASCII) {
    define_named(segment::RecordKind::resource, given->message.ascii, type, domain_of(domain),
                 given->identifier.ullValue);
  } else if (given->messageType == NVTX_MESSAGE_TYPE_UNICODE && given->message.unicode != nullptr) {
    to_utf8(given->message.unicode, wide);
    define_named(segment::RecordKind::resource, wide, type, domain_of(domain),
                 given->identifier.ullValue);
  }
  return reinterpret_cast<nvtxResourceHandle_t>(static_cast<uintptr_t>(1));
}
void NVTX_API resource_destroy(nvtxResourceHandle_t) {}
void NVTX_API initialize(const void*) {}

// ---- functions without a domain ----

void NVTX_API mark_ex(const nvtxEventAttributes_t* given) {
  domain_mark_ex(nullptr, given);
}
void NVTX_API mark_a(const char* message) {
  mark(ascii_text(message));
}
void NVTX_API mark_w(const wchar_t* message) {
  mark(WideText(message).what);
}
nvtxRangeId_t NVTX_API range_start_ex(const nvtxEventAttributes_t* given) {
  return domain_range_start_ex(nullptr, given);
}
nvtxRangeId_t NVTX_API range_start_a(const char* message) {
  return start_range(ascii_text(message));
}
nvtxRangeId_t NVTX_API range_start_w(const wchar_t* message) {
  return start_range(WideText(message).what);
}
void NVTX_API range_end(nvtxRangeId_t id) {
  end_started_range(id, nullptr);
}
int NVTX_API range_push_ex(const nvtxEventAttributes_t* given) {
  return domain_range_push_ex(nullptr, given);
}
int NVTX_API range_push_a(const char* message) {
  return begin_range(ascii_text(message));
}
int NVTX_API range_push_w(const wchar_t* message) {
  return begin_range(WideText(message).what);
}
int NVTX_API range_pop() {
  return end_range(0, nullptr);
}
void NVTX_API name_category_a(uint32_t category, const char* name) {
  domain_name_category_a(nullptr, category, name);
}
void NVTX_API name_category_w(uint32_t category, const wchar_t* name) {
  domain_name_category_w(nullptr, category, name);
}
void NVTX_API name_os_thread_a(uint32_t tid, const char* name) {
  define_named(segment::RecordKind::thread_name, name, tid, segment::kNamedByProgram, 0);
}
void NVTX_API name_os_thread_w(uint32_t tid, const wchar_t* name) {
  char text[kWideBuffer];
  if (name == nullptr) return;
  to_utf8(name, text);
  name_os_thread_a(tid, text);
}

struct Entry {
  uint32_t id;
  NvtxFunctionPointer function;
};

template <typename Function>
NvtxFunctionPointer pointer(Function function) {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

void fill(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
          const Entry* entries, size_t count) {
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return;
  for (size_t i = 0; i < count; ++i)
    if (entries[i].id < size && table[entries[i].id] != nullptr)
      *table[entries[i].id] = entries[i].function;
}

}  // namespace
}  // namespace stallscope::collect

/// Called by the NVTX headers of every object that uses NVTX. 1 = attached.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  using namespace stallscope::collect;
  if (get_export_table == nullptr || !prepare()) return 0;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return 0;
  const Entry core[] = {
      {NVTX_CBID_CORE_MarkEx, pointer(mark_ex)},
      {NVTX_CBID_CORE_MarkA, pointer(mark_a)},
      {NVTX_CBID_CORE_MarkW, pointer(mark_w)},
      {NVTX_CBID_CORE_RangeStartEx, pointer(range_start_ex)},
      {NVTX_CBID_CORE_RangeStartA, pointer(range_start_a)},
      {NVTX_CBID_CORE_RangeStartW, pointer(range_start_w)},
      {NVTX_CBID_CORE_RangeEnd, pointer(range_end)},
      {NVTX_CBID_CORE_RangePushEx, pointer(range_push_ex)},
      {NVTX_CBID_CORE_RangePushA, pointer(range_push_a)},
      {NVTX_CBID_CORE_RangePushW, pointer(range_push_w)},
      {NVTX_CBID_CORE_RangePop, pointer(range_pop)},
      {NVTX_CBID_CORE_NameCategoryA, pointer(name_category_a)},
      {NVTX_CBID_CORE_NameCategoryW, pointer(name_category_w)},
      {NVTX_CBID_CORE_NameOsThreadA, pointer(name_os_thread_a)},
      {NVTX_CBID_CORE_NameOsThreadW, pointer(name_os_thread_w)},
  };
  fill(*callbacks, NVTX_CB_MODULE_CORE, core, sizeof core / sizeof core[0]);
  const Entry core2[] = {
      {NVTX_CBID_CORE2_DomainMarkEx, pointer(domain_mark_ex)},
      {NVTX_CBID_CORE2_DomainRangeStartEx, pointer(domain_range_start_ex)},
      {NVTX_CBID_CORE2_DomainRangeEnd, pointer(domain_range_end)},
      {NVTX_CBID_CORE2_DomainRangePushEx, pointer(domain_range_push_ex)},
      {NVTX_CBID_CORE2_DomainRangePop, pointer(domain_range_pop)},
      {NVTX_CBID_CORE2_DomainResourceCreate, pointer(resource_create)},
      {NVTX_CBID_CORE2_DomainResourceDestroy, pointer(resource_destroy)},
      {NVTX_CBID_CORE2_DomainNameCategoryA, pointer(domain_name_category_a)},
      {NVTX_CBID_CORE2_DomainNameCategoryW, pointer(domain_name_category_w)},
      {NVTX_CBID_CORE2_DomainRegisterStringA, pointer(register_string_a)},
      {NVTX_CBID_CORE2_DomainRegisterStringW, pointer(register_string_w)},
      {NVTX_CBID_CORE2_DomainCreateA, pointer(domain_create_a)},
      {NVTX_CBID_CORE2_DomainCreateW, pointer(domain_create_w)},
      {NVTX_CBID_CORE2_DomainDestroy, pointer(domain_destroy)},
      {NVTX_CBID_CORE2_Initialize, pointer(initialize)},
  };
  fill(*callbacks, NVTX_CB_MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
  return 1;
}
