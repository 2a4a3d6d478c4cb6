// How long work takes on the modelled device of the timed mode.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace stallscope::trainer {

/// What a kernel does, for its modelled duration and for the roofline.
struct Work {
  double flops = 0;
  double bytes = 0;  ///< read and written
};

/// The modelled device: slow enough that two ranks of small models do their real
/// maths within the modelled time on two cores, with the proportions of a real one
/// (a launch is much cheaper than a kernel, pageable copies run at a third of
/// pinned ones, a collective has a latency and a rate).
struct TimingModel {
  double flops_per_second = 2.0e9;
  double bytes_per_second = 4.0e9;
  Ns kernel_floor = 60'000;
  double pinned_bytes_per_second = 600e6;
  double pageable_bytes_per_second = 200e6;
  Ns copy_floor = 40'000;
  double collective_bytes_per_second = 200e6;
  Ns collective_floor = 120'000;
  Ns allocation = 300'000;

  Ns kernel(const Work& work) const {
    const double busy = std::max(work.flops / flops_per_second, work.bytes / bytes_per_second);
    return kernel_floor + static_cast<Ns>(busy * 1e9);
  }
  Ns copy(Bytes bytes, bool pageable) const {
    const double rate = pageable ? pageable_bytes_per_second : pinned_bytes_per_second;
    return copy_floor + static_cast<Ns>(static_cast<double>(bytes) / rate * 1e9);
  }
  Ns collective(Bytes bytes) const {
    return collective_floor +
           static_cast<Ns>(static_cast<double>(bytes) / collective_bytes_per_second * 1e9);
  }
};

/// The same device with slow links: a layer's gradients take as long as its backward pass.
inline TimingModel slow_links() {
  TimingModel model;
  model.collective_bytes_per_second /= 20;
  return model;
}

/// A device whose memory is slow beside its arithmetic: element-wise kernels take the time.
inline TimingModel slow_memory() {
  TimingModel model;
  model.flops_per_second *= 4;
  model.bytes_per_second /= 16;
  return model;
}

/// Nanoseconds of the monotonic clock.
Ns now_ns();
/// Sleeps, without spinning, until the monotonic clock shows `until`.
void sleep_until_ns(Ns until);

}  // namespace stallscope::trainer
