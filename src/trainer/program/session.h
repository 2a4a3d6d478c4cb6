// Session: a Program with memory and values on a device. Runs sections by
// launching their ops; everything is asynchronous until the host reads something.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trainer/device/collectives.h"
#include "trainer/device/device.h"
#include "trainer/ops/ops.h"
#include "trainer/products/library.h"
#include "trainer/program/program.h"

namespace stallscope::trainer {

struct AdamOptions {
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0.01;
};

template <typename T>
class Session {
 public:
  /// Allocates the arenas and sets every parameter to its initial value (from `seed`).
  /// `group` carries the program's collectives; null for a group of one. With `library`, matrix
  /// products run there (floats only); what it cannot do fails the device. `replicas` carries
  /// the sums over data-parallel replicas.
  Session(Program program, Device& device, Group* group, uint64_t seed,
          const ProductLibrary* library = nullptr, Group* replicas = nullptr);

  /// Waits for what is still running.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Device& device() { return device_; }
  Stream& stream() { return device_.stream(); }
  /// The stream beside computation, for collectives.
  Stream& communication_stream() { return communication_; }
  const Program& program() const { return program_; }

  /// Launches the ops of one section. The name must be one of the program's.
  void run(std::string_view section);
  /// Launches every section whose name does not end in ".backward" and is not "optimizer".
  void forward();
  /// Launches every backward section; gradients are summed over ranks only in the last of several
  /// passes.
  void backward(bool is_last_pass = true);
  /// Launches the AdamW update.
  void optimizer_step(const AdamOptions& options);

  /// Launches the copies of weights that a lowered program keeps: after writing parameters.
  void parameters_changed();

  /// A product as the program runs it, alone and repeated, with its operands in place.
  struct ProductRate {
    std::string name;
    uint32_t per_step = 0;
    uint32_t again = 0;  ///< of these, repeated to save memory
    double flops = 0;    ///< of one
    double best_ns = 0;
  };
  /// Measures every distinct product of a lowered program, `repeats` times or for 5 ms, whatever is
  /// longer; what the program holds is lost.
  std::vector<ProductRate> measure_products(int repeats);

  /// Runs the forward pass op by op and names the first tensor with a value that is no number, as
  /// "step N, layer.1: layer.1.mlp.up"; empty when all are finite. Collective: every rank calls it.
  std::string first_non_finite();

  /// Updates done so far; both moments of a parameter.
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }
  T* first_moment(TensorId parameter) const {
    return first_moments_.data() + program_.tensor(parameter).offset;
  }
  T* second_moment(TensorId parameter) const {
    return second_moments_.data() + program_.tensor(parameter).offset;
  }

  /// The first element of a real tensor, on the host: waits for everything queued before.
  T item(std::string_view name);

  /// Where a real tensor lies on the device.
  T* data(TensorId id) const { return bindings_.real[id]; }
  T* data(std::string_view name) const { return bindings_.real[program_.find(name)]; }
  int32_t* index_data(std::string_view name) const { return bindings_.index[program_.find(name)]; }
  size_t size(std::string_view name) const { return program_.tensor(program_.find(name)).size(); }
  /// All gradients, one after another.
  T* gradients() const { return gradients_.data(); }
  size_t gradient_elements() const { return gradients_.size(); }
  /// One span per parameter's gradient.
  std::span<const std::span<T>> gradient_list() const { return gradient_list_; }
  /// The gradients of every parameter whose name starts with `prefix`; they lie together.
  std::span<T> gradients_of(std::string_view prefix) const;

 private:
  void launch(const Op& op);
  void launch_collective(const Op& op, Stream& stream);
  void prepare(const ProductLibrary& library);
  Result<std::unique_ptr<Prepared>> prepare(const ProductLibrary& library, const Op& op) const;
  void launch_adamw(const Op& op, const AdamOptions& options);
  void initialize(uint64_t seed);
  Stream& stream_of(const Op& op) {
    return op.stream == StreamRole::compute ? device_.stream() : communication_;
  }

  Program program_;
  Device& device_;
  Group *group_, *replicas_;
  Stream& communication_;
  Buffer<T> parameters_, gradients_, first_moments_, second_moments_, activations_, inputs_,
      constants_, scratch_;
  Buffer<uint16_t> half_parameters_, piece_halves_;
  Bindings<T> bindings_;
  std::vector<std::optional<Event>> events_;  ///< of ops that another stream waits for
  std::vector<Work> work_;
  std::vector<std::unique_ptr<Prepared>> prepared_;  ///< by op; null: our own kernels
  std::vector<std::span<T>> gradient_list_;
  /// All parameters as pieces of a few thousand elements, for one pass over all of them.
  struct Piece {
    size_t offset, count;
    bool decays;
    size_t row = 0, rows = 0;                 ///< of the parameter, where it has copies to make
    std::vector<const Prepared*> packings{};  ///< made of these rows
    bool only_packed = false;                 ///< no product reads the parameter itself in bf16
  };
  void divide_parameters();
  std::vector<Piece> pieces_;
  size_t most_packed_ = 0;  ///< elements of the largest piece that is only packed
  int64_t steps_ = 0;
};

}  // namespace stallscope::trainer
