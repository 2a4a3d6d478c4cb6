// What depends on the machine: instruction sets, and memory that a running step must not ask for.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "trainer/kernels/table.h"
#include "trainer/models/clt.h"
#include "trainer/models/gpt.h"
#include "trainer/program/initial_values.h"
#include "trainer/program/lower.h"
#include "trainer/program/session.h"

#if !defined(__SANITIZE_ADDRESS__)  // which brings an allocator of its own
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

TEST_CASE("a machine without AVX selects and decodes the same") {
  std::vector<const KernelTable<float>*> tables{&baseline::kFloatKernels};
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    tables.push_back(&avx2::kFloatKernels);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    tables.push_back(&avx512::kFloatKernels);
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
