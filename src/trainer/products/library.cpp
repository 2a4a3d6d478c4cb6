#include "trainer/products/library.h"

#include <dlfcn.h>

#include <array>
#include <vector>

#include "base/install_tree.h"
#include "trainer/products/half_products.h"

#ifdef STALLSCOPE_ONEDNN
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#endif

namespace stallscope::trainer {

#ifdef STALLSCOPE_ONEDNN
namespace {

// The C functions used, as members of a table of the same names.
#define STALLSCOPE_ONEDNN_FUNCTIONS(X)    \
  X(dnnl_version)                         \
  X(dnnl_engine_create)                   \
  X(dnnl_stream_create)                   \
  X(dnnl_memory_desc_create_with_strides) \
  X(dnnl_memory_desc_create_with_tag)     \
  X(dnnl_memory_desc_destroy)             \
  X(dnnl_memory_desc_get_size)            \
  X(dnnl_memory_create)                   \
  X(dnnl_memory_destroy)                  \
  X(dnnl_matmul_primitive_desc_create)    \
  X(dnnl_reorder_primitive_desc_create)   \
  X(dnnl_primitive_desc_query_md)         \
  X(dnnl_primitive_desc_destroy)          \
  X(dnnl_primitive_attr_create)           \
  X(dnnl_primitive_attr_destroy)          \
  X(dnnl_primitive_attr_set_post_ops)     \
  X(dnnl_post_ops_create)                 \
  X(dnnl_post_ops_destroy)                \
  X(dnnl_post_ops_append_sum)             \
  X(dnnl_post_ops_append_binary)          \
  X(dnnl_primitive_create)                \
  X(dnnl_primitive_destroy)               \
  X(dnnl_primitive_execute)

struct Functions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declarator takes none
#define X(name) decltype(&::name) name = nullptr;
  STALLSCOPE_ONEDNN_FUNCTIONS(X)
#undef X
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;

