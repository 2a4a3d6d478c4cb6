/* annotate.h: announce device work, host calls, collectives and memory to a
 * profiler, from any C11 or C++11 program, over NVTX.
 *
 * For programs whose device runtime no profiler knows (a CPU device, a
 * simulator, an accelerator of your own): say what your runtime does and
 * `stallscope run` shows it as it shows CUDA. Header only; needs the NVTX v3
 * headers. Without a tool attached a call costs one load and one branch.
 *
 *   // the thread that calls the runtime:
 *   uint32_t id = stallscope_next_correlation();
 *   stallscope_api_begin("cudaLaunchKernel", (stallscope_api){
 *       .call = STALLSCOPE_API_LAUNCH, .device = 0, .stream = 7, .correlation = id});
 *   enqueue(work, id);
 *   stallscope_end();
 *
 *   // the thread that executes stream 7 of device 0:
 *   stallscope_kernel_begin("gemm_f32", (stallscope_kernel){
 *       .device = 0, .stream = 7, .correlation = id});
 *   gemm(...);
 *   stallscope_end();
 *
 *   // C++: the same with scopes
 *   stallscope::annotate::Scope scope("cudaStreamSynchronize", stallscope_api{
 *       .call = STALLSCOPE_API_STREAM_SYNC, .device = 0, .stream = 7});
 *
 * Rules
 *  - Every *_begin is closed by stallscope_end() on the same thread; they nest.
 *  - `correlation` joins a host call with the device work it caused (one to
 *    many) within the process; 0 = none.
 *  - Kernels, copies, memsets, stream waits and collectives with device >= 0
 *    lie on the track (device, stream), whichever thread announces them; all
 *    else lies on the announcing thread's track.
 *  - Names are copied at once. Use the names of the field ("cudaMemcpyAsync",
 *    "ncclAllReduce") so that rules written for CUDA apply.
 *  - All sizes are bytes; fields left 0 that a struct calls optional are unknown.
 */
#ifndef STALLSCOPE_ANNOTATE_H
#define STALLSCOPE_ANNOTATE_H
/* NOLINTBEGIN(modernize-use-nullptr): this is C too */

#include "annotate_schemas.h"
#include "annotate_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** 1 when a tool listens: guards work done only to annotate. */
static inline int stallscope_enabled(void) {
  const int state = __atomic_load_n(&stallscope_annotate_state_v1.state, __ATOMIC_ACQUIRE);
  if (__builtin_expect(state < 2, 0)) return stallscope_set_up_();
  return state == 3;
}

/* ---- private helpers ---- */

static inline void stallscope_attributes_(nvtxEventAttributes_t* attributes, const char* name,
                                          const nvtxPayloadData_t* payload) {
  memset(attributes, 0, sizeof *attributes);
  attributes->version = NVTX_VERSION;
  attributes->size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes->messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes->message.ascii = name;
  if (payload != NULL) {
    attributes->payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes->reserved0 = 1;
    attributes->payload.ullValue = (uint64_t)(uintptr_t)payload;
  }
}

static inline void stallscope_push_(int schema, const char* name, const void* data, size_t bytes) {
  nvtxPayloadData_t payload;
  payload.schemaId = stallscope_annotate_state_v1.schema[schema];
  payload.size = bytes;
  payload.payload = data;
  nvtxEventAttributes_t attributes;
  stallscope_attributes_(&attributes, name, &payload);
  nvtxDomainRangePushEx(stallscope_annotate_state_v1.domain, &attributes);
}

static inline void stallscope_mark_(int schema, const char* name, const void* data, size_t bytes) {
  nvtxPayloadData_t payload;
  payload.schemaId = stallscope_annotate_state_v1.schema[schema];
  payload.size = bytes;
  payload.payload = data;
  nvtxEventAttributes_t attributes;
  stallscope_attributes_(&attributes, name, &payload);
  nvtxDomainMarkEx(stallscope_annotate_state_v1.domain, &attributes);
}

/* Values of the "stallscope.stack" field: what the recorder does at this range's begin. */
enum { STALLSCOPE_STACK_NONE_, STALLSCOPE_STACK_ALWAYS_, STALLSCOPE_STACK_FIRST_ };

static inline uint8_t stallscope_stack_of_(uint8_t call) {
  switch (call) {
    case STALLSCOPE_API_COPY_BLOCKING:
    case STALLSCOPE_API_STREAM_SYNC:
    case STALLSCOPE_API_DEVICE_SYNC:
    case STALLSCOPE_API_EVENT_SYNC:
      return STALLSCOPE_STACK_ALWAYS_;
    default:
      return STALLSCOPE_STACK_FIRST_;
  }
}

/* ---- the functions ---- */

/** A number that no other call of this binary in this process gets. */
static inline uint32_t stallscope_next_correlation(void) {
  return __atomic_add_fetch(&stallscope_annotate_state_v1.correlation, 1, __ATOMIC_RELAXED);
}

/** Ends the innermost begun interval of this thread. */
static inline void stallscope_end(void) {
  if (stallscope_enabled()) nvtxDomainRangePop(stallscope_annotate_state_v1.domain);
}

/** A plain named range ("step", "forward", "tree_at"): its stack says which line entered it. */
static inline void stallscope_range_begin(const char* name) {
  if (!stallscope_enabled()) return;
  const uint8_t stack = STALLSCOPE_STACK_FIRST_;
  stallscope_push_(STALLSCOPE_SCHEMA_RANGE_, name, &stack, sizeof stack);
}

