#include "trainer/program/session.h"

#include <cmath>
#include <map>
#include <set>

#include "trainer/ops/team.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/lower.h"

namespace stallscope::trainer {
namespace {

size_t arena(const Program& program, Role role) {
  return program.arena_elements[static_cast<size_t>(role)];
}

// What one thread needs for the op that needs most, for each of the team.
template <typename T>
size_t scratch_elements(const Program& program, int team) {
  size_t most = 0;
  for (const Op& op : program.ops) most = std::max(most, scratch_of<T>(op));
  return most * static_cast<size_t>(std::max(team, 1));
}

bool has_halves(const Program& program) {
  return std::ranges::any_of(program.tensors,
                             [](const TensorInfo& it) { return it.element == Element::bf16; });
}

bool is_backward(std::string_view section) {
  return section.ends_with(".backward");
}

}  // namespace

template <typename T>
Session<T>::Session(Program program, Device& device, Group* group, uint64_t seed,
                    const ProductLibrary* library, Group* replicas)
    : program_(std::move(program)),
      device_(device),
      group_(group),
      replicas_(replicas),
      communication_(device.create_stream()),
      parameters_(device, arena(program_, Role::parameter)),
      gradients_(device, arena(program_, Role::gradient)),
      first_moments_(device, arena(program_, Role::parameter)),
      second_moments_(device, arena(program_, Role::parameter)),
      activations_(device, arena(program_, Role::activation)),
      inputs_(device, arena(program_, Role::input)),
      constants_(device, arena(program_, Role::constant)),
      scratch_(device, scratch_elements<T>(program_, device.options().team)),
      half_parameters_(device, has_halves(program_) ? parameters_.size() : 0),
      piece_halves_(device, 0),
      events_(program_.ops.size()) {
  bindings_.team = device.options().team;
  bindings_.scratch = scratch_.data();
  if (half_parameters_.size() > 0) bindings_.half_parameters = half_parameters_.data();
  T* const bases[] = {parameters_.data(), gradients_.data(), activations_.data(), inputs_.data(),
                      constants_.data()};
  for (const TensorInfo& it : program_.tensors) {
    T* const place = bases[static_cast<size_t>(it.role)] + it.offset;
    const bool real = it.element == Element::real;
    bindings_.memory.push_back(place);
    bindings_.real.push_back(real ? place : nullptr);
    bindings_.index.push_back(it.element == Element::index ? reinterpret_cast<int32_t*>(place)
                                                           : nullptr);
    if (it.role == Role::gradient && !it.is_bucket) gradient_list_.emplace_back(place, it.size());
  }
  for (const Op& op : program_.ops) {
    work_.push_back(work_of(program_, op, sizeof(T)));
    for (const uint32_t awaited : op.waits) events_[awaited].emplace();
  }
  initialize(seed);
  prepared_.resize(program_.ops.size());
  if (library != nullptr && std::is_same_v<T, float>) prepare(*library);
  divide_parameters();
  parameters_changed();
}

template <typename T>
void Session<T>::divide_parameters() {
  std::map<TensorId, std::vector<const Prepared*>> packings;
  std::map<TensorId, size_t> rows;
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    Op& op = program_.ops[i];
    if (op.kind != OpKind::pack || prepared_[i] == nullptr || !prepared_[i]->packs_rows()) continue;
    op.fused = true;
    packings[op.in[0]].push_back(prepared_[i].get());
    rows[op.in[0]] = static_cast<size_t>(op.n[4] != 0 ? op.n[1] : op.n[2]);
  }
  std::set<TensorId> read_as_it_lies;  // by products
  for (const Op& op : program_.ops)
    if ((op.kind == OpKind::gemm || op.kind == OpKind::pack) && !op.fused)
      read_as_it_lies.insert(op.in.begin(), op.in.end());
  for (const TensorId id : program_.parameters()) {
    const TensorInfo& it = program_.tensor(id);
    constexpr size_t kPiece = 8192;
    const bool packed = packings.contains(id),
               only_packed = packed && !read_as_it_lies.contains(id);
    const size_t row = packed ? it.size() / rows[id] : 1;
    const size_t piece = packed ? kPackedRows * row : kPiece;
    for (size_t at = 0; at < it.size(); at += piece) {
      const size_t count = std::min(piece, it.size() - at);
      pieces_.push_back({.offset = it.offset + at,
                         .count = count,
                         .decays = it.decays,
                         .row = at / row,
                         .rows = count / row,
                         .packings = packings[id],
                         .only_packed = only_packed});
      if (only_packed) most_packed_ = std::max(most_packed_, count);
    }
  }
  piece_halves_ =
      Buffer<uint16_t>(device_, most_packed_ * static_cast<size_t>(std::max(bindings_.team, 1)));
}

