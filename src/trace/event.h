// What can happen in a run, in the field's own terms. No producer is named
// here: CUPTI, a Kineto file and a CPU trainer all give the same events.
#pragma once

#include <cstdint>
#include <string_view>

namespace stallscope {

using EventId = uint32_t;  ///< row of the Trace's columns
using TrackId = uint32_t;
using StackId = uint32_t;  ///< 0 = no stack
using FrameId = uint32_t;
using PayloadId = uint32_t;  ///< 0 = no fields

/// The kinds of event. Their names (see `to_string`) are part of the dump format.
enum class EventKind : uint8_t {
  range,   ///< a named interval on a host thread (NVTX, operator, annotation, Python function)
  api,     ///< a call of the host into the device runtime; `detail` is an ApiCall
  kernel,  ///< on a stream
  memcpy,  ///< on a stream; `detail` is a CopyKind
  memset,  ///< on a stream
  sync,    ///< the runtime's record of a synchronisation; `detail` is a SyncKind
  event_record,  ///< a stream reached an event
  stream_wait,   ///< a stream waits for an event of another
  graph_launch,  ///< one launch of a captured graph, on a stream, when nodes are not traced singly
  collective,    ///< one rank's part of a collective or of a point-to-point message
  thread_wait,   ///< a host thread blocked on another (lock, queue, join); waker in Key::waker_tid
  overhead,      ///< time the profiler itself took
  sample,        ///< a stack sample of a host thread
  alloc,         ///< device or host memory taken or given back; `detail` is an AllocKind
  counter,       ///< a value at an instant
  marker,        ///< an instant
};
inline constexpr int kEventKinds = 16;

/// What kind of call an `api` event is, whatever runtime it belongs to.
enum class ApiCall : uint8_t {
  other,
  launch,  ///< a kernel launch
  graph_launch,
  copy,           ///< an asynchronous copy (it may block all the same: pageable memory)
  copy_blocking,  ///< a copy that returns when it is complete
  memset,
  stream_sync,
  device_sync,
  event_sync,
  event_record,
  stream_wait,
  query,  ///< stream or event query: does not block
  alloc,
  free,
  host_alloc,  ///< pinned host memory
  module_load,
  collective,  ///< enqueues a collective or message
};

enum class CopyKind : uint8_t {
  unknown,
  host_to_device,
  device_to_host,
  device_to_device,
  peer,
  host_to_host
};
enum class SyncKind : uint8_t { unknown, event, stream_wait_event, stream, device };
enum class AllocKind : uint8_t { allocate, release };

/// What a `range` is.
enum class RangeKind : uint8_t {
  annotation,  ///< written by the user or a library (NVTX, record_function, ProfilerStep#N)
  op,          ///< a framework's operator (aten::linear)
  python,      ///< one call of a Python function
};

enum class CollectiveOp : uint8_t {
  unknown,
  all_reduce,
  reduce_scatter,
  all_gather,
  broadcast,
  reduce,
  all_to_all,
  gather,
  scatter,
  barrier,
  send,
  receive,
  send_receive,
  wait,
};

std::string_view to_string(EventKind kind);
std::string_view to_string(ApiCall call);
std::string_view to_string(CopyKind kind);
std::string_view to_string(SyncKind kind);
std::string_view to_string(RangeKind kind);
std::string_view to_string(CollectiveOp op);

/// The name of `detail` for an event of `kind`; empty where the kind has no details.
std::string_view detail_name(EventKind kind, uint8_t detail);

/// True for events that occupy a device stream.
constexpr bool is_device_work(EventKind kind) {
  return kind == EventKind::kernel || kind == EventKind::memcpy || kind == EventKind::memset ||
         kind == EventKind::graph_launch || kind == EventKind::collective;
}

/// Well-known payload fields. Their ids are equal in every Trace, so that no
/// text is compared in a loop. Names are part of the dump format.
enum Key : uint32_t {
  kKeyNone = 0,
  kKeyArgs,    ///< text after the stem of a name: ", op_id = 7"
  kKeyDomain,  ///< NVTX domain
  kKeyCategory,
  kKeyBytes,
  kKeyElements,
  kKeyDataType,
  kKeyDevice,  ///< device an api call addresses
  kKeyStream,  ///< stream an api call or sync addresses
  kKeyContext,
  kKeyEvent,        ///< event handle or id
  kKeyEventRecord,  ///< correlation of the record that a wait waits for
  kKeyGraph,
  kKeyGraphNode,
  kKeySourceMemory,  ///< "pageable", "pinned", "device", "managed"
  kKeyTargetMemory,
  kKeyGroup,      ///< communicator or process group: equal on all its ranks
  kKeySequence,   ///< running number of the collective in its group
  kKeyWorldSize,  ///< ranks in the group
  kKeyPeer,       ///< other rank of a message, or root
  kKeyAsync,      ///< 1 when the host does not wait
  kKeyAlgorithm,
  kKeyProtocol,
  kKeyChannels,
  kKeyExternalId,  ///< Kineto "External id": links an operator with its calls
  kKeySequenceNr,  ///< autograd sequence number: links forward and backward
  kKeyAddress,
  kKeyTotalBytes,  ///< memory in use after an alloc event
  kKeyValue,       ///< value of a counter
  kKeyResult,      ///< return code of a call, when not 0
  kKeyWakerTid,
  kKeyShapes,  ///< operator input shapes as text
  kKeyGrid,
  kKeyBlock,
  kKeyReason,
  kKeyModelled,       ///< 1 when the duration was modelled, not measured
  kKeyCollective,     ///< what the collective is called where its kernel's name does not tell
  kKeyOutElements,    ///< elements a collective gives; kKeyElements are those it takes
  kKeyWaitStream,     ///< stream whose event a stream or the host waits for
  kKeyForwardThread,  ///< thread number of the forward operator of a backward one
  kKeyCount_,
};

/// The name of a well-known key.
std::string_view key_name(uint32_t key);

}  // namespace stallscope
