#include "import/kineto_event.h"

#include <array>
#include <utility>

#include "import/decimal_time.h"

namespace stallscope {
namespace {

// Spellings of PyTorch 1.8 to 2.x, of its ROCm builds, and of the XLA profiler.
constexpr std::pair<std::string_view, Arg> kNames[] = {
    {"correlation", Arg::correlation},
    {"correlation_id", Arg::correlation},
    {"External id", Arg::external_id},
    {"external id", Arg::external_id},
    {"External Id", Arg::external_id},
    {"device", Arg::device},
    {"Device Id", Arg::device_id},
    {"device_id", Arg::device_id},
    {"Device Type", Arg::device_type},
    {"stream", Arg::stream},
    {"bytes", Arg::bytes},
    {"Bytes", Arg::bytes},
    {"grid", Arg::grid},
    {"block", Arg::block},
    {"graph id", Arg::graph},
    {"graph node id", Arg::graph_node},
    {"cuda_sync_kind", Arg::sync_kind},
    {"hip_sync_kind", Arg::sync_kind},
    {"wait_on_stream", Arg::wait_stream},
    {"wait_on_cuda_event_record_corr_id", Arg::wait_record},
    {"wait_on_hip_event_record_corr_id", Arg::wait_record},
    {"wait_on_cuda_event_id", Arg::wait_event},
    {"wait_on_hip_event_id", Arg::wait_event},
    {"event_id", Arg::event_id},
    {"cuda_event_id", Arg::event_id},
    {"Collective name", Arg::collective},
    {"In msg nelems", Arg::in_elements},
    {"Out msg nelems", Arg::out_elements},
    {"dtype", Arg::data_type},
    {"Group size", Arg::group_size},
    {"Process Group Name", Arg::group_name},
    {"Process Group ID", Arg::group_id},
    {"Process Group Ranks", Arg::group_ranks},
    {"Global rank start", Arg::rank_start},
    {"Global rank stride", Arg::rank_stride},
    {"Seq", Arg::sequence},
    {"Src Rank", Arg::peer_source},
    {"Dst Rank", Arg::peer_target},
    {"Is asynchronized op", Arg::is_async},
    {"IsAsynchronizedOp", Arg::is_async},
    {"async_op", Arg::is_async},
    {"Sequence number", Arg::sequence_nr},
    {"Fwd thread id", Arg::forward_thread},
    {"Input Dims", Arg::input_dims},
    {"Input dims", Arg::input_dims},
    {"Input type", Arg::input_types},
    {"Addr", Arg::address},
    {"Total Allocated", Arg::total_allocated},
    {"name", Arg::name},
    {"labels", Arg::labels},
    {"Call stack", Arg::call_stack},
    {"memcpy_details", Arg::memcpy_details},
    {"hlo_op", Arg::hlo_op},
    {"tf_op", Arg::tf_op},
    {"source", Arg::source},
    {"step_num", Arg::step_number},
    {"direction", Arg::direction},
    {"size", Arg::bytes},
};

// One slot per (length, first, last) keeps the common case at one comparison.
constexpr size_t kSlots = 1024;
constexpr size_t slot_of(std::string_view key) {
  const auto first = static_cast<unsigned char>(key.front());
  const auto last = static_cast<unsigned char>(key.back());
  return (key.size() * 37 + first * 5 + last * 11) % kSlots;
}

struct Table {
  std::array<uint8_t, kSlots> slots{};  // 1 + index into kNames
};
constexpr Table make_table() {
  Table table;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    size_t slot = slot_of(kNames[i].first);
    while (table.slots[slot] != 0) slot = (slot + 1) % kSlots;
    table.slots[slot] = static_cast<uint8_t>(i + 1);
  }
  return table;
}
constexpr Table kTable = make_table();

}  // namespace

std::optional<Arg> find_arg(std::string_view key) {
  if (key.empty()) return std::nullopt;
  for (size_t slot = slot_of(key); kTable.slots[slot] != 0; slot = (slot + 1) % kSlots) {
    const auto& [name, arg] = kNames[kTable.slots[slot] - 1];
    if (name == key) return arg;
  }
  return std::nullopt;
}

std::optional<int64_t> RawEvent::integer(Arg arg, Repairs& repairs) const {
  const std::string_view digits = text(arg);
  if (digits.empty()) return std::nullopt;
  if (std::optional<int64_t> value = parse_integer(digits)) return value;
  const char last =
      digits.back() <= ' ' && digits.size() > 1 ? digits[digits.size() - 2] : digits.back();
  if (last >= '0' && last <= '9' && digits.size() > 18) ++repairs[kRepairBigInteger];
  return std::nullopt;
}

}  // namespace stallscope
