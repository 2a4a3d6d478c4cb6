// Where the ranks of a tensor-parallel group meet.
#include <cassert>
#include <string>
#include <utility>

#include "trainer/program/builder.h"

namespace stallscope::trainer {

void Builder::all_reduce(TensorId x) {
  if (shard_.size > 1) reduce_group(x, 0);
}

void Builder::reduce_group(TensorId x, int64_t op) {
  add({.kind = OpKind::all_reduce,
       .in = {x},
       .out = {x},
       .n = {static_cast<int64_t>(tensor(x).size()), op}});
}

void Builder::sum_replicas(TensorId x) {
  if (shard_.replicas == 1) return;
  add({.kind = OpKind::all_reduce,
       .in = {x},
       .out = {x},
       .n = {static_cast<int64_t>(tensor(x).size()), 0, kDataGroup}});
}

TensorId Builder::gather_replicas(std::string name, TensorId x) {
  const size_t each = tensor(x).size();
  const TensorId all = activation(std::move(name), {static_cast<size_t>(shard_.replicas) * each});
  add({.kind = OpKind::all_gather,
       .in = {x},
       .out = {all},
       .n = {static_cast<int64_t>(each), 0, kDataGroup}});
  return all;
}

TensorId Builder::gather_parts(std::string name, TensorId part) {
  std::vector<size_t> shape = tensor(part).shape;
  shape.front() *= static_cast<size_t>(shard_.size);
  const TensorId whole = activation(std::move(name), std::move(shape));
  add({.kind = OpKind::all_gather,
       .in = {part},
       .out = {whole},
       .n = {static_cast<int64_t>(tensor(part).size())}});
  return whole;
}

TensorId Builder::enter_parallel(TensorId x) {
  if (shard_.size == 1) return x;
  if (rows_are_split_) {
    in_parallel_ = true;
    const TensorId whole = gather_parts(tensor(x).name + ".whole", x);
    on_backward([this, x, whole] {
      const TensorId from = gradient(whole);
      if (from == kNoTensor) return;
      const TensorId part =
          activation(tensor(whole).name + ".gradient.part", std::vector<size_t>(tensor(x).shape));
      add({.kind = OpKind::reduce_scatter,
           .in = {from},
           .out = {part},
           .n = {static_cast<int64_t>(tensor(from).size())}});
      gradients_[whole] = {part, false};
      pass_gradient(x, whole);
    });
    return whole;
  }
  // The same data under a new name, so that its gradient is the group's sum.
  TensorInfo copy = tensor(x);
  copy.name += ".parallel";
  const TensorId alias = add_tensor(std::move(copy));
  aliases_[alias] = {x, 0};
  on_backward([this, x, alias] {
    if (gradient(alias) == kNoTensor) return;
    assert(!gradients_[alias].shared);
    reduce_group(gradient(alias), 0);
    pass_gradient(x, alias);
  });
  return alias;
}

TensorId Builder::leave_parallel(TensorId x) {
  if (!rows_are_split_) {
    all_reduce(x);
    return x;
  }
  in_parallel_ = false;
  std::vector<size_t> shape = tensor(x).shape;
  shape.front() /= static_cast<size_t>(shard_.size);
  const TensorId part = activation(tensor(x).name + ".part", std::move(shape));
  add({.kind = OpKind::reduce_scatter,
       .in = {x},
       .out = {part},
       .n = {static_cast<int64_t>(tensor(x).size())}});
  on_backward([this, x, part] {
    gradients_[x] = {gather_parts(tensor(x).name + ".gradient", gradient(part)), false};
  });
  return part;
}

TensorId Builder::split_rows(TensorId x) {
  if (shard_.size == 1 || !shard_.splits_rows) return x;
  rows_are_split_ = true;
  std::vector<size_t> shape = tensor(x).shape;
  shape.front() /= static_cast<size_t>(shard_.size);
  const size_t elements = tensor(x).size() / static_cast<size_t>(shard_.size);
  const TensorId part = view(tensor(x).name + ".part", x,
                             static_cast<size_t>(shard_.rank) * elements, std::move(shape));
  on_backward([this, x, part] {
    gradients_[x] = {gather_parts(tensor(x).name + ".gradient", gradient(part)), false};
  });
  return part;
}

TensorId Builder::join_rows(TensorId x) {
  if (!rows_are_split_) return x;
  rows_are_split_ = false;
  const TensorId whole = gather_parts(tensor(x).name + ".whole", x);
  on_backward([this, x, whole] {
    // Every rank has the whole gradient.
    const size_t elements = tensor(x).size();
    const TensorId part =
        view(tensor(whole).name + ".gradient.part", gradient(whole),
             static_cast<size_t>(shard_.rank) * elements, std::vector<size_t>(tensor(x).shape));
    gradients_[whole] = {part, false};
    pass_gradient(x, whole);
  });
  return whole;
}

void Builder::use_parameter(TensorId parameter) {
  if (in_split_rows() && tensor(parameter).role == Role::parameter &&
      tensor(parameter).shard_dimension < 0)
    partial_.insert(parameter);
}

void Builder::sum_partial_gradients() {
  if (partial_.empty()) return;
  size_t elements = 0;
  for (const TensorId id : partial_) elements += tensor(tensor(id).gradient).room();
  const TensorId all = add_tensor({.name = "gradients.partial",
                                   .shape = {elements},
                                   .role = Role::gradient,
                                   .is_bucket = true});
  aliases_[all] = {tensor(*partial_.begin()).gradient, 0};
  reduce_group(all, 0);
}

}  // namespace stallscope::trainer
