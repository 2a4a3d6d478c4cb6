// The NVTX headers' types, without their client implementation.
#pragma once

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "collect/range.h"

namespace stallscope::collect {

// Handles are numbers in disguise: no table is read to resolve one.
inline uint8_t domain_of(nvtxDomainHandle_t handle) {
  return static_cast<uint8_t>(reinterpret_cast<uintptr_t>(handle));
}
inline nvtxDomainHandle_t domain_handle(uint32_t number) {
  return reinterpret_cast<nvtxDomainHandle_t>(static_cast<uintptr_t>(number));
}

/// The text of a registered string: its number (odd handle), or, when the table
/// was full, a text kept for the process's life.
SplitText text_of_handle(nvtxStringHandle_t handle);
nvtxStringHandle_t register_text(const char* text, size_t bytes);

/// Largest payload of one event, parts and pointed-to strings included.
inline constexpr size_t kPayloadBuffer = 2048;

/// Adds an event's schema payloads to `what`; `buffer` holds them when they have
/// to be put together.
void add_payloads(RangeText& what, const nvtxPayloadData_t* data, size_t count,
                  uint8_t (&buffer)[kPayloadBuffer]);

/// Registrations of the payload extension; 0 on a bad layout.
uint64_t register_schema(uint8_t domain, const nvtxPayloadSchemaAttr_t& attributes);
uint64_t register_enum(uint8_t domain, const nvtxPayloadEnumAttr_t& attributes);

}  // namespace stallscope::collect
