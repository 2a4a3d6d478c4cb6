// Collectives over a Region, for threads and for processes of one machine.
//
// A call is a series of turns. In each, a rank writes its part to its slot,
// publishes the turn's number and waits until the others have published theirs;
// then all read. The two buffers of a slot alternate: a rank that publishes turn
// n+1 has finished reading turn n, so nobody writes what another still reads,
// and one wait per turn is enough.
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "comm/communicator.h"
#include "comm/reduce.h"
#include "comm/region.h"

namespace stallscope::comm {
namespace {

// A collective of nothing may be called with no buffer.
void copy_bytes(void* to, const void* from, size_t bytes) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// About 20 us of polling: longer than an exchange between running ranks takes,
// short enough not to steal a core from the rank that is waited for.
constexpr int kSpins = 400;
// Then the core is offered to others, still polling: a rank that sleeps is woken on the core of the
// one that wakes it, and two ranks that take turns on one core are tens of times slower. A runnable
// rank is moved to a core that has nothing to do.
constexpr std::chrono::microseconds kYielding{200};
// How often a sleeping rank looks whether the one it waits for still lives.
constexpr milliseconds kLookInterval{20};

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

uint64_t tag_of(Collective collective, size_t bytes) {
  return (static_cast<uint64_t>(collective) + 1) << 56 | bytes;
}

std::string describe(uint64_t tag) {
  const auto collective = static_cast<Collective>((tag >> 56) - 1);
  return std::string(to_string(collective)) + " of " + std::to_string(tag & ((1ULL << 56) - 1)) +
         " bytes";
}

class SharedMemory final : public Communicator {
 public:
  SharedMemory(std::string group, int rank, int size, std::shared_ptr<Region> region,
               milliseconds timeout)
      : Communicator(std::move(group), rank, size),
        region_(std::move(region)),
        timeout_(timeout),
        spins_(std::thread::hardware_concurrency() >= static_cast<unsigned>(size) ? kSpins : 0) {}

  Status barrier() override {
    return exchange(
        Collective::barrier, 0, 0, 1, [](unsigned char*, size_t, size_t) {},
        [](int, const unsigned char*, size_t, size_t) {});
  }

  Result<std::unique_ptr<Communicator>> split(int colour) override {
    std::vector<int32_t> colours(static_cast<size_t>(size()));
    if (Status s = all_gather<int32_t>(std::span<const int32_t>(&colour, 1), colours); !s.ok())
      return s.error();
    const auto leader = std::ranges::find(colours, colour);
    const auto new_rank = static_cast<int>(std::count(leader, colours.begin() + rank(), colour));
    const auto new_size = static_cast<int>(std::ranges::count(colours, colour));
    const std::string name =
        group() + "-" + std::to_string(++splits_) + "-" + std::to_string(colour);
    if (region_->between_processes())
      return make_shared_memory(
          {.name = name, .rank = new_rank, .size = new_size, .timeout = timeout_});
    // Threads hand the leader's region on by its address.
    std::shared_ptr<Region> region;
    if (new_rank == 0) region = Region::anonymous(new_size);
    std::vector<int64_t> places(colours.size());
    const auto place = reinterpret_cast<int64_t>(&region);
    if (Status s = all_gather<int64_t>(std::span<const int64_t>(&place, 1), places); !s.ok())
      return s.error();
    const int64_t first = places[static_cast<size_t>(leader - colours.begin())];
    std::shared_ptr<Region> shared = *reinterpret_cast<std::shared_ptr<Region>*>(first);
    if (Status s = barrier(); !s.ok()) return s.error();
    return std::unique_ptr<Communicator>(
        std::make_unique<SharedMemory>(name, new_rank, new_size, std::move(shared), timeout_));
  }

