#include "analyze/device_usage.h"

namespace stallscope {

std::vector<bool> collective_names(const Trace& trace) {
  std::vector<bool> known(trace.strings.size(), false), collective(trace.strings.size(), false);
  for (EventId id = 0; id < trace.size(); ++id) {
    const StringId name = trace.names()[id];
    if (trace.kinds()[id] != EventKind::kernel || known[name]) continue;
    known[name] = true;
    collective[name] = is_collective_kernel(trace.text(name));
  }
  return collective;
}

Activity activity_of(const Trace& trace, EventId id, const std::vector<bool>& collective_name) {
  switch (trace.kinds()[id]) {
    case EventKind::kernel:
      return collective_name[trace.names()[id]] ? Activity::communication : Activity::compute;
    case EventKind::collective:
      return Activity::communication;
    case EventKind::memcpy:
    case EventKind::memset:
      return Activity::copy;
    default:
      return Activity::compute;
  }
}

DeviceUsage device_usage(const Trace& trace, const DeviceWork& work,
                         const std::vector<bool>& collective_name) {
  UnionBuilder compute, communication, copy, either, busy;
  GpuTotals totals;
  Ns last_end = 0;
  for (EventId id : work.activities) {
    const Ns start = trace.starts()[id], end = trace.end(id);
    last_end = id == work.activities.front() ? end : std::max(last_end, end);
    busy.add_even_empty(start, end);
    const EventKind kind = trace.kinds()[id];
    switch (activity_of(trace, id, collective_name)) {
      case Activity::compute:
        compute.add(start, end);
        either.add(start, end);
        totals.kernels += kind == EventKind::kernel;
        break;
      case Activity::communication:
        communication.add(start, end);
        either.add(start, end);
        ++totals.kernels;
        ++totals.collective_kernels;
        break;
      case Activity::copy:
        copy.add(start, end);
        break;
    }
  }
  DeviceUsage usage;
  if (!work.activities.empty()) totals.window = last_end - trace.starts()[work.activities.front()];
  usage.compute = compute.take();
  usage.compute_or_communication = either.take();
  usage.busy = busy.take();
  totals.busy = measure(usage.busy);
  totals.compute = measure(usage.compute);
  totals.communication = measure(communication.so_far());
  totals.exposed_communication = measure(usage.compute_or_communication) - totals.compute;
  totals.copy = measure(copy.so_far());
  usage.totals = totals;
  return usage;
}

}  // namespace stallscope
