// The NVTX payload extension: events whose data a registered schema describes.
#include <string.h>

#include "collect/clock.h"
#include "collect/nvtx_types.h"

namespace stallscope::collect {
namespace {

struct Payloads {
  Payloads(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, size_t count) {
    what.domain = domain_of(domain);
    if (data != nullptr && count > 0) add_payloads(what, data, count, buffer);
  }
  RangeText what;

 private:
  uint8_t buffer[kPayloadBuffer];
};

uint64_t NVTX_API schema_register(nvtxDomainHandle_t domain,
                                  const nvtxPayloadSchemaAttr_t* attributes) {
  return attributes == nullptr ? 0 : register_schema(domain_of(domain), *attributes);
}
uint64_t NVTX_API enum_register(nvtxDomainHandle_t domain,
                                const nvtxPayloadEnumAttr_t* attributes) {
  return attributes == nullptr ? 0 : register_enum(domain_of(domain), *attributes);
}
void NVTX_API mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, size_t count) {
  mark(Payloads(domain, data, count).what);
}
int NVTX_API range_push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                                size_t count) {
  return begin_range(Payloads(domain, data, count).what);
}
int NVTX_API range_pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                               size_t count) {
  const Payloads payloads(domain, data, count);
  return end_range(domain_of(domain), &payloads.what);
}
nvtxRangeId_t NVTX_API range_start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                                           size_t count) {
  return start_range(Payloads(domain, data, count).what);
}
void NVTX_API range_end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t id,
                                const nvtxPayloadData_t* data, size_t count) {
  const Payloads payloads(domain, data, count);
  end_started_range(id, &payloads.what);
}
uint8_t NVTX_API domain_is_enabled(nvtxDomainHandle_t) {
  return 1;
}
int64_t NVTX_API timestamp_get() {
  return static_cast<int64_t>(ticks());
}

struct Slot {
  size_t index;
  intptr_t function;
};

template <typename Function>
intptr_t slot_value(Function function) {
  return reinterpret_cast<intptr_t>(function);
}

}  // namespace
}  // namespace stallscope::collect

/// Called once per extension module and object that uses it. 1 = attached.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    nvtxExtModuleInfo_t* module) {
  using namespace stallscope::collect;
  if (module == nullptr || !prepare()) return 0;
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0) return 1;
  const Slot slots[] = {
      {NVTX3EXT_CBID_nvtxPayloadSchemaRegister, slot_value(schema_register)},
      {NVTX3EXT_CBID_nvtxPayloadEnumRegister, slot_value(enum_register)},
      {NVTX3EXT_CBID_nvtxMarkPayload, slot_value(mark_payload)},
      {NVTX3EXT_CBID_nvtxRangePushPayload, slot_value(range_push_payload)},
      {NVTX3EXT_CBID_nvtxRangePopPayload, slot_value(range_pop_payload)},
      {NVTX3EXT_CBID_nvtxRangeStartPayload, slot_value(range_start_payload)},
      {NVTX3EXT_CBID_nvtxRangeEndPayload, slot_value(range_end_payload)},
      {NVTX3EXT_CBID_nvtxDomainIsEnabled, slot_value(domain_is_enabled)},
      {NVTX3EXT_CBID_nvtxTimestampGet, slot_value(timestamp_get)},
  };
  const nvtxExtModuleSegment_t& segment = module->segments[0];
  for (const Slot& slot : slots)
    if (slot.index < segment.slotCount) segment.functionSlots[slot.index] = slot.function;
  return 1;
}
