// The transcoder's two kernels against their limits: exact BatchTopK beside one
// read of the data, the sparse decoder beside the dense product.
//   transcoder_times [LAYERS FEATURES WIDTH BATCH K]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "trainer/device/device.h"
#include "trainer/kernels/table.h"
#include "trainer/loop/limits.h"
#include "trainer/ops/sparse.h"
#include "trainer/ops/team.h"
#include "trainer/ops/top_k.h"
#include "trainer/products/library.h"
#include "trainer/program/initial_values.h"

namespace stallscope::trainer {
namespace {

template <typename Body>
double best_ms(int repeats, const Body& body) {
  double best = 1e18;
  for (int r = 0; r < repeats; ++r) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

// Nothing but loads: as fast as memory gives them.
void read_once(const float* x, size_t count) {
  using Words = uint64_t __attribute__((vector_size(16), may_alias));
  const auto* at = reinterpret_cast<const Words*>(x);
  Words a{}, b{}, c{}, d{};
  for (const auto* const end = at + count / 16 * 4; at != end; at += 4) {
    __builtin_prefetch(at + 128);
    a ^= at[0];
    b ^= at[1];
    c ^= at[2];
    d ^= at[3];
  }
  a ^= b ^ c ^ d;
  asm volatile("" : : "x"(a));
}

struct Sizes {
  size_t layers = 12, features = 8192, width = 768, batch = 1024, k = 200;
};

class Times {
 public:
  Times(const Sizes& s, int team)
      : s_(s),
        team_(team),
        device_({.team = team}),
        pre_(device_, s.layers * s.batch * s.features) {
    for_rows(team_, pre_.size(), 4096, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {  // about normal: the sum of four
        const uint64_t bits = random_bits(1, i);
        float sum = 0;
        for (int part = 0; part < 64; part += 16)
          sum += static_cast<float>((bits >> part) & 0xffff) * (1.0F / 65536);
        pre_.data()[i] = sum - 2;
      }
    });
  }

  void select() {
    const double read = best_ms(7, [&] {
      for_rows(team_, pre_.size(), 1 << 16,
               [&](size_t begin, size_t end) { read_once(pre_.data() + begin, end - begin); });
    });
    const size_t k = s_.k * s_.batch, room = survivor_room(k, pre_.size());
    Buffer<float> mean(device_, s_.layers * s_.features), scale(device_, mean.size());
    Buffer<int32_t> state(device_, 4), counts(device_, kTopKBins),
        survivors(device_, kSurvivorPieces * (1 + 2 * room));
    numbers_ = std::make_unique<Buffer<int32_t>>(device_, shape().numbers());
    values_ = std::make_unique<Buffer<float>>(device_, k);
    const TopK<float> it{.layers = s_.layers,
                         .batch = s_.batch,
                         .features = s_.features,
                         .pre = pre_.data(),
                         .mean = mean.data(),
                         .scale = scale.data(),
                         .state = state.data(),
                         .counts = counts.data(),
                         .survivors = survivors.data(),
                         .room = room,
                         .team = team_};
    double statistics = 1e18, collecting = 1e18;
    const double all = best_ms(7, [&] {
      statistics = std::min(statistics, best_ms(1, [&] { top_k_statistics(it); }));
      collecting = std::min(collecting, best_ms(1, [&] {
                              top_k_sample(it);
                              top_k_survivors(it, k, pre_.size());
                            }));
      top_k_enough(it, k);
      for (int round = 0; round < kTopKRounds; ++round) {
        top_k_histogram(it, round);
        top_k_pick(it.state, it.counts, round, static_cast<int32_t>(k));
      }
      top_k_ties(it, 0);
      top_k_list(it, 0, list());
    });
    if (list().size() != k || it.state[3] == 0) std::exit(1);
    std::printf("exact BatchTopK %zu x %zu, k %zu\n", s_.batch, s_.layers * s_.features, k);
    std::printf("  one read of the data %8.1f ms\n", read);
    std::printf("  selection            %8.1f ms: %.2f reads (statistics %.1f, survivors %.1f)\n",
                all, all / read, statistics, collecting);
    std::printf("selection_ms %.3f\n", all);
  }

  void decode() {
    reverse_index(list(), team_);
    const size_t each = s_.features * s_.layers * s_.width;
    Buffer<float> decoder(device_, each), gradient(device_, each),
        outputs(device_, s_.layers * s_.batch * s_.width), values(device_, list().size());
    for_rows(team_, each, 4096, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        decoder.data()[i] = static_cast<float>(i % 977) * 1e-3F;
        gradient.data()[i] = 0;
      }
    });
    for_rows(team_, outputs.size(), 4096, [&](size_t begin, size_t end) {
      std::fill(outputs.data() + begin, outputs.data() + end, 0.0F);
    });
    const double entries = static_cast<double>(list().row_start[s_.batch]);
    std::printf("decoder of one source, %zu targets: %zu x %zu x %zu each, density %.2f %%\n",
                s_.layers, s_.batch, s_.features, s_.width,
                100 * entries / static_cast<double>(s_.batch * s_.features));
    const double sparse = best_ms(
        5, [&] { sparse_decode(list(), decoder.data(), outputs.data(), s_.width, 0, team_); });
    const double sparse_backward = best_ms(5, [&] {
      std::fill_n(values.data(), values.size(), 0.0F);
      sparse_decode_backward<float>(list(), {.decoder = decoder.data(),
                                             .errors = outputs.data(),
                                             .pull = nullptr,
                                             .value_gradient = values.data(),
                                             .decoder_gradient = gradient.data(),
                                             .width = s_.width,
                                             .source = 0,
                                             .add = false,
                                             .team = team_});
    });
    const size_t columns = s_.layers * s_.width;
    const double forward = dense({.m = s_.batch, .n = columns, .k = s_.features}, pre_.data(),
                                 decoder.data(), outputs.data());
    const double to_values =
        dense({.m = s_.batch, .n = s_.features, .k = columns, .transpose_b = true}, outputs.data(),
              decoder.data(), pre_.data());
    const double to_weights =
        dense({.m = s_.features, .n = columns, .k = s_.batch, .transpose_a = true}, pre_.data(),
              outputs.data(), gradient.data());
    if (forward == 0) return std::puts("  no product library: no dense product"), void();
    std::printf("  forward   sparse %7.1f ms, dense %8.1f ms: %.1f times\n", sparse, forward,
                forward / sparse);
    std::printf("  backward  sparse %7.1f ms, dense %8.1f ms: %.1f times\n", sparse_backward,
                to_values + to_weights, (to_values + to_weights) / sparse_backward);
  }

