// Communicator: one rank's end of a group. Every rank calls the same
// collectives in the same order; each call returns when this rank's part is done.
// Reductions add in rank order, so that results are bit-identical on all ranks
// and from run to run.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "comm/types.h"

namespace stallscope::comm {

class Communicator {
 public:
  Communicator(std::string group, int rank, int size)
      : group_(std::move(group)), rank_(rank), size_(size) {}
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// The same on every rank of the group; different for different groups of a run.
  const std::string& group() const { return group_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// data[i] becomes the reduction of every rank's data[i].
  template <typename T>
  Status all_reduce(std::span<T> data, ReduceOp op = ReduceOp::sum) {
    return do_all_reduce(data.data(), data.size(), DataTypeOf<T>::value, op);
  }

  /// `out` becomes this rank's 1/size part of the reduction of every rank's `in`.
  template <typename T>
  Status reduce_scatter(std::span<const T> in, std::span<T> out, ReduceOp op = ReduceOp::sum) {
    if (in.size() != out.size() * static_cast<size_t>(size_)) return wrong_size("reduce_scatter");
    return do_reduce_scatter(in.data(), out.data(), out.size(), DataTypeOf<T>::value, op);
  }

  /// `out` becomes every rank's `in`, in rank order.
  template <typename T>
  Status all_gather(std::span<const T> in, std::span<T> out) {
    if (out.size() != in.size() * static_cast<size_t>(size_)) return wrong_size("all_gather");
    return do_all_gather(in.data(), out.data(), in.size_bytes());
  }

  /// `data` becomes the root's.
  template <typename T>
  Status broadcast(std::span<T> data, int root) {
    if (root < 0 || root >= size_) return wrong_root(root);
    return do_broadcast(data.data(), data.size_bytes(), root);
  }

  /// Returns once every rank has called it.
  virtual Status barrier() = 0;

  /// The group of those ranks that give the same colour, in the order of their ranks. Collective;
  /// the new group must not outlive this one.
  virtual Result<std::unique_ptr<Communicator>> split(int colour) = 0;

 protected:
  virtual Status do_all_reduce(void* data, size_t count, DataType type, ReduceOp op) = 0;
  virtual Status do_reduce_scatter(const void* in, void* out, size_t count, DataType type,
                                   ReduceOp op) = 0;
  virtual Status do_all_gather(const void* in, void* out, size_t bytes) = 0;
  virtual Status do_broadcast(void* data, size_t bytes, int root) = 0;

 private:
  Error wrong_size(std::string_view collective) const;
  Error wrong_root(int root) const;

  std::string group_;
  int rank_;
  int size_;
};

/// The group of one rank.
std::unique_ptr<Communicator> make_single(std::string group = "single");

/// How long a rank waits for another before it gives up and names it.
inline constexpr std::chrono::milliseconds kDefaultTimeout{30'000};

/// A group of threads of this process: element r is rank r's end.
std::vector<std::unique_ptr<Communicator>> make_thread_group(
    int size, const std::string& group = "threads",
    std::chrono::milliseconds timeout = kDefaultTimeout);

/// A group of processes of one machine, over POSIX shared memory.
struct SharedMemoryOptions {
  std::string name;  ///< equal on all ranks, unique to the run: letters, digits, '-', '_'
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout = kDefaultTimeout;
};

/// Waits until all ranks have joined. What a killed run of the same name left is
/// replaced. Errors: a bad name or rank, no shared memory, a rank that does not join.
Result<std::unique_ptr<Communicator>> make_shared_memory(const SharedMemoryOptions& options);

/// The group of all MPI processes, through whichever MPI this build found.
/// Error when built without MPI or when the program was not started by its launcher.
Result<std::unique_ptr<Communicator>> make_mpi();

}  // namespace stallscope::comm