  /// The first function that is missing, or null.
  const char* load(void* library) {
#define X(symbol)                                                            \
  (symbol) = reinterpret_cast<decltype(&::symbol)>(dlsym(library, #symbol)); \
  if ((symbol) == nullptr) return #symbol;
    STALLSCOPE_ONEDNN_FUNCTIONS(X)
#undef X
    return nullptr;
  }
};

Error failed(const char* what, dnnl_status_t status) {
  return Error{.message = std::string("oneDNN: ") + what + " failed with status " +
                          std::to_string(static_cast<int>(status))};
}

dnnl_data_type_t type_of(Element element) {
  return element == Element::bf16 ? dnnl_bf16 : dnnl_f32;
}

// A handle of the library, given back by `destroy`.
template <typename T>
class Owned {
 public:
  explicit Owned(dnnl_status_t (*destroy)(T)) : destroy_(destroy) {}
  Owned(Owned&& other) noexcept
      : destroy_(other.destroy_), value_(std::exchange(other.value_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Owned() {
    if (value_ != nullptr) destroy_(value_);
  }
  T get() const { return value_; }
  T* out() { return &value_; }

 private:
  dnnl_status_t (*destroy_)(T);
  T value_ = nullptr;
};

class Primitive final : public Prepared {
 public:
  explicit Primitive(const Functions& f) : f_(f), primitive_(f.dnnl_primitive_destroy) {}

  Status create(const_dnnl_primitive_desc_t description) {
    if (auto s = f_.dnnl_primitive_create(primitive_.out(), description); s != dnnl_success)
      return failed("dnnl_primitive_create", s);
    return ok_status();
  }
  Status bind(int argument, const_dnnl_memory_desc_t description, const void* data) {
    Owned<dnnl_memory_t> memory(f_.dnnl_memory_destroy);
    const auto s =
        f_.dnnl_memory_create(memory.out(), description, f_.engine, const_cast<void*>(data));
    if (s != dnnl_success) return failed("dnnl_memory_create", s);
    arguments_.push_back({argument, memory.get()});
    memories_.push_back(std::move(memory));
    return ok_status();
  }
  Status run(int team) const override {
    omp_set_num_threads(team);
    const auto s = f_.dnnl_primitive_execute(
        primitive_.get(), f_.stream, static_cast<int>(arguments_.size()), arguments_.data());
    if (s != dnnl_success) return failed("dnnl_primitive_execute", s);
    return ok_status();
  }

 private:
  const Functions& f_;
  Owned<dnnl_primitive_t> primitive_;
  std::vector<Owned<dnnl_memory_t>> memories_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

class OneDnn final : public ProductLibrary {
 public:
  explicit OneDnn(const Functions& functions) : f_(functions) {}

  std::string version() const override {
    const dnnl_version_t* v = f_.dnnl_version();
    return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
           std::to_string(v->patch);
  }
  bool has_bf16() const override {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512bf16") != 0;
  }
  bool takes_bf16() const override {
    return describe({.m = 16, .n = 16, .k = 16, .operands = Element::bf16}).ok();
  }

  Result<std::unique_ptr<Prepared>> product(const ProductShape& shape, const void* a, const void* b,
                                            const float* bias, const float* base,
                                            void* c) const override {
    auto d = describe(shape);
    if (!d.ok()) return d.error();
    auto it = std::make_unique<Primitive>(f_);
    if (Status s = it->create(d->product.get()); !s.ok()) return s.error();
    const auto weights =
        f_.dnnl_primitive_desc_query_md(d->product.get(), dnnl_query_weights_md, 0);
    if (Status s = it->bind(DNNL_ARG_SRC, d->a.get(), a); !s.ok()) return s.error();
    if (Status s = it->bind(DNNL_ARG_WEIGHTS, weights, b); !s.ok()) return s.error();
    if (Status s = it->bind(DNNL_ARG_DST, d->c.get(), c); !s.ok()) return s.error();
    if (shape.bias)
      if (Status s = it->bind(DNNL_ARG_BIAS, d->bias.get(), bias); !s.ok()) return s.error();
    if (shape.base == ProductShape::Base::other) {
      const int argument = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
      if (Status s = it->bind(argument, d->c.get(), base); !s.ok()) return s.error();
    }
    return std::unique_ptr<Prepared>(std::move(it));
  }

  Result<size_t> packed_bytes(const ProductShape& shape) const override {
    auto d = describe(shape);
    if (!d.ok()) return d.error();
    return f_.dnnl_memory_desc_get_size(
        f_.dnnl_primitive_desc_query_md(d->product.get(), dnnl_query_weights_md, 0));
  }

  Result<std::unique_ptr<Prepared>> packing(const ProductShape& shape, const void* from,
                                            void* to) const override {
    auto d = describe(shape);
    if (!d.ok()) return d.error();
    const auto plain = matrix(shape.k, shape.n, shape.operands, shape.transpose_b);
    return copy(plain.get(), from,
                f_.dnnl_primitive_desc_query_md(d->product.get(), dnnl_query_weights_md, 0), to);
  }

 private:
  struct Description {
    explicit Description(const Functions& f)
        : a(f.dnnl_memory_desc_destroy),
          b(f.dnnl_memory_desc_destroy),
          bias(f.dnnl_memory_desc_destroy),
          c(f.dnnl_memory_desc_destroy),
          product(f.dnnl_primitive_desc_destroy) {}
    Owned<dnnl_memory_desc_t> a, b, bias, c;
    Owned<dnnl_primitive_desc_t> product;
  };

  // [rows, columns] in row-major order, or the transpose of what lies so in memory.
  Owned<dnnl_memory_desc_t> matrix(size_t rows, size_t columns, Element element,
                                   bool transposed) const {
    Owned<dnnl_memory_desc_t> it(f_.dnnl_memory_desc_destroy);
    const dnnl_dims_t sizes = {static_cast<dnnl_dim_t>(rows), static_cast<dnnl_dim_t>(columns)};
    const dnnl_dims_t steps = {transposed ? 1 : sizes[1], transposed ? sizes[0] : 1};
    f_.dnnl_memory_desc_create_with_strides(it.out(), 2, sizes, type_of(element), steps);
    return it;
  }

  Result<Description> describe(const ProductShape& s) const {
    Description d(f_);
    d.a = matrix(s.m, s.k, s.operands, s.transpose_a);
    d.bias = matrix(1, s.n, Element::real, false);
    d.c = matrix(s.m, s.n, s.result, false);
    if (s.packed_b) {
      const dnnl_dims_t sizes = {static_cast<dnnl_dim_t>(s.k), static_cast<dnnl_dim_t>(s.n)};
      f_.dnnl_memory_desc_create_with_tag(d.b.out(), 2, sizes, type_of(s.operands),
                                          dnnl_format_tag_any);
    } else {
      d.b = matrix(s.k, s.n, s.operands, s.transpose_b);
    }
    Owned<dnnl_primitive_attr_t> attributes(f_.dnnl_primitive_attr_destroy);
    f_.dnnl_primitive_attr_create(attributes.out());
    Owned<dnnl_post_ops_t> after(f_.dnnl_post_ops_destroy);
    f_.dnnl_post_ops_create(after.out());
    if (s.base == ProductShape::Base::in_place)
      f_.dnnl_post_ops_append_sum(after.get(), 1.0F, 0, dnnl_f32);
    if (s.base == ProductShape::Base::other)
      f_.dnnl_post_ops_append_binary(after.get(), dnnl_binary_add, d.c.get());
    f_.dnnl_primitive_attr_set_post_ops(attributes.get(), after.get());
    const auto status = f_.dnnl_matmul_primitive_desc_create(
        d.product.out(), f_.engine, d.a.get(), d.b.get(), s.bias ? d.bias.get() : nullptr,
        d.c.get(), attributes.get());
    if (status != dnnl_success) return failed("dnnl_matmul_primitive_desc_create", status);
    return d;
  }

  Result<std::unique_ptr<Prepared>> copy(const_dnnl_memory_desc_t source, const void* from,
                                         const_dnnl_memory_desc_t target, void* to) const {
    Owned<dnnl_primitive_desc_t> description(f_.dnnl_primitive_desc_destroy);
    const auto status = f_.dnnl_reorder_primitive_desc_create(description.out(), source, f_.engine,
                                                              target, f_.engine, nullptr);
    if (status != dnnl_success) return failed("dnnl_reorder_primitive_desc_create", status);
    auto it = std::make_unique<Primitive>(f_);
    if (Status s = it->create(description.get()); !s.ok()) return s.error();
    if (Status s = it->bind(DNNL_ARG_FROM, source, from); !s.ok()) return s.error();
    if (Status s = it->bind(DNNL_ARG_TO, target, to); !s.ok()) return s.error();
    return std::unique_ptr<Prepared>(std::move(it));
  }

  const Functions& f_;
};

struct Loaded {
  Functions functions;
  std::unique_ptr<OneDnn> library;
  std::string why;
};

Loaded& loaded() {
  static Loaded it;
  static const bool once = [] {
    const auto path = library_path("libdnnl.so.3");
    if (!path.ok()) return it.why = path.error().to_string(), true;
    void* const handle = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return it.why = dlerror(), true;
    if (const char* missing = it.functions.load(handle))
      return it.why = *path + " lacks " + missing, true;
    if (it.functions.dnnl_engine_create(&it.functions.engine, dnnl_cpu, 0) != dnnl_success ||
        it.functions.dnnl_stream_create(&it.functions.stream, it.functions.engine,
                                        dnnl_stream_default_flags) != dnnl_success)
      return it.why = "oneDNN gives no CPU engine", true;
    it.library = std::make_unique<OneDnn>(it.functions);
    return true;
  }();
  (void)once;
  return it;
}

}  // namespace

const ProductLibrary* product_library(std::string* why) {
  if (why != nullptr) *why = loaded().why;
  const OneDnn* const library = loaded().library.get();
  if (library == nullptr || !HalfProducts::fits_machine()) return library;
  static const HalfProducts with_own(*library);
  return &with_own;
}

#else

const ProductLibrary* product_library(std::string* why) {
  if (why != nullptr) *why = "this build has no oneDNN: run scripts/setup.sh";
  return nullptr;
}

#endif

}  // namespace stallscope::trainer
