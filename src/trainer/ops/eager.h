// Single operations that a program launches itself, outside any Program: what a
// user writes between the layers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/device/device.h"

namespace stallscope::trainer {

/// target += source, on the device.
void accumulate(Stream& stream, float* target, const float* source, size_t count);

/// Copies the first element to the host: waits for everything queued before.
float item(Stream& stream, const float* value);
inline float item(Device& device, const Buffer<float>& buffer) {
  return item(device.stream(), buffer.data());
}

}  // namespace stallscope::trainer