 protected:
  Status do_all_reduce(void* data, size_t count, DataType type, ReduceOp op) override {
    auto* bytes = static_cast<unsigned char*>(data);
    return exchange(
        Collective::all_reduce, count * size_of(type), count * size_of(type), 1,
        [&](unsigned char* slot, size_t at, size_t n) { copy_bytes(slot, bytes + at, n); },
        [&](int r, const unsigned char* slot, size_t at, size_t n) {
          add_part(bytes + at, r, slot, n, type, op);
        });
  }

  Status do_reduce_scatter(const void* in, void* out, size_t count, DataType type,
                           ReduceOp op) override {
    const size_t part = count * size_of(type);
    const auto* from = static_cast<const unsigned char*>(in);
    auto* to = static_cast<unsigned char*>(out);
    const auto parts = static_cast<size_t>(size());
    return exchange(
        Collective::reduce_scatter, part * parts, part, parts,
        [&](unsigned char* slot, size_t at, size_t n) {
          for (size_t p = 0; p < parts; ++p) copy_bytes(slot + p * n, from + p * part + at, n);
        },
        [&](int r, const unsigned char* slot, size_t at, size_t n) {
          accumulate(to + at, r, slot + static_cast<size_t>(rank()) * n, n, type, op);
        });
  }

  Status do_all_gather(const void* in, void* out, size_t bytes) override {
    const auto* from = static_cast<const unsigned char*>(in);
    auto* to = static_cast<unsigned char*>(out);
    return exchange(
        Collective::all_gather, bytes, bytes, 1,
        [&](unsigned char* slot, size_t at, size_t n) { copy_bytes(slot, from + at, n); },
        [&](int r, const unsigned char* slot, size_t at, size_t n) {
          copy_bytes(to + static_cast<size_t>(r) * bytes + at, slot, n);
        });
  }

  Status do_broadcast(void* data, size_t bytes, int root) override {
    auto* all = static_cast<unsigned char*>(data);
    return exchange(
        Collective::broadcast, bytes, bytes, 1,
        [&](unsigned char* slot, size_t at, size_t n) {
          if (rank() == root) copy_bytes(slot, all + at, n);
        },
        [&](int r, const unsigned char* slot, size_t at, size_t n) {
          if (r == root && rank() != root) copy_bytes(all + at, slot, n);
        });
  }

 private:
  // The same onto the own part, which the first two ranks need not read back.
  void add_part(unsigned char* own, int r, const unsigned char* part, size_t bytes, DataType type,
                ReduceOp op) const {
    if (rank() > 1) return accumulate(own, r, part, bytes, type, op);
    if (r == rank()) return;
    const bool is_first = rank() == 1 && r == 0;
    reduce_into(own, is_first ? part : own, is_first ? own : part, bytes / size_of(type), type, op);
  }

  // Rank 0's part is copied, the others' are added in rank order.
  static void accumulate(unsigned char* into, int r, const unsigned char* part, size_t bytes,
                         DataType type, ReduceOp op) {
    if (r == 0) {
      copy_bytes(into, part, bytes);
    } else {
      reduce_into(into, into, part, bytes / size_of(type), type, op);
    }
  }

  // Turns over [0, bytes): `write(slot, at, n)` puts `parts` pieces of n bytes each into the own
  // slot, `read(rank, slot, at, n)` is called for every rank in order once all have written.
  template <typename Write, typename Read>
  Status exchange(Collective collective, size_t call_bytes, size_t bytes, size_t parts, Write write,
                  Read read) {
    // Whole cache lines per piece, so that no element is split between turns.
    const size_t step = std::max<size_t>(kChunkBytes / parts / 64 * 64, 64);
    const uint64_t tag = tag_of(collective, call_bytes);
    for (size_t at = 0; at == 0 || at < bytes; at += step) {
      const size_t n = std::min(step, bytes - at);
      ++turn_;
      const size_t buffer = turn_ & 1;
      Slot& own = region_->slot(rank());
      write(own.data[buffer], at, n);
      own.tag[buffer] = tag;
      publish(own);
      for (int r = 0; r < size(); ++r) {
        if (Status status = wait_for(r, collective); !status.ok()) return status;
        Slot& slot = region_->slot(r);
        if (slot.tag[buffer] != tag) return mismatch(r, tag, slot.tag[buffer]);
        read(r, slot.data[buffer], at, n);
      }
    }
    return ok_status();
  }

