// Matrix products by oneDNN, opened at run time. Each product of a program is
// prepared once, with its operands bound, so that running it allocates nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "trainer/program/program.h"

namespace stallscope::trainer {

/// One kind of product: C[m, n] = base + bias + op(A) op(B), all row-major; base and bias are
/// floats, A and B of type `operands` (real: float), C of type `result`, which a base has too.
struct ProductShape {
  size_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  Element operands = Element::real, result = Element::real;
  bool packed_b = false;  ///< B is in the library's own layout
  bool bias = false;
  enum class Base : uint8_t { none, in_place, other } base = Base::none;
};

inline constexpr size_t kPackedRows = 48;

/// A product or a copy with its operands bound.
class Prepared {
 public:
  virtual ~Prepared() = default;
  /// Runs on `team` threads of the calling thread's own; error when the library fails.
  virtual Status run(int team) const = 0;
  /// Of a copy: whether it can be made of some rows alone, by the thread that has just written
  /// them.
  virtual bool packs_rows() const { return false; }
  /// `rows` are rows [begin, end) of B as it lies, from a multiple of kPackedRows on and up to one,
  /// or to its end.
  virtual void pack_rows(const uint16_t* /*rows*/, size_t /*begin*/, size_t /*end*/) const {}
};

class ProductLibrary {
 public:
  virtual ~ProductLibrary() = default;
  /// "oneDNN 3.2.0"
  virtual std::string version() const = 0;
  /// Whether products of bf16 run at their own speed here.
  virtual bool has_bf16() const = 0;
  /// Whether they run here at all: oneDNN wants AVX-512 for them.
  virtual bool takes_bf16() const = 0;

  virtual Result<std::unique_ptr<Prepared>> product(const ProductShape& shape, const void* a,
                                                    const void* b, const float* bias,
                                                    const float* base, void* c) const = 0;
  /// Bytes of B in the library's own layout for this product.
  virtual Result<size_t> packed_bytes(const ProductShape& shape) const = 0;
  /// Copies B, [k, n] or transposed as the shape says and of its type, into that layout.
  virtual Result<std::unique_ptr<Prepared>> packing(const ProductShape& shape, const void* from,
                                                    void* to) const = 0;
};

/// The library of this installation; null when it is not there, with the reason in `why`.
const ProductLibrary* product_library(std::string* why = nullptr);

}  // namespace stallscope::trainer
