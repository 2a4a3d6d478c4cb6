/* annotate_types.h: what can be announced; included by annotate.h. */
#ifndef STALLSCOPE_ANNOTATE_TYPES_H
#define STALLSCOPE_ANNOTATE_TYPES_H

#include <stdint.h>

/** What a host call does. Blocking calls get their stack recorded every time. */
enum stallscope_api_call {
  STALLSCOPE_API_OTHER,
  STALLSCOPE_API_LAUNCH,
  STALLSCOPE_API_GRAPH_LAUNCH,
  STALLSCOPE_API_COPY, /**< asynchronous copy (blocks all the same when memory is pageable) */
  STALLSCOPE_API_COPY_BLOCKING, /**< returns when the copy is complete */
  STALLSCOPE_API_MEMSET,
  STALLSCOPE_API_STREAM_SYNC,
  STALLSCOPE_API_DEVICE_SYNC,
  STALLSCOPE_API_EVENT_SYNC,
  STALLSCOPE_API_EVENT_RECORD,
  STALLSCOPE_API_STREAM_WAIT,
  STALLSCOPE_API_QUERY,
  STALLSCOPE_API_ALLOC,
  STALLSCOPE_API_FREE,
  STALLSCOPE_API_HOST_ALLOC,
  STALLSCOPE_API_MODULE_LOAD,
  STALLSCOPE_API_COLLECTIVE /**< enqueues a collective or message */
};

enum stallscope_copy_kind {
  STALLSCOPE_COPY_UNKNOWN,
  STALLSCOPE_COPY_HOST_TO_DEVICE,
  STALLSCOPE_COPY_DEVICE_TO_HOST,
  STALLSCOPE_COPY_DEVICE_TO_DEVICE,
  STALLSCOPE_COPY_PEER,
  STALLSCOPE_COPY_HOST_TO_HOST
};

enum stallscope_memory {
  STALLSCOPE_MEMORY_UNKNOWN,
  STALLSCOPE_MEMORY_PAGEABLE,
  STALLSCOPE_MEMORY_PINNED,
  STALLSCOPE_MEMORY_DEVICE,
  STALLSCOPE_MEMORY_MANAGED
};

enum stallscope_sync_kind {
  STALLSCOPE_SYNC_UNKNOWN,
  STALLSCOPE_SYNC_EVENT,
  STALLSCOPE_SYNC_STREAM_WAIT_EVENT,
  STALLSCOPE_SYNC_STREAM,
  STALLSCOPE_SYNC_DEVICE
};

enum stallscope_collective_op {
  STALLSCOPE_COLLECTIVE_UNKNOWN,
  STALLSCOPE_COLLECTIVE_ALL_REDUCE,
  STALLSCOPE_COLLECTIVE_REDUCE_SCATTER,
  STALLSCOPE_COLLECTIVE_ALL_GATHER,
  STALLSCOPE_COLLECTIVE_BROADCAST,
  STALLSCOPE_COLLECTIVE_REDUCE,
  STALLSCOPE_COLLECTIVE_ALL_TO_ALL,
  STALLSCOPE_COLLECTIVE_GATHER,
  STALLSCOPE_COLLECTIVE_SCATTER,
  STALLSCOPE_COLLECTIVE_BARRIER,
  STALLSCOPE_COLLECTIVE_SEND,
  STALLSCOPE_COLLECTIVE_RECEIVE,
  STALLSCOPE_COLLECTIVE_SEND_RECEIVE,
  STALLSCOPE_COLLECTIVE_WAIT
};

enum stallscope_dtype {
  STALLSCOPE_DTYPE_UNKNOWN,
  STALLSCOPE_DTYPE_F64,
  STALLSCOPE_DTYPE_F32,
  STALLSCOPE_DTYPE_F16,
  STALLSCOPE_DTYPE_BF16,
  STALLSCOPE_DTYPE_F8,
  STALLSCOPE_DTYPE_I64,
  STALLSCOPE_DTYPE_I32,
  STALLSCOPE_DTYPE_I8,
  STALLSCOPE_DTYPE_U8
};

/* Structs start as zero in C++; in C a designated initializer does the same. */
#if defined(__cplusplus) && __cplusplus >= 201402L
/* clang-format off */
#define STALLSCOPE_ZERO_ {}
/* clang-format on */
#else
#define STALLSCOPE_ZERO_
#endif

/** A call of the host into a device runtime, on the calling thread. */
typedef struct stallscope_api {
  uint8_t call STALLSCOPE_ZERO_;         /**< enum stallscope_api_call */
  uint8_t stack STALLSCOPE_ZERO_;        /**< set by the header; leave 0 */
  int16_t device STALLSCOPE_ZERO_;       /**< device addressed */
  uint32_t stream STALLSCOPE_ZERO_;      /**< stream addressed */
  uint32_t correlation STALLSCOPE_ZERO_; /**< shared with the device work it causes; 0 = none */
  uint32_t event STALLSCOPE_ZERO_;       /**< event addressed by event calls; 0 = none */
} stallscope_api;

/** A host call that moves, sets or allocates memory. */
typedef struct stallscope_api_memory {
  stallscope_api api STALLSCOPE_ZERO_;
  uint64_t bytes STALLSCOPE_ZERO_;
  uint8_t source_memory STALLSCOPE_ZERO_; /**< enum stallscope_memory; optional */
  uint8_t target_memory STALLSCOPE_ZERO_; /**< enum stallscope_memory; optional */
  uint8_t padding[6] STALLSCOPE_ZERO_;
} stallscope_api_memory;

