#include "trainer/program/builder.h"

#include <cassert>
#include <utility>

#include "trainer/plan/plan.h"

namespace stallscope::trainer {

void Builder::begin_section(std::string name) {
  const auto at = static_cast<uint32_t>(program_.ops.size());
  program_.sections.push_back({std::move(name), at, at});
}

Op& Builder::add(Op op) {
  assert(!program_.sections.empty());
  program_.ops.push_back(std::move(op));
  program_.sections.back().last = static_cast<uint32_t>(program_.ops.size());
  return program_.ops.back();
}

void Builder::on_backward(std::function<void()> emit) {
  tape_.push_back({program_.sections.back().name, std::move(emit)});
}

TensorId Builder::add_tensor(TensorInfo info) {
  program_.tensors.push_back(std::move(info));
  return static_cast<TensorId>(program_.tensors.size() - 1);
}

TensorId Builder::input(std::string name, std::vector<size_t> shape, Element element) {
  return add_tensor({.name = std::move(name),
                     .shape = std::move(shape),
                     .role = Role::input,
                     .element = element});
}

TensorId Builder::constant(std::string name, std::vector<size_t> shape) {
  return add_tensor({.name = std::move(name), .shape = std::move(shape), .role = Role::constant});
}

TensorId Builder::state(std::string name, std::vector<size_t> full_shape, int shard_dimension) {
  std::vector<size_t> shape = full_shape;
  if (shard_dimension >= 0)
    shape[static_cast<size_t>(shard_dimension)] /= static_cast<size_t>(shard_.size);
  return add_tensor({.name = std::move(name),
                     .shape = std::move(shape),
                     .role = Role::constant,
                     .element = Element::index,
                     .full_shape = std::move(full_shape),
                     .shard_dimension = shard_dimension,
                     .saved = true});
}

TensorId Builder::activation(std::string name, std::vector<size_t> shape, Element element) {
  return add_tensor({.name = std::move(name), .shape = std::move(shape), .element = element});
}

TensorId Builder::view(std::string name, TensorId whole, size_t offset, std::vector<size_t> shape) {
  const TensorId id =
      add_tensor({.name = std::move(name), .shape = std::move(shape), .role = tensor(whole).role});
  aliases_[id] = {whole, offset};
  return id;
}

TensorId Builder::parameter(std::string name, std::vector<size_t> full_shape, Init init,
                            bool decays) {
  const Plan& plan = standard_plan();
  const int rule = plan.match(name);
  const int shard_dimension =
      rule == Plan::kNone ? -1 : plan.rules()[static_cast<size_t>(rule)].dimension;
  std::vector<size_t> shape = full_shape;
  if (shard_dimension >= 0)
    shape[static_cast<size_t>(shard_dimension)] /= static_cast<size_t>(shard_.size);
  const TensorId gradient =
      add_tensor({.name = name + ".gradient", .shape = shape, .role = Role::gradient});
  const TensorId parameter = add_tensor({.name = std::move(name),
                                         .shape = std::move(shape),
                                         .role = Role::parameter,
                                         .full_shape = std::move(full_shape),
                                         .shard_dimension = shard_dimension,
                                         .init = init,
                                         .decays = decays,
                                         .gradient = gradient});
  if (program_.adds_gradients) gradients_[parameter] = {gradient, false};
  return parameter;
}

size_t Builder::rows(TensorId x) const {
  return tensor(x).shape.front();
}
size_t Builder::columns(TensorId x) const {
  return tensor(x).size() / rows(x);
}

TensorId Builder::gradient(TensorId x) const {
  const auto found = gradients_.find(x);
  return found == gradients_.end() ? kNoTensor : found->second.tensor;
}

Builder::Flow Builder::flow_to(TensorId x) {
  Gradient& it = gradients_[x];
  const TensorId base = it.tensor;
  if (it.tensor == kNoTensor || it.shared) {
    const TensorInfo& info = tensor(x);
    it.tensor = info.role == Role::parameter
                    ? info.gradient
                    : activation(info.name + ".gradient", std::vector<size_t>(info.shape));
    it.shared = false;
  }
  return {it.tensor, base};
}

void Builder::pass_gradient(TensorId x, TensorId y) {
  const TensorId from = gradient(y);
  if (gradient(x) == kNoTensor) {
    gradients_[x] = {from, true};
    gradients_[y].shared = true;
    return;
  }
  const Flow flow = flow_to(x);
  add({.kind = OpKind::add,
       .in = {from, flow.base},
       .out = {flow.target},
       .n = {static_cast<int64_t>(tensor(x).size())}});
}

TensorId Builder::pass_counter() {
  if (pass_counter_ == kNoTensor) pass_counter_ = state("dropout.passes", {1});
  return pass_counter_;
}

void Builder::backward(TensorId loss) {
  (void)loss;
  std::string section;
  for (size_t i = tape_.size(); i-- > 0;) {
    const Node node = tape_[i];
    if (node.section != section) begin_section(node.section + ".backward");
    section = node.section;
    node.emit();
  }
  sum_partial_gradients();
  if (pass_counter_ != kNoTensor)
    add({.kind = OpKind::advance_counter, .in = {pass_counter_}, .out = {pass_counter_}});
}

void Builder::adamw() {
  begin_section("optimizer");
  add({.kind = OpKind::adamw});
}

Program Builder::finish() {
  // Partial gradients lie together, so that one sum does for all.
  std::set<TensorId> last = partial_;
  for (const TensorId id : partial_) last.insert(tensor(id).gradient);
  for (const bool is_last : {false, true}) {
    for (TensorId id = 0; id < program_.tensors.size(); ++id) {
      if (aliases_.contains(id) || last.contains(id) != is_last) continue;
      TensorInfo& it = program_.tensors[id];
      size_t& end = program_.arena_elements[static_cast<size_t>(it.role)];
      it.offset = end;
      end += it.room();
    }
  }
  for (const auto& [id, alias] : aliases_)
    program_.tensors[id].offset = program_.tensors[alias.whole].offset + alias.offset;
  return std::move(program_);
}

}  // namespace stallscope::trainer