template <typename T>
Result<std::unique_ptr<Prepared>> Session<T>::prepare(const ProductLibrary& library,
                                                      const Op& op) const {
  auto floats = [&](TensorId id) {
    return id == kNoTensor ? nullptr : static_cast<float*>(bindings_.memory[id]);
  };
  // A parameter is read in the type of the product.
  auto operand = [&](TensorId id, Element type) -> const void* {
    const TensorInfo& it = program_.tensor(id);
    if (it.role == Role::parameter && type == Element::bf16)
      return bindings_.half_parameters + it.offset;
    return bindings_.memory[id];
  };
  if (op.kind == OpKind::pack) {
    const ProductShape shape{.m = static_cast<size_t>(op.n[0]),
                             .n = static_cast<size_t>(op.n[1]),
                             .k = static_cast<size_t>(op.n[2]),
                             .transpose_b = op.n[4] != 0,
                             .operands = program_.tensor(op.out[0]).element,
                             .result = op.n[6] != 0 ? Element::bf16 : Element::real,
                             .packed_b = true};
    return library.packing(shape, operand(op.in[0], shape.operands), bindings_.memory[op.out[0]]);
  }
  const ProductShape shape = product_shape(program_, op);
  return library.product(shape, bindings_.memory[op.in[0]], operand(op.in[1], shape.operands),
                         floats(op.in[3]), floats(op.in[2]), bindings_.memory[op.out[0]]);
}

template <typename T>
void Session<T>::prepare(const ProductLibrary& library) {
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    const Op& op = program_.ops[i];
    if (op.kind != OpKind::gemm && op.kind != OpKind::pack) continue;
    auto prepared = prepare(library, op);
    if (!prepared.ok()) return device_.fail(prepared.error());
    prepared_[i] = std::move(*prepared);
  }
}

template <typename T>
void Session<T>::parameters_changed() {
  if (bindings_.half_parameters != nullptr) {
    const Work work{.bytes = static_cast<double>(parameters_.size()) * (sizeof(T) + 2)};
    stream().launch("convert_bf16_kernel", work, [this] {
      for_rows(bindings_.team, parameters_.size(), 4096, [&](size_t begin, size_t end) {
        kernels<T>().convert_half(bindings_.half_parameters, parameters_.data(), begin, end);
      });
    });
  }
  for (const Op& op : program_.ops)
    if (op.kind == OpKind::pack) launch(op);
}

// Of each product: small ones run often enough that one in between is not disturbed.
constexpr Ns kLeastMeasured = 5'000'000;

template <typename T>
auto Session<T>::measure_products(int repeats) -> std::vector<ProductRate> {
  std::vector<ProductRate> rates;
  for (size_t i = 0; i < program_.ops.size(); ++i) {
    const Op& op = program_.ops[i];
    if (op.kind != OpKind::gemm || prepared_[i] == nullptr) continue;
    const auto known = std::ranges::find(rates, op.name, &ProductRate::name);
    if (known != rates.end()) {
      ++known->per_step;
      known->again += op.again ? 1 : 0;
      continue;
    }
    ProductRate rate{.name = op.name,
                     .per_step = 1,
                     .again = op.again ? 1U : 0U,
                     .flops = work_[i].flops,
                     .best_ns = 1e18};
    stream().enqueue([&, product = prepared_[i].get()] {
      const Ns first = now_ns();
      for (int r = 0; r < repeats || now_ns() - first < kLeastMeasured; ++r) {
        const Ns start = now_ns();
        if (!product->run(bindings_.team).ok()) return;
        rate.best_ns = std::min(rate.best_ns, static_cast<double>(now_ns() - start));
      }
    });
    stream().drain();
    rates.push_back(std::move(rate));
  }
  return rates;
}

template <typename T>
Session<T>::~Session() {
  device_.stream().drain();
  communication_.drain();
}

template <typename T>
void Session<T>::initialize(uint64_t seed) {
  const int rank = group_ == nullptr ? 0 : group_->rank();
  const int team = bindings_.team;
  // On the stream's own threads, so that pages lie where they will be used.
  stream().enqueue([&] {
    for (const auto* buffer : {&parameters_, &gradients_, &first_moments_, &second_moments_,
                               &activations_, &inputs_, &constants_}) {
      for_rows(team, buffer->size(), 4096, [&](size_t begin, size_t end) {
        std::fill(buffer->data() + begin, buffer->data() + end, T(0));
      });
    }
    for (const TensorId id : program_.parameters()) {
      const TensorInfo& it = program_.tensor(id);
      for_rows(team, it.size(), 64, [&](size_t begin, size_t end) {
        fill_initial(bindings_.real[id], it, rank, seed, begin, end);
      });
    }
  });
  stream().drain();
}

template <typename T>
void Session<T>::launch_collective(const Op& op, Stream& stream) {
  const auto count = static_cast<size_t>(op.n[0]);
  Group* const group = op.n[2] == kDataGroup ? replicas_ : group_;
  const comm::ReduceOp reduce = op.n[1] == 0 ? comm::ReduceOp::sum : comm::ReduceOp::max;
  if (op.kind == OpKind::all_gather) {
    group->all_gather(stream, bindings_.at(op.in[0]), bindings_.at(op.out[0]), count);
  } else if (op.kind == OpKind::reduce_scatter) {
    group->reduce_scatter(stream, bindings_.at(op.in[0]), bindings_.at(op.out[0]), count);
  } else if (program_.tensor(op.in[0]).element == Element::real) {
    group->all_reduce(stream, bindings_.at(op.in[0]), count, reduce);
  } else {
    group->all_reduce(stream, bindings_.index_at(op.in[0]), count, reduce);
  }
}

