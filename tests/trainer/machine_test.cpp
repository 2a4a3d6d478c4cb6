// What depends on the machine: instruction sets, and memory that a running step must not ask for.
#include <doctest/doctest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "base/sanitized.h"
#include "trainer/kernels/table.h"
#include "trainer/models/clt.h"
#include "trainer/models/gpt.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/lower.h"
#include "trainer/program/session.h"

#ifndef STALLSCOPE_SANITIZED  // sanitizers bring an allocator of their own
#define STALLSCOPE_COUNT_ALLOCATIONS
namespace {
std::atomic<size_t> allocations{0};
}

// Counted for the whole test program; only differences mean anything.
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
#endif

namespace stallscope::trainer {
#define STALLSCOPE_DECLARE_ISA(isa)              \
  namespace isa {                                \
  extern const KernelTable<float> kFloatKernels; \
  }
STALLSCOPE_DECLARE_ISA(baseline)
STALLSCOPE_DECLARE_ISA(avx2)
STALLSCOPE_DECLARE_ISA(avx512)
#undef STALLSCOPE_DECLARE_ISA

namespace {

std::vector<const KernelTable<float>*> tables_of_this_machine() {
  std::vector<const KernelTable<float>*> tables{&baseline::kFloatKernels};
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    tables.push_back(&avx2::kFloatKernels);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    tables.push_back(&avx512::kFloatKernels);
  return tables;
}

float value_of(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

TEST_CASE("kernels give the same in bf16 as in floats, but for its rounding") {
  constexpr size_t kRows = 5, kColumns = 67, kCount = kRows * kColumns;
  for (const KernelTable<float>* table : tables_of_this_machine()) {
    CAPTURE(std::string(table->instruction_set));
    std::vector<float> x(kCount), dy(kCount), exact(kCount), scratch(kColumns), losses(kRows),
        want(kRows), sums(kColumns), want_sums(kColumns);
    std::vector<uint16_t> half_x(kCount), half_dy(kCount), half(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      x[i] = static_cast<float>(6 * random_uniform(1, i) - 3);
      dy[i] = static_cast<float>(random_uniform(2, i) - 0.5);
    }
    table->convert_half(half_x.data(), x.data(), 0, kCount);
    table->convert_half(half_dy.data(), dy.data(), 0, kCount);
    for (size_t i = 0; i < kCount; ++i) {  // what both start from
      x[i] = value_of(half_x[i]);
      dy[i] = value_of(half_dy[i]);
    }
    auto check = [&](const char* what) {
      CAPTURE(std::string(what));
      for (size_t i = 0; i < kCount; ++i)
        CHECK(value_of(half[i]) == doctest::Approx(exact[i]).epsilon(1.0 / 256).scale(1e-3));
    };
    for (const bool tanh_form : {false, true}) {
      table->gelu_forward({exact.data()}, {x.data()}, 0, kCount, tanh_form);
      table->gelu_forward({nullptr, half.data()}, {nullptr, half_x.data()}, 0, kCount, tanh_form);
      check("gelu");
      table->gelu_backward({exact.data()}, {dy.data()}, {x.data()}, 0, kCount, tanh_form);
      table->gelu_backward({nullptr, half.data()}, {nullptr, half_dy.data()},
                           {nullptr, half_x.data()}, 0, kCount, tanh_form);
      check("gelu backwards");
    }
    table->column_sum(want_sums.data(), nullptr, {x.data()}, kRows, kColumns, 0, kColumns);
    table->column_sum(sums.data(), nullptr, {nullptr, half_x.data()}, kRows, kColumns, 0, kColumns);
    CHECK(sums == want_sums);
    const int32_t labels[kRows] = {3, -1, 66, 0, -1};
    exact = x, half = half_x;
    table->softmax_cross_entropy({exact.data()}, want.data(), labels, 0.25F, kColumns, nullptr, 0,
                                 kRows);
    table->softmax_cross_entropy({nullptr, half.data()}, losses.data(), labels, 0.25F, kColumns,
                                 scratch.data(), 0, kRows);
    CHECK(losses == want);
    check("cross-entropy");
  }
}

TEST_CASE("a machine without AVX selects and decodes the same") {
  const auto tables = tables_of_this_machine();
  constexpr size_t kRows = 3, kColumns = 203, kEntries = 5;
  std::vector<float> x(kRows * kColumns), mean(kColumns), scale(kColumns);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(random_uniform(1, i) - 0.5);
  x[77] = std::nanf("");
  for (size_t c = 0; c < kColumns; ++c) {
    mean[c] = static_cast<float>(random_uniform(2, c)) * 0.1F;
    scale[c] = 1 + static_cast<float>(random_uniform(3, c));
  }
  const int32_t features[kEntries] = {0, 2, 1, 2, 0};
  std::vector<uint64_t> bits[3];
  std::vector<float> dropped[3], sums[3];
  for (size_t t = 0; t < tables.size(); ++t) {
    CAPTURE(std::string(tables[t]->instruction_set));
    bits[t].resize(kRows * ((kColumns + 63) / 64));
    tables[t]->find_above(bits[t].data(), x.data(), kRows, kColumns, mean.data(), scale.data(),
                          0.3F);
    dropped[t].resize(x.size());
    tables[t]->dropout(dropped[t].data(), x.data(), nullptr,
                       {.stream = 9, .threshold = 1U << 30, .factor = 4.0 / 3}, kColumns, 0, kRows);
    sums[t].resize(kColumns);
    tables[t]->sparse_row(sums[t].data(), mean.data(), features, kEntries, scale.data(), 40, 100);
    CHECK(bits[t] == bits[0]);
    for (size_t i = 0; i < x.size(); ++i)
      CHECK((dropped[t][i] == dropped[0][i] || std::isnan(x[i])));
    for (size_t c = 0; c < kColumns; ++c)
      CHECK(sums[t][c] == doctest::Approx(sums[0][c]).epsilon(1e-6));
  }
}

#ifdef STALLSCOPE_COUNT_ALLOCATIONS
TEST_CASE("a running step allocates nothing") {
  GptConfig gpt;
  gpt.dropout = 0.1;
  CltConfig clt;
  clt.sparse = true, clt.dead_after = 1;
  for (auto program : {build_gpt(gpt, {}), build_clt(clt, {})}) {
    REQUIRE(program.ok());
    REQUIRE(lower(*program, Precision::fp32, nullptr).ok());
    Device device({});
    Session<float> session(std::move(*program), device, nullptr, 3);
    auto step = [&] {
      session.forward();
      session.backward();
      session.optimizer_step({});
      device.synchronize();
    };
    for (int warm = 0; warm < 3; ++warm) step();
    const size_t before = allocations;
    for (int i = 0; i < 3; ++i) step();
    CHECK(allocations - before == 0);
  }
}
#endif

}  // namespace
}  // namespace stallscope::trainer
