/* annotate_schemas.h: private to annotate.h. Tells the attached tool how the
 * structs of annotate_types.h are laid out, so that it decodes them by
 * registered schema. Names of entries are the keys of the trace. */
#ifndef STALLSCOPE_ANNOTATE_SCHEMAS_H
#define STALLSCOPE_ANNOTATE_SCHEMAS_H
/* NOLINTBEGIN(modernize-use-nullptr): this is C too */

#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "annotate_types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum stallscope_schema_index_ {
  STALLSCOPE_SCHEMA_API_,
  STALLSCOPE_SCHEMA_API_MEMORY_,
  STALLSCOPE_SCHEMA_KERNEL_,
  STALLSCOPE_SCHEMA_COPY_,
  STALLSCOPE_SCHEMA_MEMSET_,
  STALLSCOPE_SCHEMA_SYNC_,
  STALLSCOPE_SCHEMA_EVENT_RECORD_,
  STALLSCOPE_SCHEMA_STREAM_WAIT_,
  STALLSCOPE_SCHEMA_COLLECTIVE_,
  STALLSCOPE_SCHEMA_ALLOC_,
  STALLSCOPE_SCHEMA_WAIT_,
  STALLSCOPE_SCHEMA_COUNTER_,
  STALLSCOPE_SCHEMA_RANGE_,
  STALLSCOPE_SCHEMA_COUNT_
};

/* One per linked binary: weak and hidden, as NVTX does for its own state. */
typedef struct stallscope_annotate_state_v1_t {
  int state; /* 0 not tried, 1 being set up, 2 no tool, 3 a tool listens */
  uint32_t correlation;
  nvtxDomainHandle_t domain;
  uint64_t schema[STALLSCOPE_SCHEMA_COUNT_];
} stallscope_annotate_state_v1_t;
__attribute__((
    weak, visibility("hidden"))) stallscope_annotate_state_v1_t stallscope_annotate_state_v1 = {
    0, 0, NULL, {0}};

#define STALLSCOPE_ENUM_VALUE_(label, number) {label, number, 0}

static inline uint64_t stallscope_register_enum_(const char* name, const nvtxPayloadEnum_t* values,
                                                 size_t count) {
  nvtxPayloadEnumAttr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  attributes.name = name;
  attributes.entries = values;
  attributes.numEntries = count;
  attributes.sizeOfEnum = 1;
  return nvtxPayloadEnumRegister(stallscope_annotate_state_v1.domain, &attributes);
}

static inline uint64_t stallscope_register_schema_(const char* name,
                                                   const nvtxPayloadSchemaEntry_t* entries,
                                                   size_t count, size_t bytes) {
  nvtxPayloadSchemaAttr_t attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  attributes.name = name;
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = entries;
  attributes.numEntries = count;
  attributes.payloadStaticSize = bytes;
  return nvtxPayloadSchemaRegister(stallscope_annotate_state_v1.domain, &attributes);
}

/* An entry of a schema: its key in the trace, its type, its place in the struct. */
#define STALLSCOPE_ENTRY_(type, key, structure, member) \
  {0, type, key, NULL, 0, offsetof(structure, member), NULL, NULL}
#define STALLSCOPE_SCHEMA_(index, name, entries, structure)                 \
  stallscope_annotate_state_v1.schema[index] = stallscope_register_schema_( \
      "stallscope." name, entries, sizeof(entries) / sizeof((entries)[0]), sizeof(structure))

