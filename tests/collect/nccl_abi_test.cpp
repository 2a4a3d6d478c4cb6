#include "collect/nccl_abi.h"

#include <doctest/doctest.h>

#include <cstddef>

using namespace stallscope::nccl;

namespace {

// Offsets within an event descriptor, as the compiler lays out NCCL's public
// headers plugins/profiler/example/nccl/profiler_v1.h to profiler_v5.h.
struct Layout {
  int version;
  size_t sequence, function, count, root, data_type, channels, algorithm, protocol;
  size_t p2p_function, p2p_data_type, p2p_count, p2p_peer;
  bool operator==(const Layout&) const = default;
};

template <typename Descriptor, typename Collective, typename PointToPoint>
Layout layout_of(int version, size_t channels) {
  const size_t base = offsetof(Descriptor, collective);
  return {version,
          base + offsetof(Collective, sequence),
          base + offsetof(Collective, function),
          base + offsetof(Collective, count),
          base + offsetof(Collective, root),
          base + offsetof(Collective, data_type),
          base + channels,
          base + offsetof(Collective, algorithm),
          base + offsetof(Collective, protocol),
          base + offsetof(PointToPoint, function),
          base + offsetof(PointToPoint, data_type),
          base + offsetof(PointToPoint, count),
          base + offsetof(PointToPoint, peer)};
}

}  // namespace

TEST_CASE("event descriptors are laid out as NCCL's public headers lay them out") {
  CHECK(layout_of<EventDescriptorV1, CollectiveV1, PointToPointV1>(
            1, offsetof(CollectiveV1, max_channels)) ==
        Layout{1, 40, 48, 72, 80, 84, 104, 106, 107, 40, 56, 64, 72});
  CHECK(layout_of<EventDescriptorV2, CollectiveV2, PointToPointV2>(
            2, offsetof(CollectiveV2, max_channels)) ==
        Layout{2, 40, 48, 72, 80, 88, 104, 112, 120, 40, 56, 64, 72});
  CHECK(layout_of<EventDescriptorV3, CollectiveV3, PointToPointV3>(
            3, offsetof(CollectiveV3, max_channels)) ==
        Layout{3, 40, 48, 72, 80, 88, 96, 104, 112, 40, 56, 64, 72});
  CHECK(layout_of<EventDescriptorV4, CollectiveV4, PointToPointV4>(
            4, offsetof(CollectiveV4, channels)) ==
        Layout{4, 24, 32, 56, 64, 72, 80, 88, 96, 24, 40, 48, 56});
  CHECK(layout_of<EventDescriptorV5, CollectiveV5, PointToPointV5>(
            5, offsetof(CollectiveV5, channels)) ==
        Layout{5, 24, 32, 56, 64, 72, 80, 88, 96, 24, 40, 48, 56});
  CHECK(offsetof(EventDescriptorV5, rank) == 16);
  // The same for proxies in all versions.
  CHECK(offsetof(EventDescriptorV1, proxy_op) == 24);
  CHECK(offsetof(ProxyOp, pid) == 0);
  CHECK(offsetof(ProxyOp, channel) == 4);
  CHECK(offsetof(ProxyOp, peer) == 8);
  CHECK(offsetof(ProxyOp, steps) == 12);
  CHECK(offsetof(ProxyOp, chunk_bytes) == 16);
  CHECK(offsetof(ProxyOp, is_send) == 20);
}
