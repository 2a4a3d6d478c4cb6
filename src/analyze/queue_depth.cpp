#include "analyze/queue_depth.h"

#include <algorithm>

namespace stallscope {
namespace {

constexpr Ns kBuckets = 200;  // as fine as a chart shows

}  // namespace

QueueDepth queue_depth(const Trace& trace, const DeviceWork& work) {
  QueueDepth queue;
  std::vector<Ns> starts, ends;
  for (size_t i = 0; i < work.activities.size(); ++i) {
    if (work.launches[i] == kNoEvent) continue;
    const Ns end = trace.end(work.activities[i]);
    // Clocks of host and device differ a little: no work ends before its call began.
    starts.push_back(std::min(trace.starts()[work.launches[i]], end));
    ends.push_back(end);
  }
  if (starts.empty()) return queue;
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  const Ns length = std::max<Ns>(ends.back() - starts.front(), 1);
  queue.start = starts.front();
  queue.bucket = (length + kBuckets - 1) / kBuckets;
  queue.depth.assign(static_cast<size_t>((length + queue.bucket - 1) / queue.bucket), 0);
  double area = 0;
  int64_t depth = 0;
  Ns at = starts.front();
  const auto advance = [&](Ns to) {
    area += static_cast<double>(depth) * static_cast<double>(to - at);
    while (at < to) {
      const auto slot = std::min<size_t>(static_cast<size_t>((at - queue.start) / queue.bucket),
                                         queue.depth.size() - 1);
      const Ns stop = std::min(to, queue.start + static_cast<Ns>(slot + 1) * queue.bucket);
      queue.depth[slot] += static_cast<double>(depth) * static_cast<double>(stop - at) /
                           static_cast<double>(queue.bucket);
      if (stop <= at) break;  // the last bucket reaches a little beyond the end
      at = stop;
    }
    at = to;
  };
  for (size_t s = 0, e = 0; e < ends.size();) {
    if (s < starts.size() && starts[s] < ends[e]) {
      advance(starts[s++]);
      ++depth;
      queue.maximum = std::max(queue.maximum, static_cast<uint32_t>(depth));
    } else {
      advance(ends[e++]);
      --depth;
    }
  }
  queue.mean = area / static_cast<double>(length);
  return queue;
}

}  // namespace stallscope