/** A kernel running on a stream. */
typedef struct stallscope_kernel {
  int16_t device STALLSCOPE_ZERO_;
  uint8_t modelled STALLSCOPE_ZERO_; /**< 1 when the duration is modelled, not measured */
  uint8_t padding STALLSCOPE_ZERO_;
  uint32_t stream STALLSCOPE_ZERO_;
  uint32_t correlation STALLSCOPE_ZERO_;
  uint32_t graph STALLSCOPE_ZERO_; /**< the graph launch it belongs to; 0 = none */
} stallscope_kernel;

/** A copy running on a stream. */
typedef struct stallscope_copy {
  int16_t device STALLSCOPE_ZERO_;
  uint8_t modelled STALLSCOPE_ZERO_;
  uint8_t copy STALLSCOPE_ZERO_; /**< enum stallscope_copy_kind */
  uint32_t stream STALLSCOPE_ZERO_;
  uint32_t correlation STALLSCOPE_ZERO_;
  uint8_t source_memory STALLSCOPE_ZERO_; /**< enum stallscope_memory; optional */
  uint8_t target_memory STALLSCOPE_ZERO_; /**< enum stallscope_memory; optional */
  uint8_t padding[2] STALLSCOPE_ZERO_;
  uint64_t bytes STALLSCOPE_ZERO_;
} stallscope_copy;

/** A memset running on a stream. */
typedef struct stallscope_memset {
  int16_t device STALLSCOPE_ZERO_;
  uint8_t modelled STALLSCOPE_ZERO_;
  uint8_t padding STALLSCOPE_ZERO_;
  uint32_t stream STALLSCOPE_ZERO_;
  uint32_t correlation STALLSCOPE_ZERO_;
  uint32_t padding2 STALLSCOPE_ZERO_;
  uint64_t bytes STALLSCOPE_ZERO_;
} stallscope_memset;

/** The runtime's own record of a synchronisation, on the waiting thread. */
typedef struct stallscope_sync {
  int16_t device STALLSCOPE_ZERO_;
  uint8_t sync STALLSCOPE_ZERO_; /**< enum stallscope_sync_kind */
  uint8_t padding STALLSCOPE_ZERO_;
  uint32_t stream STALLSCOPE_ZERO_;
  uint32_t correlation STALLSCOPE_ZERO_; /**< of the API call that synchronises */
  uint32_t event STALLSCOPE_ZERO_;       /**< 0 = none */
} stallscope_sync;

/** A stream reaches an event, or waits for an event of another stream. */
typedef struct stallscope_stream_event {
  int16_t device STALLSCOPE_ZERO_;
  uint16_t padding STALLSCOPE_ZERO_;
  uint32_t stream STALLSCOPE_ZERO_;
  uint32_t correlation STALLSCOPE_ZERO_; /**< of the API call that enqueued it */
  uint32_t event STALLSCOPE_ZERO_;       /**< the event's number */
  uint32_t event_record
      STALLSCOPE_ZERO_; /**< waits: correlation of the record waited for; 0 = unknown */
  uint32_t padding2 STALLSCOPE_ZERO_;
} stallscope_stream_event;

/** One rank's part of a collective or message. device -1: on the host thread. */
typedef struct stallscope_collective {
  uint8_t op STALLSCOPE_ZERO_;       /**< enum stallscope_collective_op */
  uint8_t stack STALLSCOPE_ZERO_;    /**< set by the header; leave 0 */
  uint8_t dtype STALLSCOPE_ZERO_;    /**< enum stallscope_dtype; optional */
  uint8_t async STALLSCOPE_ZERO_;    /**< 1 when the host does not wait */
  int16_t device STALLSCOPE_ZERO_;   /**< -1: host thread track */
  uint8_t modelled STALLSCOPE_ZERO_; /**< 1 when the duration is modelled */
  uint8_t padding STALLSCOPE_ZERO_;
  uint32_t stream STALLSCOPE_ZERO_;
  uint32_t correlation STALLSCOPE_ZERO_;
  uint64_t bytes STALLSCOPE_ZERO_;
  uint64_t elements STALLSCOPE_ZERO_;   /**< optional */
  uint64_t group STALLSCOPE_ZERO_;      /**< communicator: equal on all its ranks */
  uint64_t sequence STALLSCOPE_ZERO_;   /**< running number in the group, equal on all its ranks */
  uint32_t world_size STALLSCOPE_ZERO_; /**< ranks in the group */
  int32_t peer STALLSCOPE_ZERO_;        /**< other rank of a message, or root; -1 = none */
} stallscope_collective;

/** Memory taken or given back, at this instant. */
typedef struct stallscope_alloc {
  int16_t device STALLSCOPE_ZERO_;  /**< -1: host memory */
  uint8_t release STALLSCOPE_ZERO_; /**< 0 = taken, 1 = given back */
  uint8_t padding[5] STALLSCOPE_ZERO_;
  uint64_t address STALLSCOPE_ZERO_;
  uint64_t bytes STALLSCOPE_ZERO_;
  uint64_t total_bytes STALLSCOPE_ZERO_; /**< in use on the device after this */
} stallscope_alloc;

/** A thread waits for another (lock, queue, join). */
typedef struct stallscope_wait {
  uint32_t waker_tid
      STALLSCOPE_ZERO_;           /**< kernel thread id of the thread waited for; 0 = unknown */
  uint8_t stack STALLSCOPE_ZERO_; /**< set by the header; leave 0 */
  uint8_t padding[3] STALLSCOPE_ZERO_;
} stallscope_wait;

#undef STALLSCOPE_ZERO_

#endif /* STALLSCOPE_ANNOTATE_TYPES_H */