static inline void stallscope_register_host_schemas_(uint64_t memory_type) {
  static const nvtxPayloadEnum_t calls[] = {
      STALLSCOPE_ENUM_VALUE_("other", STALLSCOPE_API_OTHER),
      STALLSCOPE_ENUM_VALUE_("launch", STALLSCOPE_API_LAUNCH),
      STALLSCOPE_ENUM_VALUE_("graph-launch", STALLSCOPE_API_GRAPH_LAUNCH),
      STALLSCOPE_ENUM_VALUE_("copy", STALLSCOPE_API_COPY),
      STALLSCOPE_ENUM_VALUE_("copy-blocking", STALLSCOPE_API_COPY_BLOCKING),
      STALLSCOPE_ENUM_VALUE_("memset", STALLSCOPE_API_MEMSET),
      STALLSCOPE_ENUM_VALUE_("stream-sync", STALLSCOPE_API_STREAM_SYNC),
      STALLSCOPE_ENUM_VALUE_("device-sync", STALLSCOPE_API_DEVICE_SYNC),
      STALLSCOPE_ENUM_VALUE_("event-sync", STALLSCOPE_API_EVENT_SYNC),
      STALLSCOPE_ENUM_VALUE_("event-record", STALLSCOPE_API_EVENT_RECORD),
      STALLSCOPE_ENUM_VALUE_("stream-wait", STALLSCOPE_API_STREAM_WAIT),
      STALLSCOPE_ENUM_VALUE_("query", STALLSCOPE_API_QUERY),
      STALLSCOPE_ENUM_VALUE_("alloc", STALLSCOPE_API_ALLOC),
      STALLSCOPE_ENUM_VALUE_("free", STALLSCOPE_API_FREE),
      STALLSCOPE_ENUM_VALUE_("host-alloc", STALLSCOPE_API_HOST_ALLOC),
      STALLSCOPE_ENUM_VALUE_("module-load", STALLSCOPE_API_MODULE_LOAD),
      STALLSCOPE_ENUM_VALUE_("collective", STALLSCOPE_API_COLLECTIVE)};
  const uint64_t call_type =
      stallscope_register_enum_("call", calls, sizeof(calls) / sizeof(calls[0]));
#define STALLSCOPE_API_ENTRIES_(structure, prefix)                                           \
  STALLSCOPE_ENTRY_(call_type, "call", structure, prefix call),                              \
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "stallscope.stack", structure,        \
                        prefix stack),                                                       \
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "device", structure, prefix device),  \
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "stream", structure, prefix stream), \
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "correlation", structure,            \
                        prefix correlation),                                                 \
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "event", structure, prefix event)
  const nvtxPayloadSchemaEntry_t api[] = {STALLSCOPE_API_ENTRIES_(stallscope_api, )};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_API_, "api", api, stallscope_api);
  const nvtxPayloadSchemaEntry_t memory[] = {
      STALLSCOPE_API_ENTRIES_(stallscope_api_memory, api.),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", stallscope_api_memory, bytes),
      STALLSCOPE_ENTRY_(memory_type, "sourceMemory", stallscope_api_memory, source_memory),
      STALLSCOPE_ENTRY_(memory_type, "targetMemory", stallscope_api_memory, target_memory)};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_API_MEMORY_, "api", memory, stallscope_api_memory);
#undef STALLSCOPE_API_ENTRIES_

  static const nvtxPayloadEnum_t syncs[] = {
      STALLSCOPE_ENUM_VALUE_("unknown", STALLSCOPE_SYNC_UNKNOWN),
      STALLSCOPE_ENUM_VALUE_("event", STALLSCOPE_SYNC_EVENT),
      STALLSCOPE_ENUM_VALUE_("stream-wait-event", STALLSCOPE_SYNC_STREAM_WAIT_EVENT),
      STALLSCOPE_ENUM_VALUE_("stream", STALLSCOPE_SYNC_STREAM),
      STALLSCOPE_ENUM_VALUE_("device", STALLSCOPE_SYNC_DEVICE)};
  const uint64_t sync_type =
      stallscope_register_enum_("sync", syncs, sizeof(syncs) / sizeof(syncs[0]));
  const nvtxPayloadSchemaEntry_t sync[] = {
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "device", stallscope_sync, device),
      STALLSCOPE_ENTRY_(sync_type, "sync", stallscope_sync, sync),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "stream", stallscope_sync, stream),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "correlation", stallscope_sync,
                        correlation),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "event", stallscope_sync, event)};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_SYNC_, "sync", sync, stallscope_sync);

  const nvtxPayloadSchemaEntry_t alloc[] = {
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "device", stallscope_alloc, device),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "release", stallscope_alloc, release),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "address", stallscope_alloc, address),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", stallscope_alloc, bytes),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "totalBytes", stallscope_alloc,
                        total_bytes)};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_ALLOC_, "alloc", alloc, stallscope_alloc);

  const nvtxPayloadSchemaEntry_t wait[] = {
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "wakerTid", stallscope_wait, waker_tid),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "stallscope.stack", stallscope_wait, stack)};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_WAIT_, "thread-wait", wait, stallscope_wait);

  const nvtxPayloadSchemaEntry_t counter[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "value", NULL, 0, 0, NULL, NULL}};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_COUNTER_, "counter", counter, double);

  const nvtxPayloadSchemaEntry_t range[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "stallscope.stack", NULL, 0, 0, NULL, NULL}};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_RANGE_, "range", range, uint8_t);
}

