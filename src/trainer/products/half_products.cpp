#include "trainer/products/half_products.h"

#include <cstdlib>

#include "trainer/kernels/half_product.h"
#include "trainer/ops/team.h"

namespace stallscope::trainer {
namespace {

static_assert(kPackedRows % kHalfPackRows == 0);

// Whether our kernel computes this: pairs along an even depth, rows as they lie.
bool is_ours(const ProductShape& s) {
  return s.operands == Element::bf16 && !s.transpose_a && s.k % 2 == 0 &&
         (s.packed_b || !s.transpose_b) &&
         (s.result != Element::bf16 || (s.base == ProductShape::Base::none && s.k <= kHalfDepth));
}

// Of the calling thread: allocated by its first product.
uint16_t* thread_scratch() {
  struct Free {
    void operator()(uint16_t* memory) const { std::free(memory); }
  };
  thread_local const std::unique_ptr<uint16_t, Free> scratch(
      static_cast<uint16_t*>(std::aligned_alloc(64, kHalfScratch * sizeof(uint16_t))));
  return scratch.get();
}

class Product final : public Prepared {
 public:
  explicit Product(const HalfProduct& product) : product_(product) {}

  // Whichever of rows and panels there are more of is split: the other operand is shared.
  Status run(int team) const override {
    const size_t panels = half_panels(product_.n);
    if (product_.packed && product_.m > product_.n) {
      for_rows(team, product_.m, kHalfRows, [&](size_t begin, size_t end) {
        multiply_halves(product_, begin, end, 0, panels, nullptr);
      });
    } else {
      // A is read again for each piece.
      constexpr size_t kPanels = 4;
      for_rows(team, panels, kPanels, [&](size_t begin, size_t end) {
        multiply_halves(product_, 0, product_.m, begin, end,
                        product_.packed ? nullptr : thread_scratch());
      });
    }
    return ok_status();
  }

 private:
  HalfProduct product_;
};

class Packing final : public Prepared {
 public:
  Packing(const ProductShape& shape, const void* from, void* to)
      : shape_(shape), from_(static_cast<const uint16_t*>(from)), to_(static_cast<uint16_t*>(to)) {}

  Status run(int team) const override {
    for_rows(team, shape_.transpose_b ? shape_.n : shape_.k, kHalfPackRows,
             [&](size_t begin, size_t end) { pack_rows(from_ + begin * row_size(), begin, end); });
    return ok_status();
  }
  bool packs_rows() const override { return true; }
  void pack_rows(const uint16_t* rows, size_t begin, size_t end) const override {
    pack_halves(to_, rows, shape_.k, shape_.n, shape_.transpose_b, begin, end);
  }

 private:
  size_t row_size() const { return shape_.transpose_b ? shape_.k : shape_.n; }

  ProductShape shape_;
  const uint16_t* from_;
  uint16_t* to_;
};

}  // namespace

bool HalfProducts::fits_machine() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bf16") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("amx-bf16") == 0;
}

std::string HalfProducts::version() const {
  return others_.version() + " and own bf16 products";
}

Result<std::unique_ptr<Prepared>> HalfProducts::product(const ProductShape& shape, const void* a,
                                                        const void* b, const float* bias,
                                                        const float* base, void* c) const {
  if (!is_ours(shape)) return others_.product(shape, a, b, bias, base, c);
  const bool halves = shape.result == Element::bf16;
  return std::unique_ptr<Prepared>(std::make_unique<Product>(
      HalfProduct{.m = shape.m,
                  .n = shape.n,
                  .k = shape.k,
                  .a = static_cast<const uint16_t*>(a),
                  .b = static_cast<const uint16_t*>(b),
                  .packed = shape.packed_b,
                  .bias = shape.bias ? bias : nullptr,
                  .base = shape.base == ProductShape::Base::none       ? nullptr
                          : shape.base == ProductShape::Base::in_place ? static_cast<float*>(c)
                                                                       : base,
                  .c = halves ? nullptr : static_cast<float*>(c),
                  .half_c = halves ? static_cast<uint16_t*>(c) : nullptr}));
}

Result<size_t> HalfProducts::packed_bytes(const ProductShape& shape) const {
  if (!is_ours(shape)) return others_.packed_bytes(shape);
  return half_packed_size(shape.k, shape.n) * sizeof(uint16_t);
}

Result<std::unique_ptr<Prepared>> HalfProducts::packing(const ProductShape& shape, const void* from,
                                                        void* to) const {
  if (!is_ours(shape)) return others_.packing(shape, from, to);
  return std::unique_ptr<Prepared>(std::make_unique<Packing>(shape, from, to));
}

}  // namespace stallscope::trainer