  void publish(Slot& own) {
    own.sequence.store(turn_);  // seq_cst: ordered before the load of waiters
    if (own.waiters.load() != 0) futex_wake_all(own.sequence);
  }

  // Sequence numbers wrap: compare by difference.
  bool published(const Slot& slot) const {
    return static_cast<int32_t>(slot.sequence.load(std::memory_order_acquire) - turn_) >= 0;
  }

  Status wait_for(int r, Collective collective) {
    Slot& slot = region_->slot(r);
    if (published(slot)) return ok_status();
    for (int spin = 0; spin < spins_; ++spin) {
      pause_cpu();
      if (published(slot)) return ok_status();
    }
    const auto start = steady_clock::now(), deadline = start + timeout_;
    while (spins_ > 0 && steady_clock::now() - start < kYielding) {
      sched_yield();
      if (published(slot)) return ok_status();
    }
    while (true) {
      slot.waiters.fetch_add(1);
      const uint32_t seen = slot.sequence.load();
      if (!published(slot)) futex_wait(slot.sequence, seen, kLookInterval);
      slot.waiters.fetch_sub(1);
      if (published(slot)) return ok_status();
      // Looked at again after the check for life: a rank may publish and end.
      const bool alive =
          !region_->between_processes() || process_alive(slot.pid.load(), slot.birth.load());
      if (published(slot)) return ok_status();
      if (!alive) return missing(r, collective, "has ended");
      if (steady_clock::now() > deadline) {
        return missing(r, collective,
                       "did not arrive within " + std::to_string(timeout_.count()) + " ms");
      }
    }
  }

  Error missing(int r, Collective collective, const std::string& what) {
    const int32_t pid = region_->slot(r).pid.load();
    return Error{.message = std::string(to_string(collective)) + " on group " + group() +
                            ": rank " + std::to_string(r) +
                            (pid != 0 ? " (pid " + std::to_string(pid) + ")" : "") + " " + what,
                 .remedy = "look at that rank's output first"};
  }

  Error mismatch(int r, uint64_t own, uint64_t other) const {
    return Error{.message = "group " + group() + ": rank " + std::to_string(rank()) + " calls " +
                            describe(own) + " while rank " + std::to_string(r) + " calls " +
                            describe(other),
                 .remedy = "call the same collectives in the same order on every rank"};
  }

  std::shared_ptr<Region> region_;
  milliseconds timeout_;
  int spins_;
  uint32_t turn_ = 0;
  int splits_ = 0;
};

bool valid_name(const std::string& name) {
  return !name.empty() && name.size() < 200 &&
         std::ranges::all_of(
             name, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> make_thread_group(int size, const std::string& group,
                                                             milliseconds timeout) {
  auto region = Region::anonymous(size);
  std::vector<std::unique_ptr<Communicator>> ends;
  for (int r = 0; r < size; ++r)
    ends.push_back(std::make_unique<SharedMemory>(group, r, size, region, timeout));
  return ends;
}

Result<std::unique_ptr<Communicator>> make_shared_memory(const SharedMemoryOptions& options) {
  if (!valid_name(options.name))
    return Error{.message = "bad group name '" + options.name + "'",
                 .remedy = "use letters, digits, '-' and '_'"};
  if (options.size < 1 || options.size > kMaxRanks || options.rank < 0 ||
      options.rank >= options.size) {
    return Error{.message = "no rank " + std::to_string(options.rank) + " in a group of " +
                            std::to_string(options.size)};
  }
  auto region =
      Region::shared(kRegionPrefix + options.name, options.rank, options.size, options.timeout);
  if (!region.ok()) return region.error();
  return std::unique_ptr<Communicator>(std::make_unique<SharedMemory>(
      options.name, options.rank, options.size, std::move(*region), options.timeout));
}

}  // namespace stallscope::comm