static inline void stallscope_register_stream_schemas_(uint64_t memory_type) {
#define STALLSCOPE_STREAM_ENTRIES_(structure)                                         \
  STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "device", structure, device),      \
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "stream", structure, stream), \
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "correlation", structure, correlation)
  const nvtxPayloadSchemaEntry_t kernel[] = {
      STALLSCOPE_STREAM_ENTRIES_(stallscope_kernel),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "modelled", stallscope_kernel, modelled),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "graph", stallscope_kernel, graph)};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_KERNEL_, "kernel", kernel, stallscope_kernel);

  static const nvtxPayloadEnum_t copies[] = {
      STALLSCOPE_ENUM_VALUE_("unknown", STALLSCOPE_COPY_UNKNOWN),
      STALLSCOPE_ENUM_VALUE_("host-to-device", STALLSCOPE_COPY_HOST_TO_DEVICE),
      STALLSCOPE_ENUM_VALUE_("device-to-host", STALLSCOPE_COPY_DEVICE_TO_HOST),
      STALLSCOPE_ENUM_VALUE_("device-to-device", STALLSCOPE_COPY_DEVICE_TO_DEVICE),
      STALLSCOPE_ENUM_VALUE_("peer", STALLSCOPE_COPY_PEER),
      STALLSCOPE_ENUM_VALUE_("host-to-host", STALLSCOPE_COPY_HOST_TO_HOST)};
  const uint64_t copy_type =
      stallscope_register_enum_("copy", copies, sizeof(copies) / sizeof(copies[0]));
  const nvtxPayloadSchemaEntry_t copy[] = {
      STALLSCOPE_STREAM_ENTRIES_(stallscope_copy),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "modelled", stallscope_copy, modelled),
      STALLSCOPE_ENTRY_(copy_type, "copy", stallscope_copy, copy),
      STALLSCOPE_ENTRY_(memory_type, "sourceMemory", stallscope_copy, source_memory),
      STALLSCOPE_ENTRY_(memory_type, "targetMemory", stallscope_copy, target_memory),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", stallscope_copy, bytes)};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_COPY_, "memcpy", copy, stallscope_copy);

  const nvtxPayloadSchemaEntry_t set[] = {
      STALLSCOPE_STREAM_ENTRIES_(stallscope_memset),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "modelled", stallscope_memset, modelled),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", stallscope_memset, bytes)};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_MEMSET_, "memset", set, stallscope_memset);

  const nvtxPayloadSchemaEntry_t event[] = {
      STALLSCOPE_STREAM_ENTRIES_(stallscope_stream_event),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "event", stallscope_stream_event, event),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "eventRecord", stallscope_stream_event,
                        event_record)};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_EVENT_RECORD_, "event-record", event,
                     stallscope_stream_event);
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_STREAM_WAIT_, "stream-wait", event, stallscope_stream_event);

  static const nvtxPayloadEnum_t ops[] = {
      STALLSCOPE_ENUM_VALUE_("unknown", STALLSCOPE_COLLECTIVE_UNKNOWN),
      STALLSCOPE_ENUM_VALUE_("all-reduce", STALLSCOPE_COLLECTIVE_ALL_REDUCE),
      STALLSCOPE_ENUM_VALUE_("reduce-scatter", STALLSCOPE_COLLECTIVE_REDUCE_SCATTER),
      STALLSCOPE_ENUM_VALUE_("all-gather", STALLSCOPE_COLLECTIVE_ALL_GATHER),
      STALLSCOPE_ENUM_VALUE_("broadcast", STALLSCOPE_COLLECTIVE_BROADCAST),
      STALLSCOPE_ENUM_VALUE_("reduce", STALLSCOPE_COLLECTIVE_REDUCE),
      STALLSCOPE_ENUM_VALUE_("all-to-all", STALLSCOPE_COLLECTIVE_ALL_TO_ALL),
      STALLSCOPE_ENUM_VALUE_("gather", STALLSCOPE_COLLECTIVE_GATHER),
      STALLSCOPE_ENUM_VALUE_("scatter", STALLSCOPE_COLLECTIVE_SCATTER),
      STALLSCOPE_ENUM_VALUE_("barrier", STALLSCOPE_COLLECTIVE_BARRIER),
      STALLSCOPE_ENUM_VALUE_("send", STALLSCOPE_COLLECTIVE_SEND),
      STALLSCOPE_ENUM_VALUE_("receive", STALLSCOPE_COLLECTIVE_RECEIVE),
      STALLSCOPE_ENUM_VALUE_("send-receive", STALLSCOPE_COLLECTIVE_SEND_RECEIVE),
      STALLSCOPE_ENUM_VALUE_("wait", STALLSCOPE_COLLECTIVE_WAIT)};
  static const nvtxPayloadEnum_t dtypes[] = {STALLSCOPE_ENUM_VALUE_("", STALLSCOPE_DTYPE_UNKNOWN),
                                             STALLSCOPE_ENUM_VALUE_("f64", STALLSCOPE_DTYPE_F64),
                                             STALLSCOPE_ENUM_VALUE_("f32", STALLSCOPE_DTYPE_F32),
                                             STALLSCOPE_ENUM_VALUE_("f16", STALLSCOPE_DTYPE_F16),
                                             STALLSCOPE_ENUM_VALUE_("bf16", STALLSCOPE_DTYPE_BF16),
                                             STALLSCOPE_ENUM_VALUE_("f8", STALLSCOPE_DTYPE_F8),
                                             STALLSCOPE_ENUM_VALUE_("i64", STALLSCOPE_DTYPE_I64),
                                             STALLSCOPE_ENUM_VALUE_("i32", STALLSCOPE_DTYPE_I32),
                                             STALLSCOPE_ENUM_VALUE_("i8", STALLSCOPE_DTYPE_I8),
                                             STALLSCOPE_ENUM_VALUE_("u8", STALLSCOPE_DTYPE_U8)};
  const uint64_t op_type = stallscope_register_enum_("op", ops, sizeof(ops) / sizeof(ops[0]));
  const uint64_t dtype_type =
      stallscope_register_enum_("dtype", dtypes, sizeof(dtypes) / sizeof(dtypes[0]));
  const nvtxPayloadSchemaEntry_t collective[] = {
      /* First: NVTX takes an offset of 0 in a later entry for "by alignment". */
      STALLSCOPE_ENTRY_(op_type, "op", stallscope_collective, op),
      STALLSCOPE_STREAM_ENTRIES_(stallscope_collective),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "stallscope.stack", stallscope_collective,
                        stack),
      STALLSCOPE_ENTRY_(dtype_type, "dtype", stallscope_collective, dtype),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "async", stallscope_collective, async),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "modelled", stallscope_collective, modelled),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", stallscope_collective, bytes),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "elements", stallscope_collective,
                        elements),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "group", stallscope_collective, group),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "sequence", stallscope_collective,
                        sequence),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "worldSize", stallscope_collective,
                        world_size),
      STALLSCOPE_ENTRY_(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "peer", stallscope_collective, peer)};
  STALLSCOPE_SCHEMA_(STALLSCOPE_SCHEMA_COLLECTIVE_, "collective", collective,
                     stallscope_collective);
