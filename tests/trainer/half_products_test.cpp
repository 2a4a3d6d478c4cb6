// Products of bf16 operands by our own kernel: every form and edge against sums in doubles.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/products/half_products.h"
#include "trainer/program/initial_values.h"

namespace stallscope::trainer {
namespace {

// Refuses what it is asked: everything below is to be computed by our own kernel.
class Nothing final : public ProductLibrary {
 public:
  std::string version() const override { return "nothing"; }
  bool has_bf16() const override { return false; }
  bool takes_bf16() const override { return true; }
  Result<std::unique_ptr<Prepared>> product(const ProductShape&, const void*, const void*,
                                            const float*, const float*, void*) const override {
    return Error{.message = "not ours"};
  }
  Result<size_t> packed_bytes(const ProductShape&) const override {
    return Error{.message = "not ours"};
  }
  Result<std::unique_ptr<Prepared>> packing(const ProductShape&, const void*,
                                            void*) const override {
    return Error{.message = "not ours"};
  }
};

float value_of(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

std::vector<uint16_t> random_halves(uint64_t seed, size_t count) {
  std::vector<uint16_t> halves(count);
  for (size_t i = 0; i < count; ++i)
    halves[i] = static_cast<uint16_t>(
        std::bit_cast<uint32_t>(static_cast<float>(2 * random_uniform(seed, i) - 1)) >> 16);
  return halves;
}
std::vector<float> random_floats(uint64_t seed, size_t count) {
  std::vector<float> floats(count);
  for (size_t i = 0; i < count; ++i)
    floats[i] = static_cast<float>(2 * random_uniform(seed, i) - 1);
  return floats;
}

using Base = ProductShape::Base;

// C as computed by two threads, beside sums in doubles; `what` is named where they differ.
void check(const ProductShape& s) {
  CAPTURE(s.m);
  CAPTURE(s.n);
  CAPTURE(s.k);
  CAPTURE(s.packed_b);
  CAPTURE(s.transpose_b);
  CAPTURE(static_cast<int>(s.base));
  static const Nothing nothing;
  const HalfProducts products(nothing);
  const std::vector<uint16_t> a = random_halves(1, s.m * s.k), b = random_halves(2, s.k * s.n);
  const std::vector<float> bias = random_floats(3, s.n), base = random_floats(4, s.m * s.n);
  const bool halves = s.result == Element::bf16;
  constexpr float kGuard = 12345;
  std::vector<float> c(s.m * s.n + 64, kGuard);
  if (s.base == Base::in_place) std::copy(base.begin(), base.end(), c.begin());
  std::vector<uint16_t> half_c(halves ? s.m * s.n : 0), packed;
  if (s.packed_b) {
    const auto bytes = products.packed_bytes(s);
    REQUIRE(bytes.ok());
    packed.resize(*bytes / sizeof(uint16_t));
    const auto packing = products.packing(s, b.data(), packed.data());
    REQUIRE(packing.ok());
    REQUIRE((*packing)->run(2).ok());
  }
  const auto product =
      products.product(s, a.data(), s.packed_b ? packed.data() : b.data(), bias.data(), base.data(),
                       halves ? static_cast<void*>(half_c.data()) : c.data());
  REQUIRE(product.ok());
  REQUIRE((*product)->run(2).ok());
  double worst = 0;
  for (size_t i = 0; i < s.m; ++i) {
    for (size_t j = 0; j < s.n; ++j) {
      double sum = s.base == Base::none ? 0 : base[i * s.n + j];
      double size = std::abs(sum) + 1;
      if (s.bias) sum += bias[j];
      for (size_t p = 0; p < s.k; ++p) {
        const double term = static_cast<double>(value_of(a[i * s.k + p])) *
                            value_of(b[s.transpose_b ? j * s.k + p : p * s.n + j]);
        sum += term;
        size += std::abs(term);
      }
      const double got = halves ? value_of(half_c[i * s.n + j]) : c[i * s.n + j];
      const double bound = halves ? std::abs(sum) / 256 + size * 1e-6 : size * 1e-6;
      worst = std::max(worst, std::abs(got - sum) / bound);
    }
  }
  CHECK(worst < 1);
  for (size_t i = s.m * s.n; i < c.size(); ++i) CHECK(c[i] == kGuard);
}

TEST_CASE("our products of bf16 are right for every form and edge") {
  if (!HalfProducts::fits_machine()) {
    MESSAGE("skipped: this machine has no AVX512-BF16, or has AMX, where oneDNN is used");
    return;
  }
  struct Sizes {
    size_t m, n, k;
  };
  for (const auto [m, n, k] :
       {Sizes{1, 1, 2}, Sizes{7, 47, 34}, Sizes{8, 48, 32}, Sizes{13, 97, 66},
        Sizes{350, 130, 1030}, Sizes{64, 50, 2050}, Sizes{3, 1000, 18}}) {
    for (const bool packed : {true, false}) {
      for (const bool transposed : {false, true}) {
        if (transposed && !packed) continue;
        for (const Base base : {Base::none, Base::in_place, Base::other})
          check({.m = m,
                 .n = n,
                 .k = k,
                 .transpose_b = transposed,
                 .operands = Element::bf16,
                 .packed_b = packed,
                 .bias = base != Base::in_place,
                 .base = base});
        if (packed || k <= 1024)
          check({.m = m,
                 .n = n,
                 .k = k,
                 .transpose_b = transposed,
                 .operands = Element::bf16,
                 .result = Element::bf16,
                 .packed_b = packed,
                 .bias = true});
      }
    }
  }
}

TEST_CASE("what our kernel has no form for goes to the library") {
  static const Nothing nothing;
  const HalfProducts products(nothing);
  const ProductShape odd{.m = 8, .n = 48, .k = 33, .operands = Element::bf16};
  const ProductShape floats{.m = 8, .n = 48, .k = 32};
  for (const ProductShape& shape : {odd, floats}) {
    const auto product = products.product(shape, nullptr, nullptr, nullptr, nullptr, nullptr);
    REQUIRE_FALSE(product.ok());
    CHECK(product.error().message == "not ours");
    CHECK_FALSE(products.packed_bytes(shape).ok());
  }
}

}  // namespace
}  // namespace stallscope::trainer
