// Payloads of NVTX events, read by the schema that the program registered.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "import/segment_definitions.h"
#include "trace/trace.h"

namespace stallscope {

/// What the payloads of one event hold.
struct DecodedPayload {
  const PayloadSchema* schema = nullptr;  ///< of the first payload with a registered schema
  std::vector<Field> fields;
  StringId message = 0;  ///< an entry that carries the event's name
  void clear() {
    schema = nullptr;
    fields.clear();
    message = 0;
  }
};

/// Decodes the payload bytes of a record. Entries that reach beyond the data are
/// left out.
void decode_payload(const RecordView& record, const SegmentDefinitions& definitions, Trace& trace,
                    DecodedPayload& into);

}  // namespace stallscope