#undef STALLSCOPE_STREAM_ENTRIES_
}
#undef STALLSCOPE_ENTRY_
#undef STALLSCOPE_SCHEMA_

static inline int stallscope_set_up_(void) {
  stallscope_annotate_state_v1_t* shared = &stallscope_annotate_state_v1;
  int fresh = 0;
  if (!__atomic_compare_exchange_n(&shared->state, &fresh, 1, 0, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    /* Another thread sets up: wait, since a begin must not be lost when its end is not. */
    while ((fresh = __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE)) == 1) sched_yield();
    return fresh == 3;
  }
  shared->domain = nvtxDomainCreateA("stallscope");
  const int listening = shared->domain != NULL && nvtxDomainIsEnabled(shared->domain) != 0;
  if (listening) {
    static const nvtxPayloadEnum_t memories[] = {
        STALLSCOPE_ENUM_VALUE_("", STALLSCOPE_MEMORY_UNKNOWN),
        STALLSCOPE_ENUM_VALUE_("pageable", STALLSCOPE_MEMORY_PAGEABLE),
        STALLSCOPE_ENUM_VALUE_("pinned", STALLSCOPE_MEMORY_PINNED),
        STALLSCOPE_ENUM_VALUE_("device", STALLSCOPE_MEMORY_DEVICE),
        STALLSCOPE_ENUM_VALUE_("managed", STALLSCOPE_MEMORY_MANAGED)};
    const uint64_t memory_type =
        stallscope_register_enum_("memory", memories, sizeof(memories) / sizeof(memories[0]));
    stallscope_register_host_schemas_(memory_type);
    stallscope_register_stream_schemas_(memory_type);
  }
  __atomic_store_n(&shared->state, listening ? 3 : 2, __ATOMIC_RELEASE);
  return listening;
}
#undef STALLSCOPE_ENUM_VALUE_

#ifdef __cplusplus
} /* extern "C" */
#endif

/* NOLINTEND(modernize-use-nullptr) */
#endif /* STALLSCOPE_ANNOTATE_SCHEMAS_H */
