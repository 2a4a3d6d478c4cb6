// Products of bf16 operands by our own kernel, where it is the faster one; everything else by the
// library.
#pragma once

#include "trainer/products/library.h"

namespace stallscope::trainer {

class HalfProducts final : public ProductLibrary {
 public:
  explicit HalfProducts(const ProductLibrary& others) : others_(others) {}

  /// Whether this machine has AVX512-BF16 and no tiles (AMX), with which the library is faster.
  static bool fits_machine();

  std::string version() const override;
  bool has_bf16() const override { return true; }
  bool takes_bf16() const override { return others_.takes_bf16(); }
  Result<std::unique_ptr<Prepared>> product(const ProductShape& shape, const void* a, const void* b,
                                            const float* bias, const float* base,
                                            void* c) const override;
  Result<size_t> packed_bytes(const ProductShape& shape) const override;
  Result<std::unique_ptr<Prepared>> packing(const ProductShape& shape, const void* from,
                                            void* to) const override;

 private:
  const ProductLibrary& others_;
};

}  // namespace stallscope::trainer
