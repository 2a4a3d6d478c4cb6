#include "trainer/program/session.h"

#include <cmath>

#include "trainer/ops/team.h"
#include "trainer/program/initial_values.h"

namespace stallscope::trainer {
namespace {

size_t arena(const Program& program, Role role) {
  return program.arena_elements[static_cast<size_t>(role)];
}

bool is_backward(std::string_view section) {
  return section.ends_with(".backward");
}

}  // namespace

template <typename T>
Session<T>::Session(Program program, Device& device, Group* group, uint64_t seed)
    : program_(std::move(program)),
      device_(device),
      group_(group),
      communication_(device.create_stream()),
      parameters_(device, arena(program_, Role::parameter)),
      gradients_(device, arena(program_, Role::gradient)),
      first_moments_(device, arena(program_, Role::parameter)),
      second_moments_(device, arena(program_, Role::parameter)),
      activations_(device, arena(program_, Role::activation)),
      inputs_(device, arena(program_, Role::input)),
      constants_(device, arena(program_, Role::constant)),
      events_(program_.ops.size()) {
  bindings_.team = device.options().team;
  T* const bases[] = {parameters_.data(), gradients_.data(), activations_.data(), inputs_.data(),
                      constants_.data()};
  for (const TensorInfo& it : program_.tensors) {
    T* const place = bases[static_cast<size_t>(it.role)] + it.offset;
    const bool real = it.element == Element::real;
    bindings_.real.push_back(real ? place : nullptr);
    bindings_.index.push_back(real ? nullptr : reinterpret_cast<int32_t*>(place));
    if (it.role == Role::gradient) gradient_list_.emplace_back(place, it.size());
  }
  for (const Op& op : program_.ops) {
    work_.push_back(work_of(program_, op, sizeof(T)));
    for (const uint32_t awaited : op.waits) events_[awaited].emplace();
  }
  initialize(seed);
}

template <typename T>
Session<T>::~Session() {
  device_.stream().drain();
  communication_.drain();
}

template <typename T>
void Session<T>::initialize(uint64_t seed) {
  auto clear = [](const Buffer<T>& buffer) { std::fill_n(buffer.data(), buffer.size(), T(0)); };
  for (const auto* buffer : {&parameters_, &gradients_, &first_moments_, &second_moments_,
                             &activations_, &inputs_, &constants_}) {
    clear(*buffer);
  }
  const int rank = group_ == nullptr ? 0 : group_->rank();
  for (const TensorId id : program_.parameters())
    fill_initial(bindings_.real[id], program_.tensor(id), rank, seed);
}

template <typename T>
void Session<T>::launch(const Op& op) {
  Stream& stream = stream_of(op);
  for (const uint32_t awaited : op.waits) stream.wait(*events_[awaited]);
  if (op.kind == OpKind::all_reduce) {
    const auto count = static_cast<size_t>(op.n[0]);
    const comm::ReduceOp reduce = op.n[1] == 0 ? comm::ReduceOp::sum : comm::ReduceOp::max;
    if (program_.tensor(op.in[0]).element == Element::real) {
      group_->all_reduce(stream, bindings_.at(op.in[0]), count, reduce);
    } else {
      group_->all_reduce(stream, bindings_.index_at(op.in[0]), count, reduce);
    }
  } else {
    const size_t index = static_cast<size_t>(&op - program_.ops.data());
    stream.launch(kernel_name(op.kind), work_[index], [&op, this] { run_op<T>(op, bindings_); });
  }
  const size_t index = static_cast<size_t>(&op - program_.ops.data());
  if (events_[index]) stream.record(*events_[index]);
}

template <typename T>
T Session<T>::item(std::string_view name) {
  T value{};
  stream().copy_to_host(&value, data(name), sizeof value);
  return value;
}

template <typename T>
std::span<T> Session<T>::gradients_of(std::string_view prefix) const {
  size_t begin = gradients_.size(), end = 0;
  for (const TensorInfo& it : program_.tensors) {
    if (it.role != Role::gradient || !it.name.starts_with(prefix)) continue;
    begin = std::min(begin, it.offset);
    end = std::max(end, it.offset + it.size());
  }
  return begin < end ? std::span<T>(gradients_.data() + begin, end - begin) : std::span<T>();
}

template <typename T>
void Session<T>::run(std::string_view section) {
  const Section* it = program_.section(section);
  for (uint32_t i = it->first; i < it->last; ++i) launch(program_.ops[i]);
}

template <typename T>
void Session<T>::forward() {
  for (const Section& it : program_.sections) {
    if (is_backward(it.name) || it.name == "optimizer") continue;
    for (uint32_t i = it.first; i < it.last; ++i) launch(program_.ops[i]);
  }
}

template <typename T>
void Session<T>::backward() {
  for (const Section& it : program_.sections) {
    if (!is_backward(it.name)) continue;
    for (uint32_t i = it.first; i < it.last; ++i) launch(program_.ops[i]);
  }
}

template <typename T>
void Session<T>::optimizer_step(const AdamOptions& options) {
  const Section* it = program_.section("optimizer");
  launch_adamw(program_.ops[it->first], options);
}

template <typename T>
void Session<T>::launch_adamw(const Op& op, const AdamOptions& options) {
  ++steps_;
  const auto steps = static_cast<double>(steps_);
  const typename KernelTable<T>::Adam adam{
      .rate = static_cast<T>(options.rate),
      .beta1 = static_cast<T>(options.beta1),
      .beta2 = static_cast<T>(options.beta2),
      .epsilon = static_cast<T>(options.epsilon),
      .decay = static_cast<T>(options.decay),
      .correction1 = static_cast<T>(1 - std::pow(options.beta1, steps)),
      .correction2 = static_cast<T>(1 - std::pow(options.beta2, steps))};
  const size_t index = static_cast<size_t>(&op - program_.ops.data());
  stream().launch(kernel_name(op.kind), work_[index], [this, adam] {
    for (const TensorInfo& it : program_.tensors) {
      if (it.role != Role::parameter) continue;
      auto own = adam;
      if (!it.decays) own.decay = 0;
      const size_t at = it.offset;
      const T* gradient = gradients_.data() + program_.tensor(it.gradient).offset;
      for_rows(bindings_.team, it.size(), 16, [&](size_t begin, size_t end) {
        kernels<T>().adamw(parameters_.data() + at, first_moments_.data() + at,
                           second_moments_.data() + at, gradient, own, begin, end);
      });
    }
  });
}

template class Session<float>;
template class Session<double>;

}  // namespace stallscope::trainer