/** A host call into a device runtime. */
static inline void stallscope_api_begin(const char* name, stallscope_api api) {
  if (!stallscope_enabled()) return;
  api.stack = stallscope_stack_of_(api.call);
  stallscope_push_(STALLSCOPE_SCHEMA_API_, name, &api, sizeof api);
}

/** A host call that moves, sets or allocates memory. */
static inline void stallscope_api_memory_begin(const char* name, stallscope_api_memory memory) {
  if (!stallscope_enabled()) return;
  const int pageable = memory.source_memory == STALLSCOPE_MEMORY_PAGEABLE ||
                       memory.target_memory == STALLSCOPE_MEMORY_PAGEABLE;
  memory.api.stack =
      pageable ? (uint8_t)STALLSCOPE_STACK_ALWAYS_ : stallscope_stack_of_(memory.api.call);
  stallscope_push_(STALLSCOPE_SCHEMA_API_MEMORY_, name, &memory, sizeof memory);
}

/** A kernel, from the thread that executes its stream. */
static inline void stallscope_kernel_begin(const char* name, stallscope_kernel kernel) {
  if (stallscope_enabled())
    stallscope_push_(STALLSCOPE_SCHEMA_KERNEL_, name, &kernel, sizeof kernel);
}

/** A copy, from the thread that executes its stream. */
static inline void stallscope_copy_begin(const char* name, stallscope_copy copy) {
  if (stallscope_enabled()) stallscope_push_(STALLSCOPE_SCHEMA_COPY_, name, &copy, sizeof copy);
}

/** A memset, from the thread that executes its stream. */
static inline void stallscope_memset_begin(const char* name, stallscope_memset set) {
  if (stallscope_enabled()) stallscope_push_(STALLSCOPE_SCHEMA_MEMSET_, name, &set, sizeof set);
}

/** The runtime's record of a synchronisation, inside the API call that synchronises. */
static inline void stallscope_sync_begin(const char* name, stallscope_sync sync) {
  if (stallscope_enabled()) stallscope_push_(STALLSCOPE_SCHEMA_SYNC_, name, &sync, sizeof sync);
}

/** A stream reached an event: an instant, from the thread that executes the stream. */
static inline void stallscope_event_record(const char* name, stallscope_stream_event event) {
  if (stallscope_enabled())
    stallscope_mark_(STALLSCOPE_SCHEMA_EVENT_RECORD_, name, &event, sizeof event);
}

/** A stream waits for an event of another, from the thread that executes the stream. */
static inline void stallscope_stream_wait_begin(const char* name, stallscope_stream_event event) {
  if (stallscope_enabled())
    stallscope_push_(STALLSCOPE_SCHEMA_STREAM_WAIT_, name, &event, sizeof event);
}

/** A rank's part of a collective or message. */
static inline void stallscope_collective_begin(const char* name, stallscope_collective collective) {
  if (!stallscope_enabled()) return;
  collective.stack = (uint8_t)(collective.device >= 0 ? STALLSCOPE_STACK_NONE_
                               : collective.async     ? STALLSCOPE_STACK_FIRST_
                                                      : STALLSCOPE_STACK_ALWAYS_);
  stallscope_push_(STALLSCOPE_SCHEMA_COLLECTIVE_, name, &collective, sizeof collective);
}

/** Memory taken or given back now. */
static inline void stallscope_allocation(const char* name, stallscope_alloc alloc) {
  if (stallscope_enabled()) stallscope_mark_(STALLSCOPE_SCHEMA_ALLOC_, name, &alloc, sizeof alloc);
}

/** This thread waits for another (lock, queue, join); `name` says for what. */
static inline void stallscope_wait_begin(const char* name, stallscope_wait wait) {
  if (!stallscope_enabled()) return;
  wait.stack = STALLSCOPE_STACK_ALWAYS_;
  stallscope_push_(STALLSCOPE_SCHEMA_WAIT_, name, &wait, sizeof wait);
}

/** The value of a counter at this instant. */
static inline void stallscope_counter(const char* name, double value) {
  if (stallscope_enabled())
    stallscope_mark_(STALLSCOPE_SCHEMA_COUNTER_, name, &value, sizeof value);
}

#ifdef __cplusplus
} /* extern "C" */

namespace stallscope {
namespace annotate {

/** Begins an interval and ends it when it goes out of scope. */
class Scope {
 public:
  explicit Scope(const char* name) { stallscope_range_begin(name); }
  Scope(const char* name, const stallscope_api& it) { stallscope_api_begin(name, it); }
  Scope(const char* name, const stallscope_api_memory& it) {
    stallscope_api_memory_begin(name, it);
  }
  Scope(const char* name, const stallscope_kernel& it) { stallscope_kernel_begin(name, it); }
  Scope(const char* name, const stallscope_copy& it) { stallscope_copy_begin(name, it); }
  Scope(const char* name, const stallscope_memset& it) { stallscope_memset_begin(name, it); }
  Scope(const char* name, const stallscope_sync& it) { stallscope_sync_begin(name, it); }
  Scope(const char* name, const stallscope_stream_event& it) {
    stallscope_stream_wait_begin(name, it);
  }
  Scope(const char* name, const stallscope_collective& it) {
    stallscope_collective_begin(name, it);
  }
  Scope(const char* name, const stallscope_wait& it) { stallscope_wait_begin(name, it); }
  ~Scope() { stallscope_end(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

}  // namespace annotate
}  // namespace stallscope
#endif /* __cplusplus */

/* NOLINTEND(modernize-use-nullptr) */
#endif /* STALLSCOPE_ANNOTATE_H */
