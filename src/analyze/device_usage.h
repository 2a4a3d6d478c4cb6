// DeviceUsage: when a device was busy with what, as three nested unions.
#pragma once

#include "analyze/process_index.h"
#include "analyze/summary.h"

namespace stallscope {

enum class Activity : uint8_t { compute, communication, copy };

/// Kernels of a collective library and collectives are communication; copies and memsets are
/// copy; other kernels and graphs are compute.
Activity activity_of(const Trace& trace, EventId id, const std::vector<bool>& collective_name);

/// By StringId: does the name belong to a collective kernel? Filled for names of kernels only.
std::vector<bool> collective_names(const Trace& trace);

struct DeviceUsage {
  Intervals compute;
  Intervals compute_or_communication;
  Intervals busy;  ///< with instants where an activity of no length ran alone
  GpuTotals totals;
};

/// Unions and totals over everything the device did.
DeviceUsage device_usage(const Trace& trace, const DeviceWork& work,
                         const std::vector<bool>& collective_name);

}  // namespace stallscope
