// Collectives as device work: enqueued on a stream, executed in its order.
#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "trainer/device/device.h"

namespace stallscope::trainer {

/// A communicator used from one device. All its collectives must be enqueued in
/// the same order on every rank, from one host thread.
class Group {
 public:
  Group(comm::Communicator& communicator, Device& device)
      : communicator_(communicator), device_(device) {}
  int rank() const { return communicator_.rank(); }
  int size() const { return communicator_.size(); }

  template <typename T>
  void all_reduce(Stream& stream, T* data, size_t count, comm::ReduceOp op = comm::ReduceOp::sum) {
    enqueue<T>(stream, comm::Collective::all_reduce, count, -1, [this, data, count, op] {
      return communicator_.all_reduce(std::span<T>(data, count), op);
    });
  }
  /// `out` holds count / size elements.
  template <typename T>
  void reduce_scatter(Stream& stream, const T* in, T* out, size_t count) {
    const size_t part = count / static_cast<size_t>(size());
    enqueue<T>(stream, comm::Collective::reduce_scatter, count, -1, [this, in, out, count, part] {
      return communicator_.reduce_scatter(std::span<const T>(in, count), std::span<T>(out, part));
    });
  }
  /// `out` holds count * size elements.
  template <typename T>
  void all_gather(Stream& stream, const T* in, T* out, size_t count) {
    const size_t total = count * static_cast<size_t>(size());
    enqueue<T>(stream, comm::Collective::all_gather, total, -1, [this, in, out, count, total] {
      return communicator_.all_gather(std::span<const T>(in, count), std::span<T>(out, total));
    });
  }
  template <typename T>
  void broadcast(Stream& stream, T* data, size_t count, int root) {
    enqueue<T>(stream, comm::Collective::broadcast, count, root, [this, data, count, root] {
      return communicator_.broadcast(std::span<T>(data, count), root);
    });
  }

 private:
  using Call = comm::Collective;
  template <typename T, typename F>
  void enqueue(Stream& stream, Call call, size_t elements, int peer, F body) {
    if (size() == 1) return;
    start(stream, call, comm::DataTypeOf<T>::value, elements, peer, Operation(std::move(body)));
  }

  /// A collective's body: like Task, but with a result.
  class Operation {
   public:
    template <typename F>
    explicit Operation(F body) {
      static_assert(sizeof(F) <= sizeof(room_) && std::is_trivially_copyable_v<F>);
      new (room_) F(body);
      run_ = [](void* self) { return (*static_cast<F*>(self))(); };
    }
    Status operator()() { return run_(room_); }

   private:
    alignas(8) unsigned char room_[56];
    Status (*run_)(void*);
  };
  void start(Stream& stream, Call call, comm::DataType type, size_t elements, int peer,
             Operation operation);

  comm::Communicator& communicator_;
  Device& device_;
  uint64_t sequence_ = 0;
};

}  // namespace stallscope::trainer
