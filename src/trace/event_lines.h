// Event lines: a Trace as JSON, one event per line. `stallscope dump` prints
// this form and the importer "events" reads it back, so it is also how a trace
// is written by hand. In a hand-written file nearly everything may be left out:
//
//   # comments and empty lines are skipped
//   {"kind":"process","pid":1,"rank":0,"worldSize":2}
//   {"repeat":12,"everyNs":1000000}
//   {"kind":"range","name":"step {i}","startNs":0,"durationNs":900000}
//   {"kind":"api","name":"cudaLaunchKernel","startNs":1000,"durationNs":4000,"correlation":1,
//    "stack":["train.py:14 train","main.py:3 main"]}          (on one line in a real file)
//   {"kind":"kernel","name":"gemm","startNs":9000,"durationNs":50000,"correlation":1}
//   {"kind":"api","name":"cudaStreamSynchronize","startNs":70000,"durationNs":9000,"onlyIn":[3,7]}
//   {"end":true}
//
// Fields of an event:
//   kind         a name of EventKind; "range" when left out
//   name         with arguments and all
//   startNs      default: where the previous event of the same track ended; startUs may be a
//   decimal durationNs   default 0; durationUs likewise pid          default 1;  tid default = pid;
//   rank, worldSize: of the process device, stream   default 0 and 7; put the event on a stream.
//   kernel, memcpy, memset and
//                graph-launch lie on a stream; api, alloc, sample and thread-wait on a thread,
//                where `device` and `stream` are payload fields: the stream that a call addresses.
//                Other kinds lie on a stream if they have a `stream` and no `tid`, else on a
//                thread.
//   correlation  joins a call with its device work within a process
//   detail       name of the ApiCall, CopyKind, SyncKind, AllocKind, RangeKind or CollectiveOp;
//                default: what the name says ("cudaMemcpyAsync", "Memcpy HtoD (Pageable ->
//                Device)", "aten::mm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL")
//   stack        innermost first: {"function","file","line","module","kind"} or "file:line
//   function" payload      further fields; unknown keys beside it mean the same. Well-known names
//   are those
//                of key_name(): bytes, sourceMemory, targetMemory, group, sequence, event, ...
//
// Lines between {"repeat":N,"everyNs":T} and {"end":true} are added N times, T later each time.
// Correlations are kept apart, "{i}" in texts becomes the turn from 0, and an event with
// "onlyIn":[turns] or "every":K (turns K-1, 2K-1, ...) exists in those turns alone.
// Repeats do not nest.
//
// Further lines: {"kind":"process",...}, {"kind":"hole","startNs":,"durationNs":,"reason":},
// {"kind":"health","lostRecords":N,"cutShort":true}, {"kind":"environment","key":"value",...}.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/trace.h"

namespace stallscope {

/// The event as one JSON object without a line break. Invalid UTF-8 becomes U+FFFD.
std::string event_line(const Trace& trace, EventId id);

/// Lines that state what is not an event: processes, holes, lost records, environment.
/// Each ends in a line break. They come before the events of a complete dump.
std::string header_lines(const Trace& trace);

struct EventLineOptions {
  std::string file;             ///< for error messages
  bool skip_bad_lines = false;  ///< count them in health.repairs instead of failing
};

/// Reads event lines into a finished Trace. A bad line is an error with its number; a cut last
/// line (no line break, not JSON) is a counted repair and sets health.cut_short.
Result<Trace> read_event_lines(std::string_view text, const EventLineOptions& options = {});

}  // namespace stallscope
