// What the device announces of each call, in one place.
#pragma once

#include "collect/annotate.h"
#include "trainer/device/device.h"

namespace stallscope::trainer {

using annotate::Scope;

inline stallscope_api api_of(stallscope_api_call call, const Device& device, uint32_t stream,
                             uint32_t correlation = 0, uint32_t event = 0) {
  stallscope_api api;
  api.call = static_cast<uint8_t>(call);
  api.device = static_cast<int16_t>(device.number());
  api.stream = stream;
  api.correlation = correlation;
  api.event = event;
  return api;
}

inline stallscope_sync sync_of(stallscope_sync_kind kind, int device, uint32_t stream,
                               uint32_t correlation, uint32_t event = 0) {
  stallscope_sync sync;
  sync.sync = static_cast<uint8_t>(kind);
  sync.device = static_cast<int16_t>(device);
  sync.stream = stream;
  sync.correlation = correlation;
  sync.event = event;
  return sync;
}

inline stallscope_stream_event stream_event_of(int device, uint32_t stream, uint32_t correlation,
                                               uint32_t event, uint32_t event_record = 0) {
  stallscope_stream_event it;
  it.device = static_cast<int16_t>(device);
  it.stream = stream;
  it.correlation = correlation;
  it.event = event;
  it.event_record = event_record;
  return it;
}

}  // namespace stallscope::trainer