 private:
  SparseShape shape() const { return {s_.layers, s_.batch, s_.features, s_.k * s_.batch}; }
  SparseList<float> list() const { return {shape(), numbers_->data(), values_->data()}; }
  double dense(const ProductShape& shape, const float* a, const float* b, float* c) const {
    const ProductLibrary* library = product_library();
    if (library == nullptr) return 0;
    auto product = library->product(shape, a, b, nullptr, nullptr, c);
    if (!product.ok()) return 0;
    return best_ms(3, [&] {
      if (!(*product)->run(team_).ok()) std::exit(1);
    });
  }

  Sizes s_;
  int team_;
  Device device_;
  Buffer<float> pre_;
  std::unique_ptr<Buffer<int32_t>> numbers_;
  std::unique_ptr<Buffer<float>> values_;
};

}  // namespace
}  // namespace stallscope::trainer

int main(int argc, char** argv) {
  using namespace stallscope::trainer;
  Sizes sizes;
  size_t* const fields[] = {&sizes.layers, &sizes.features, &sizes.width, &sizes.batch, &sizes.k};
  for (int i = 1; i < argc && i <= 5; ++i) *fields[i - 1] = std::strtoull(argv[i], nullptr, 10);
  Times times(sizes, cpu_limit());
  times.select();
  times.decode();
  return 0;
}