template <typename T>
void Session<T>::launch(const Op& op) {
  Stream& stream = stream_of(op);
  for (const uint32_t awaited : op.waits) stream.wait(*events_[awaited]);
  if (is_collective(op.kind)) {
    launch_collective(op, stream);
  } else {
    const size_t index = static_cast<size_t>(&op - program_.ops.data());
    stream.launch(kernel_name(op), work_[index], [&op, this, prepared = prepared_[index].get()] {
      if (prepared == nullptr) return run_op<T>(op, bindings_);
      if (Status status = prepared->run(bindings_.team); !status.ok()) device_.fail(status.error());
    });
  }
  const size_t index = static_cast<size_t>(&op - program_.ops.data());
  if (events_[index]) stream.record(*events_[index]);
}

template <typename T>
std::string Session<T>::first_non_finite() {
  auto is_bad = [&](TensorId id) {
    if (id == kNoTensor || program_.tensor(id).element != Element::real) return false;
    const T* const values = bindings_.real[id];
    return !std::all_of(values, values + program_.tensor(id).size(),
                        [](T value) { return std::isfinite(value); });
  };
  for (TensorId id = 0; id < program_.tensors.size(); ++id) {
    const Role role = program_.tensor(id).role;
    if ((role == Role::parameter || role == Role::input) && is_bad(id))
      return "before the forward pass: " + program_.tensor(id).name;
  }
  std::string found;
  for (const Section& section : program_.sections) {
    if (is_backward(section.name) || section.name == "optimizer") continue;
    for (uint32_t i = section.first; i < section.last; ++i) {
      launch(program_.ops[i]);
      device_.synchronize();
      for (const TensorId id : program_.ops[i].out)
        if (found.empty() && is_bad(id)) found = section.name + ": " + program_.tensor(id).name;
    }
  }
  return found;
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
void Session<T>::backward(bool is_last_pass) {
  for (const Section& it : program_.sections) {
    if (!is_backward(it.name)) continue;
    for (uint32_t i = it.first; i < it.last; ++i) {
      const Op& op = program_.ops[i];
      const bool sums_gradients =
          op.kind == OpKind::all_reduce && program_.tensor(op.in[0]).is_bucket;
      if (is_last_pass || !sums_gradients) launch(op);
    }
  }
}

template <typename T>
void Session<T>::optimizer_step(const AdamOptions& options) {
  const Section* it = program_.section("optimizer");
  launch_adamw(program_.ops[it->first], options);
  for (uint32_t i = it->first + 1; i < it->last; ++i)
    if (!program_.ops[i].fused) launch(program_.ops[i]);
}

template <typename T>
void Session<T>::launch_adamw(const Op& op, const AdamOptions& options) {
  ++steps_;
  const auto steps = static_cast<double>(steps_);
  const typename KernelTable<T>::Adam plain{
      .beta1 = static_cast<T>(options.beta1),
      .beta2 = static_cast<T>(options.beta2),
      .epsilon = static_cast<T>(options.epsilon),
      .kept = 1,
      .step = static_cast<T>(options.rate / (1 - std::pow(options.beta1, steps))),
      .root = static_cast<T>(1 / std::sqrt(1 - std::pow(options.beta2, steps)))};
  auto decaying = plain;
  decaying.kept = static_cast<T>(1 - options.rate * options.decay);
  const size_t index = static_cast<size_t>(&op - program_.ops.data());
  for (const uint32_t awaited : op.waits) stream().wait(*events_[awaited]);
  const bool clears = program_.adds_gradients;
  stream().launch(kernel_name(op), work_[index], [this, plain, decaying, clears] {
    // A parameter and its gradient lie at the same place of their arenas. What only copies are made
    // of stays in the cache.
    for_rows(bindings_.team, pieces_.size(), 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const Piece& it = pieces_[i];
        uint16_t* const half = bindings_.half_parameters == nullptr ? nullptr
                               : it.only_packed
                                   ? piece_halves_.data() + team_member() * most_packed_
                                   : bindings_.half_parameters + it.offset;
        kernels<T>().adamw(parameters_.data() + it.offset, first_moments_.data() + it.offset,
                           second_moments_.data() + it.offset, gradients_.data() + it.offset, half,
                           it.decays ? decaying : plain, it.count);
        for (const Prepared* packing : it.packings)
          packing->pack_rows(half, it.row, it.row + it.rows);
        if (clears) std::fill_n(gradients_.data() + it.offset, it.count, T(0));
      }
    });
  });
}

template class Session<float>;
template class Session<double>;

}  // namespace stallscope::trainer
