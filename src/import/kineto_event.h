// One event of a Chrome trace as its JSON object says it, before anything is
// made of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "import/json_repair.h"

namespace stallscope {

/// The arguments of events that mean something to us; every other one is passed over.
enum class Arg : uint8_t {
  correlation,
  external_id,
  device,
  device_id,
  device_type,
  stream,
  bytes,
  grid,
  block,
  graph,
  graph_node,
  sync_kind,
  wait_stream,
  wait_record,
  wait_event,
  event_id,
  collective,
  in_elements,
  out_elements,
  data_type,
  group_size,
  group_name,
  group_id,
  group_ranks,
  rank_start,
  rank_stride,
  sequence,
  peer_source,
  peer_target,
  is_async,
  sequence_nr,
  forward_thread,
  input_dims,
  input_types,
  address,
  total_allocated,
  name,
  labels,
  call_stack,
  memcpy_details,
  hlo_op,
  tf_op,
  source,
  step_number,
  direction,
  value,  ///< first numeric argument of a counter, whatever its name
  count_,
};
inline constexpr size_t kArgs = static_cast<size_t>(Arg::count_);

/// The Arg called `key` in any of its spellings.
std::optional<Arg> find_arg(std::string_view key);

/// Texts are views into the batch being read: valid only while it is handled.
/// Numbers stay text until they are wanted, so that none passes through a double.
struct RawEvent {
  char phase = '\0';
  std::string_view name, category, timestamp, duration, process, thread, id;
  bool process_is_text = false, thread_is_text = false;
  uint64_t present = 0;                      ///< bit per Arg
  std::array<std::string_view, kArgs> args;  ///< those not present are left from earlier events

  void reset() {
    phase = '\0';
    name = category = timestamp = duration = process = thread = id = {};
    process_is_text = thread_is_text = false;
    present = 0;
  }

  bool has(Arg arg) const { return (present >> static_cast<unsigned>(arg) & 1U) != 0; }
  std::string_view text(Arg arg) const {
    return has(arg) ? args[static_cast<size_t>(arg)] : std::string_view{};
  }
  void set(Arg arg, std::string_view value) {
    args[static_cast<size_t>(arg)] = value;
    present |= uint64_t{1} << static_cast<unsigned>(arg);
  }
  /// An integer argument; one beyond 64 bits is unknown and counted in `repairs`.
  std::optional<int64_t> integer(Arg arg, Repairs& repairs) const;
};
static_assert(kArgs <= 64);

}  // namespace stallscope
