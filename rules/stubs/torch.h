// LibTorch, ATen and c10, as far as types follow from calls of them. Arguments
// are not checked: Arg takes anything.
#ifndef STALLSCOPE_STUBS_TORCH
#define STALLSCOPE_STUBS_TORCH
#ifdef __cplusplus
#ifndef STALLSCOPE_STUBS_STD
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>
#endif

namespace stallscope_stubs {
/// Any argument: a value, a list in braces, nothing.
struct Arg {
  Arg();
  template <class T> Arg(const T&);
  Arg(std::initializer_list<Arg>);
};
}  // namespace stallscope_stubs

namespace c10 {
using stallscope_stubs::Arg;
enum class DeviceType : signed char { CPU, CUDA, HIP, MPS, XPU, Meta };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kMPS = DeviceType::MPS;
using DeviceIndex = signed char;
enum class ScalarType : signed char { Byte, Char, Short, Int, Long, Half, Float, Double, ComplexFloat, Bool, BFloat16 };
constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte, kChar = ScalarType::Char,
                     kInt8 = ScalarType::Char, kShort = ScalarType::Short, kInt16 = ScalarType::Short,
                     kInt = ScalarType::Int, kInt32 = ScalarType::Int, kLong = ScalarType::Long,
                     kInt64 = ScalarType::Long, kHalf = ScalarType::Half, kFloat16 = ScalarType::Half,
                     kFloat = ScalarType::Float, kFloat32 = ScalarType::Float, kF32 = ScalarType::Float,
                     kDouble = ScalarType::Double, kFloat64 = ScalarType::Double, kF64 = ScalarType::Double,
                     kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
enum class Layout : signed char { Strided, Sparse };
constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse;
enum class MemoryFormat : signed char { Contiguous, Preserve, ChannelsLast };
struct Half { Half(); Half(float); operator float() const; };
struct BFloat16 { BFloat16(); BFloat16(float); operator float() const; };
class Device {
 public:
  Device(DeviceType, DeviceIndex = -1);
  Device(const char*); Device(const std::string&);
  DeviceType type() const; DeviceIndex index() const;
  bool is_cuda() const; bool is_cpu() const; bool is_mps() const; bool has_index() const; std::string str() const;
  bool operator==(const Device&) const; bool operator!=(const Device&) const;
};
struct caffe2_TypeMeta {
  operator ScalarType() const;
  bool operator==(ScalarType) const; bool operator!=(ScalarType) const; const char* name() const;
};
class Scalar {
 public:
  Scalar(); template <class T> Scalar(T);
  template <class T> T to() const;
  double toDouble() const; float toFloat() const; int64_t toLong() const; int toInt() const; bool toBool() const;
};
class TensorOptions {
 public:
  TensorOptions(); TensorOptions(Device); TensorOptions(DeviceType); TensorOptions(ScalarType);
  TensorOptions(Layout); TensorOptions(caffe2_TypeMeta);
  TensorOptions dtype(Arg) const; TensorOptions device(Arg, DeviceIndex = -1) const;
  TensorOptions layout(Arg) const; TensorOptions requires_grad(bool = true) const;
  TensorOptions pinned_memory(bool = true) const; TensorOptions memory_format(Arg) const;
  Device device() const; caffe2_TypeMeta dtype() const;
};
template <class T> class ArrayRef {
 public:
  ArrayRef(); ArrayRef(const T&); ArrayRef(const T*, size_t); template <class A> ArrayRef(const std::vector<T, A>&);
  ArrayRef(std::initializer_list<T>);
  const T* begin() const; const T* end() const; const T* data() const; const T& operator[](size_t) const;
  const T& front() const; const T& back() const;
  size_t size() const; bool empty() const; std::vector<T> vec() const; ArrayRef slice(size_t, size_t) const;
  bool operator==(ArrayRef) const; bool operator!=(ArrayRef) const;
};
using IntArrayRef = ArrayRef<int64_t>;
using std::nullopt; using std::nullopt_t;
template <class T> using optional = std::optional<T>;
template <class T> class intrusive_ptr {
 public:
  intrusive_ptr(); T* operator->() const; T& operator*() const; T* get() const; explicit operator bool() const;
};
template <class T, class... A> intrusive_ptr<T> make_intrusive(A&&...);
struct Error : std::exception { const char* what() const noexcept; };
class Stream { public: void synchronize() const; bool query() const; void wait(Arg) const; Device device() const; };
class Event { public: void record(Arg); void block(Arg); void synchronize() const; bool query() const; double elapsedTime(Arg); };
struct StreamGuard { explicit StreamGuard(Arg); };
struct DeviceGuard { explicit DeviceGuard(Arg); };
struct InferenceMode { explicit InferenceMode(bool = true); };
namespace cuda {
class CUDAStream {
 public:
  void synchronize() const; bool query() const; Device device() const; DeviceIndex device_index() const;
  struct CUstream_st* stream() const; operator struct CUstream_st*() const; operator Stream() const; Stream unwrap() const;
};
CUDAStream getCurrentCUDAStream(DeviceIndex = -1);
CUDAStream getDefaultCUDAStream(DeviceIndex = -1);
CUDAStream getStreamFromPool(bool = false, DeviceIndex = -1);
CUDAStream getStreamFromExternal(struct CUstream_st*, DeviceIndex);
void setCurrentCUDAStream(CUDAStream);
DeviceIndex device_count(); DeviceIndex current_device(); void set_device(DeviceIndex); void device_synchronize();
struct CUDAGuard { explicit CUDAGuard(Arg); void set_device(Arg); void set_index(DeviceIndex); };
struct OptionalCUDAGuard { OptionalCUDAGuard(Arg = {}); };
struct CUDAStreamGuard { explicit CUDAStreamGuard(Arg); };
struct CUDAMultiStreamGuard { explicit CUDAMultiStreamGuard(Arg); };
namespace CUDACachingAllocator {
void emptyCache(Arg = {}); void recordStream(Arg, CUDAStream); void resetPeakStats(Arg = {});
}  // namespace CUDACachingAllocator
}  // namespace cuda
}  // namespace c10

namespace at {
using namespace c10;
class Tensor;
using TensorList = c10::ArrayRef<Tensor>;
class Generator { public: void set_current_seed(uint64_t); };
namespace indexing {
enum class EllipsisIndexType { Ellipsis };
constexpr EllipsisIndexType Ellipsis = EllipsisIndexType::Ellipsis;
using c10::nullopt;
constexpr std::nullopt_t None = std::nullopt;
struct Slice { Slice(Arg = {}, Arg = {}, Arg = {}); };
struct TensorIndex { template <class T> TensorIndex(const T&); };
}  // namespace indexing
template <class T, size_t N> class TensorAccessor {
 public:
  TensorAccessor<T, N - 1> operator[](int64_t) const; int64_t size(int64_t) const; T* data() const;
};
template <class T> class TensorAccessor<T, 1> {
 public:
  T& operator[](int64_t) const; int64_t size(int64_t) const; T* data() const;
};
template <class T, size_t N> class GenericPackedTensorAccessor : public TensorAccessor<T, N> {};

#define STALLSCOPE_ARGS Arg = {}, Arg = {}, Arg = {}, Arg = {}, Arg = {}, Arg = {}, Arg = {}, Arg = {}
// Methods that give a tensor.
#define STALLSCOPE_METHODS(each)                                                                    \
  each(abs) each(abs_) each(acos) each(add) each(add_) each(addmm) each(addcmul) each(addcmul_)     \
  each(addcdiv) each(addcdiv_) each(all) each(amax) each(amin) each(any) each(argmax) each(argmin)  \
  each(argsort) each(asin) each(atan) each(atan2) each(baddbmm) each(bernoulli) each(bernoulli_)    \
  each(bincount) each(bitwise_and) each(bitwise_or) each(bitwise_not) each(bmm) each(ceil)          \
  each(clamp) each(clamp_) each(clamp_min) each(clamp_min_) each(clamp_max) each(clamp_max_)        \
  each(clone) each(contiguous) each(copy_) each(cos) each(cosh) each(cpu) each(cross)    \
  each(cumprod) each(cumsum) each(data) each(detach) each(detach_) each(diag) each(diagonal)        \
  each(div) each(div_) each(dot) each(eq) each(erf) each(exp) each(exp_) each(expand)               \
  each(expand_as) each(exponential_) each(fill_) each(flatten) each(flip) each(floor) each(floor_)  \
  each(fmod) each(frac) each(gather) each(ge) each(ger) each(gt) each(half_) each(hardtanh)         \
  each(index) each(index_add) each(index_add_) each(index_copy_) each(index_fill_)                  \
  each(index_put) each(index_put_) each(index_select) each(inverse) each(isclose) each(isfinite)    \
  each(isinf) each(isnan) each(kthvalue_) each(le) each(lerp) each(lerp_) each(log) each(log10)     \
  each(log1p) each(log2) each(log_) each(log_softmax) each(logical_and) each(logical_not)           \
  each(logical_or) each(logit) each(logsumexp) each(lt) each(masked_fill) each(masked_fill_)        \
  each(masked_scatter_) each(masked_select) each(matmul) each(max_) each(maximum) each(mean)        \
  each(minimum) each(mm) each(movedim) each(mul) each(mul_) each(multinomial) each(mv) each(nan_to_num) \
  each(narrow) each(ne) each(neg) each(neg_) each(new_empty) each(new_full) each(new_ones)          \
  each(new_tensor) each(new_zeros) each(nonzero) each(norm) each(normal_) each(outer) each(permute) \
  each(pin_memory) each(pow) each(pow_) each(prod) each(random_) each(reciprocal) each(relu)        \
  each(relu_) each(remainder) each(repeat) each(repeat_interleave) each(requires_grad_)             \
  each(reshape) each(reshape_as) each(resize_) each(roll) each(round) each(rsqrt) each(scatter)     \
  each(scatter_) each(scatter_add) each(scatter_add_) each(select) each(set_) each(sigmoid)         \
  each(sigmoid_) each(sign) each(sin) each(sinh) each(slice) each(softmax) each(sqrt) each(sqrt_)   \
  each(square) each(squeeze) each(squeeze_) each(std) each(sub) each(sub_) each(sum) each(t)        \
  each(take) each(tan) each(tanh) each(tanh_) each(tensor_data) each(tile) each(to) each(to_dense)  \
  each(to_sparse) each(toType) each(trace) each(transpose) each(transpose_) each(tril) each(tril_)  \
  each(triu) each(triu_) each(trunc) each(type_as) each(unfold) each(uniform_) each(unsqueeze)      \
  each(unsqueeze_) each(values) each(indices) each(var) each(variable_data) each(view)              \
  each(view_as) each(where) each(zero_) each(zeros_like) each(grad_) each(expm1) each(floor_divide) \
  each(coalesce) each(count_nonzero) each(cholesky) each(quantile) each(median_) each(swapaxes)
#define STALLSCOPE_LIST_METHODS(each) \
  each(split) each(chunk) each(unbind) each(split_with_sizes) each(tensor_split) each(hsplit) each(vsplit)
#define STALLSCOPE_PAIR_METHODS(each) each(topk) each(sort) each(kthvalue) each(mode) each(cummax) each(cummin)

class TensorBase {
 public:
  int64_t size(Arg) const; IntArrayRef sizes() const; IntArrayRef strides() const; int64_t stride(Arg) const;
  int64_t dim() const; int64_t ndimension() const; int64_t numel() const; int64_t storage_offset() const;
  size_t nbytes() const; int64_t itemsize() const; int64_t element_size() const; int64_t get_device() const;
  bool defined() const; bool is_cuda() const; bool is_cpu() const; bool is_contiguous(Arg = {}) const;
  bool is_floating_point() const; bool is_complex() const; bool is_sparse() const; bool is_pinned() const;
  bool is_leaf() const; bool requires_grad() const; bool is_same(const TensorBase&) const; bool is_mps() const;
  bool has_storage() const; bool is_alias_of(const TensorBase&) const;
  Device device() const; caffe2_TypeMeta dtype() const; ScalarType scalar_type() const; TensorOptions options() const;
  Layout layout() const; std::string toString() const; std::string name() const; void reset();
  template <class T> T* data_ptr() const; void* data_ptr() const;
  template <class T> const T* const_data_ptr() const; template <class T> T* mutable_data_ptr() const;
  template <class T, size_t N> TensorAccessor<T, N> accessor() const;
  template <class T, size_t N> GenericPackedTensorAccessor<T, N> packed_accessor() const;
  template <class T, size_t N> GenericPackedTensorAccessor<T, N> packed_accessor32() const;
  template <class T, size_t N> GenericPackedTensorAccessor<T, N> packed_accessor64() const;
};
class Tensor : public TensorBase {
 public:
  Tensor();
#define STALLSCOPE_METHOD(name) Tensor name(STALLSCOPE_ARGS) const;
  STALLSCOPE_METHODS(STALLSCOPE_METHOD)
#undef STALLSCOPE_METHOD
#define STALLSCOPE_METHOD(name) std::vector<Tensor> name(STALLSCOPE_ARGS) const;
  STALLSCOPE_LIST_METHODS(STALLSCOPE_METHOD)
#undef STALLSCOPE_METHOD
#define STALLSCOPE_METHOD(name) std::tuple<Tensor, Tensor> name(STALLSCOPE_ARGS) const;
  STALLSCOPE_PAIR_METHODS(STALLSCOPE_METHOD)
#undef STALLSCOPE_METHOD
  Tensor cuda(STALLSCOPE_ARGS) const;
  Tensor max() const; Tensor max(const Tensor&) const; std::tuple<Tensor, Tensor> max(int64_t, bool = false) const;
  Tensor min() const; Tensor min(const Tensor&) const; std::tuple<Tensor, Tensor> min(int64_t, bool = false) const;
  Tensor median() const; std::tuple<Tensor, Tensor> median(int64_t, bool = false) const;
  Scalar item() const; template <class T> T item() const;
  bool equal(const Tensor&) const; bool allclose(const Tensor&, double = 0, double = 0, bool = false) const;
  bool is_nonzero() const;
  void backward(STALLSCOPE_ARGS) const; Tensor& mutable_grad() const; const Tensor& grad() const;
  const Tensor& set_requires_grad(bool) const; void retain_grad() const; void print() const;
  template <class F> unsigned register_hook(F&&) const; void record_stream(Arg) const;
  Tensor operator[](Arg) const; Tensor index(std::initializer_list<indexing::TensorIndex>) const;
  Tensor& operator+=(Arg); Tensor& operator-=(Arg); Tensor& operator*=(Arg); Tensor& operator/=(Arg);
  Tensor operator-() const; Tensor operator~() const;
};
#define STALLSCOPE_OPERATOR(op)                                 \
  Tensor operator op(const Tensor&, const Tensor&);             \
  Tensor operator op(const Tensor&, const Scalar&);             \
  Tensor operator op(const Scalar&, const Tensor&);
STALLSCOPE_OPERATOR(+) STALLSCOPE_OPERATOR(-) STALLSCOPE_OPERATOR(*) STALLSCOPE_OPERATOR(/)
STALLSCOPE_OPERATOR(<) STALLSCOPE_OPERATOR(>) STALLSCOPE_OPERATOR(<=) STALLSCOPE_OPERATOR(>=)
STALLSCOPE_OPERATOR(==) STALLSCOPE_OPERATOR(!=) STALLSCOPE_OPERATOR(&) STALLSCOPE_OPERATOR(|)
STALLSCOPE_OPERATOR(^) STALLSCOPE_OPERATOR(%)
std::ostream& operator<<(std::ostream&, const Tensor&);
std::ostream& operator<<(std::ostream&, const Device&);
std::ostream& operator<<(std::ostream&, IntArrayRef);

// Functions that give a tensor: those of the methods, and these.
#define STALLSCOPE_FUNCTION(name) Tensor name(STALLSCOPE_ARGS);
#define STALLSCOPE_FUNCTIONS(each)                                                                   \
  each(arange) each(range) each(empty) each(empty_like) each(empty_strided) each(eye) each(full)     \
  each(full_like) each(from_blob) each(linspace) each(logspace) each(ones) each(ones_like)           \
  each(rand) each(rand_like) each(randint) each(randint_like) each(randn) each(randn_like)           \
  each(randperm) each(scalar_tensor) each(tensor) each(zeros) each(cat) each(concat) each(stack)     \
  each(hstack) each(vstack) each(einsum) each(linear) each(conv1d) each(conv2d) each(conv3d)         \
  each(batch_norm) each(layer_norm) each(group_norm) each(instance_norm) each(dropout)               \
  each(embedding) each(gelu) each(silu) each(elu) each(selu) each(leaky_relu) each(softplus)         \
  each(nll_loss) each(cross_entropy_loss) each(mse_loss) each(l1_loss) each(smooth_l1_loss)          \
  each(huber_loss) each(binary_cross_entropy) each(binary_cross_entropy_with_logits) each(kl_div)    \
  each(max_pool1d) each(max_pool2d) each(avg_pool2d) each(adaptive_avg_pool2d) each(pad)             \
  each(cdist) each(cosine_similarity) each(normal) each(one_hot) each(tril_indices)                  \
  each(triu_indices) each(complex) each(polar) each(logical_xor) each(isin) each(bucketize)          \
  each(searchsorted) each(pairwise_distance) each(scaled_dot_product_attention) each(upsample_bilinear2d) \
  each(constant_pad_nd) each(hann_window) each(stft) each(feature_dropout) each(alpha_dropout)
STALLSCOPE_METHODS(STALLSCOPE_FUNCTION)
STALLSCOPE_FUNCTIONS(STALLSCOPE_FUNCTION)
#undef STALLSCOPE_FUNCTION
#define STALLSCOPE_FUNCTION(name) std::vector<Tensor> name(STALLSCOPE_ARGS);
STALLSCOPE_LIST_METHODS(STALLSCOPE_FUNCTION)
std::vector<Tensor> meshgrid(STALLSCOPE_ARGS);
#undef STALLSCOPE_FUNCTION
#define STALLSCOPE_FUNCTION(name) std::tuple<Tensor, Tensor> name(STALLSCOPE_ARGS);
STALLSCOPE_PAIR_METHODS(STALLSCOPE_FUNCTION)
#undef STALLSCOPE_FUNCTION
Tensor max(const Tensor&); Tensor max(const Tensor&, const Tensor&); std::tuple<Tensor, Tensor> max(const Tensor&, int64_t, bool = false);
Tensor min(const Tensor&); Tensor min(const Tensor&, const Tensor&); std::tuple<Tensor, Tensor> min(const Tensor&, int64_t, bool = false);
std::tuple<Tensor, Tensor, Tensor> unique_consecutive(STALLSCOPE_ARGS);
std::tuple<Tensor, Tensor, Tensor> _unique2(STALLSCOPE_ARGS);
bool equal(const Tensor&, const Tensor&); bool allclose(const Tensor&, const Tensor&, double = 0, double = 0, bool = false);
template <class T> c10::TensorOptions dtype(T); c10::TensorOptions device(Arg);
void set_num_threads(int); int get_num_threads(); bool hasCUDA();
struct NoGradGuard { NoGradGuard(); };
struct AutoGradMode { explicit AutoGradMode(bool); };
namespace cuda {
using namespace c10::cuda;
class CUDAEvent {
 public:
  explicit CUDAEvent(unsigned = 0);
  void record(); void record(Arg); void block(Arg); void synchronize() const; bool query() const; float elapsed_time(const CUDAEvent&) const;
};
class CUDAGraph { public: void capture_begin(STALLSCOPE_ARGS); void capture_end(); void replay(); void reset(); };
struct cudaDeviceProp_stub { int multiProcessorCount, major, minor; };
cudaDeviceProp_stub* getCurrentDeviceProperties(); cudaDeviceProp_stub* getDeviceProperties(int64_t);
bool is_available();
}  // namespace cuda
namespace autocast { void set_enabled(bool); void set_autocast_enabled(Arg, bool); bool is_enabled(); void clear_cache(); }
}  // namespace at

namespace torch {
using namespace at;
using at::Tensor; using at::device; using at::dtype; using c10::Device; using c10::DeviceType; using c10::IntArrayRef;
using c10::TensorOptions; using c10::ArrayRef; using c10::Scalar; using c10::optional; using c10::nullopt;
using at::NoGradGuard; using at::AutoGradMode; using c10::InferenceMode;
using Dtype = c10::ScalarType;
void manual_seed(uint64_t); TensorOptions requires_grad(bool = true);
template <class T> void save(const T&, Arg); template <class T> void load(T&, Arg, Arg = {}); std::vector<char> pickle_save(Arg);
namespace indexing { using namespace at::indexing; }
namespace cuda { bool is_available(); bool cudnn_is_available(); size_t device_count(); void manual_seed(uint64_t); void manual_seed_all(uint64_t); void synchronize(int64_t = -1); }
namespace mps { bool is_available(); void synchronize(); }
namespace linalg { Tensor norm(STALLSCOPE_ARGS); Tensor inv(STALLSCOPE_ARGS); Tensor solve(STALLSCOPE_ARGS); Tensor cholesky(STALLSCOPE_ARGS); Tensor det(STALLSCOPE_ARGS); Tensor vector_norm(STALLSCOPE_ARGS); }
namespace fft { Tensor fft(STALLSCOPE_ARGS); Tensor ifft(STALLSCOPE_ARGS); Tensor rfft(STALLSCOPE_ARGS); Tensor irfft(STALLSCOPE_ARGS); }
namespace autograd {
using Variable = at::Tensor;
using variable_list = std::vector<at::Tensor>;
using tensor_list = std::vector<at::Tensor>;
struct AutogradContext {
  void save_for_backward(std::vector<at::Tensor>); std::vector<at::Tensor> get_saved_variables() const;
  std::map<std::string, struct IValueStub> saved_data; void mark_non_differentiable(Arg);
};
template <class T> struct Function { template <class... A> static at::Tensor apply(A&&...); };
variable_list grad(STALLSCOPE_ARGS); void backward(STALLSCOPE_ARGS);
struct AnomalyMode { static void set_enabled(bool); };
struct DetectAnomalyGuard { DetectAnomalyGuard(bool = true); };
}  // namespace autograd
using autograd::Variable;
template <class K, class V> class OrderedDict {
 public:
  struct Item { const K& key() const; V& value(); const V& value() const; V& operator*(); V* operator->(); };
  Item* begin(); Item* end(); const Item* begin() const; const Item* end() const;
  V& operator[](const K&); const V& operator[](const K&) const; V* find(const K&); bool contains(const K&) const; size_t size() const;
};

namespace nn {
class Module {
 public:
  virtual ~Module();
  std::vector<Tensor> parameters(bool = true) const; OrderedDict<std::string, Tensor> named_parameters(bool = true) const;
  std::vector<Tensor> buffers(bool = true) const; OrderedDict<std::string, Tensor> named_buffers(bool = true) const;
  std::vector<std::shared_ptr<Module>> modules(bool = true) const; std::vector<std::shared_ptr<Module>> children() const;
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules() const; OrderedDict<std::string, std::shared_ptr<Module>> named_children() const;
  void train(bool = true); void eval(); bool is_training() const noexcept; void zero_grad(bool = true);
  void to(Arg, Arg = {}, bool = false); const std::string& name() const; template <class F> void apply(const F&);
  template <class A> void save(A&) const; template <class A> void load(A&);
  Tensor& register_parameter(std::string, Tensor, bool = true); Tensor& register_buffer(std::string, Tensor);
  template <class M> std::shared_ptr<M> register_module(std::string, std::shared_ptr<M>);
  template <class M> auto register_module(std::string, M holder) -> decltype(holder.ptr(), holder);
  template <class M> std::shared_ptr<M> replace_module(const std::string&, std::shared_ptr<M>);
  template <class T> T* as() noexcept; std::shared_ptr<Module> clone(Arg = {}) const;
};
template <class T> class Cloneable : public Module { public: virtual void reset() = 0; };
template <class C> class ModuleHolder {
 public:
  ModuleHolder(); ModuleHolder(decltype(nullptr)); ModuleHolder(std::shared_ptr<C>);
  template <class H, class... T> explicit ModuleHolder(H&&, T&&...);
  C* operator->(); const C* operator->() const; C& operator*(); std::shared_ptr<C> ptr() const; C* get();
  template <class... A> Tensor operator()(A&&...); explicit operator bool() const noexcept; bool is_empty() const noexcept;
};
#define TORCH_MODULE_IMPL(Name, Impl)                       \
  class Name : public torch::nn::ModuleHolder<Impl> {       \
   public:                                                  \
    using torch::nn::ModuleHolder<Impl>::ModuleHolder;      \
    Name(const Name&) = default;                            \
    Name(Name&&) = default;                                 \
    Name& operator=(const Name&) = default;                 \
    Name& operator=(Name&&) = default;                      \
  }
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
/// Options of all layers: each setter gives the options back.
struct LayerOptions {
  LayerOptions(STALLSCOPE_ARGS);
#define STALLSCOPE_OPTION(name) LayerOptions& name(STALLSCOPE_ARGS);
  STALLSCOPE_OPTION(stride) STALLSCOPE_OPTION(padding) STALLSCOPE_OPTION(dilation) STALLSCOPE_OPTION(groups)
  STALLSCOPE_OPTION(bias) STALLSCOPE_OPTION(eps) STALLSCOPE_OPTION(momentum) STALLSCOPE_OPTION(affine)
  STALLSCOPE_OPTION(inplace) STALLSCOPE_OPTION(negative_slope) STALLSCOPE_OPTION(num_layers) STALLSCOPE_OPTION(batch_first)
  STALLSCOPE_OPTION(dropout) STALLSCOPE_OPTION(bidirectional) STALLSCOPE_OPTION(reduction) STALLSCOPE_OPTION(weight)
  STALLSCOPE_OPTION(output_padding) STALLSCOPE_OPTION(track_running_stats) STALLSCOPE_OPTION(padding_idx) STALLSCOPE_OPTION(mode)
  STALLSCOPE_OPTION(elementwise_affine) STALLSCOPE_OPTION(ignore_index) STALLSCOPE_OPTION(p) STALLSCOPE_OPTION(dim)
  STALLSCOPE_OPTION(align_corners) STALLSCOPE_OPTION(scale_factor) STALLSCOPE_OPTION(size) STALLSCOPE_OPTION(with_bias)
  STALLSCOPE_OPTION(padding_mode) STALLSCOPE_OPTION(keepdim) STALLSCOPE_OPTION(ceil_mode) STALLSCOPE_OPTION(count_include_pad)
  STALLSCOPE_OPTION(margin) STALLSCOPE_OPTION(alpha) STALLSCOPE_OPTION(kernel_size) STALLSCOPE_OPTION(max_norm)
  STALLSCOPE_OPTION(training) STALLSCOPE_OPTION(label_smoothing) STALLSCOPE_OPTION(value) STALLSCOPE_OPTION(output_size)
  STALLSCOPE_OPTION(nhead) STALLSCOPE_OPTION(dim_feedforward) STALLSCOPE_OPTION(activation) STALLSCOPE_OPTION(nonlinearity)
#undef STALLSCOPE_OPTION
};
#define STALLSCOPE_LAYER(Name)                                                        \
  class Name##Impl : public Cloneable<Name##Impl> {                                   \
   public:                                                                            \
    Name##Impl(STALLSCOPE_ARGS); void reset() override; void reset_parameters();      \
    Tensor forward(STALLSCOPE_ARGS); Tensor weight, bias, running_mean, running_var;  \
    LayerOptions options;                                                             \
  };                                                                                  \
  class Name : public ModuleHolder<Name##Impl> {                                      \
   public:                                                                            \
    using ModuleHolder<Name##Impl>::ModuleHolder;                                     \
    Name(const Name&) = default; Name(Name&&) = default;                              \
    Name& operator=(const Name&) = default; Name& operator=(Name&&) = default;        \
    Name(std::initializer_list<Arg>);                                                 \
  };                                                                                  \
  using Name##Options = LayerOptions;
STALLSCOPE_LAYER(Linear) STALLSCOPE_LAYER(Bilinear) STALLSCOPE_LAYER(Identity) STALLSCOPE_LAYER(Flatten) STALLSCOPE_LAYER(Unflatten)
STALLSCOPE_LAYER(Conv1d) STALLSCOPE_LAYER(Conv2d) STALLSCOPE_LAYER(Conv3d) STALLSCOPE_LAYER(ConvTranspose1d)
STALLSCOPE_LAYER(ConvTranspose2d) STALLSCOPE_LAYER(ConvTranspose3d) STALLSCOPE_LAYER(BatchNorm1d) STALLSCOPE_LAYER(BatchNorm2d)
STALLSCOPE_LAYER(BatchNorm3d) STALLSCOPE_LAYER(LayerNorm) STALLSCOPE_LAYER(GroupNorm) STALLSCOPE_LAYER(InstanceNorm1d)
STALLSCOPE_LAYER(InstanceNorm2d) STALLSCOPE_LAYER(Dropout) STALLSCOPE_LAYER(Dropout2d) STALLSCOPE_LAYER(Embedding)
STALLSCOPE_LAYER(EmbeddingBag) STALLSCOPE_LAYER(ReLU) STALLSCOPE_LAYER(ReLU6) STALLSCOPE_LAYER(LeakyReLU) STALLSCOPE_LAYER(ELU) STALLSCOPE_LAYER(SELU)
STALLSCOPE_LAYER(GELU) STALLSCOPE_LAYER(SiLU) STALLSCOPE_LAYER(Mish) STALLSCOPE_LAYER(Tanh) STALLSCOPE_LAYER(Sigmoid) STALLSCOPE_LAYER(Softmax) STALLSCOPE_LAYER(LogSoftmax)
STALLSCOPE_LAYER(Softplus) STALLSCOPE_LAYER(PReLU) STALLSCOPE_LAYER(MaxPool1d) STALLSCOPE_LAYER(MaxPool2d) STALLSCOPE_LAYER(AvgPool1d) STALLSCOPE_LAYER(AvgPool2d)
STALLSCOPE_LAYER(AdaptiveAvgPool1d) STALLSCOPE_LAYER(AdaptiveAvgPool2d) STALLSCOPE_LAYER(AdaptiveMaxPool2d) STALLSCOPE_LAYER(Upsample) STALLSCOPE_LAYER(PixelShuffle)
STALLSCOPE_LAYER(ReflectionPad2d) STALLSCOPE_LAYER(ZeroPad2d) STALLSCOPE_LAYER(ConstantPad2d) STALLSCOPE_LAYER(CrossEntropyLoss) STALLSCOPE_LAYER(MSELoss) STALLSCOPE_LAYER(L1Loss)
STALLSCOPE_LAYER(NLLLoss) STALLSCOPE_LAYER(BCELoss) STALLSCOPE_LAYER(BCEWithLogitsLoss) STALLSCOPE_LAYER(SmoothL1Loss) STALLSCOPE_LAYER(HuberLoss) STALLSCOPE_LAYER(KLDivLoss)
STALLSCOPE_LAYER(TransformerEncoderLayer) STALLSCOPE_LAYER(TransformerEncoder) STALLSCOPE_LAYER(TransformerDecoder) STALLSCOPE_LAYER(Transformer) STALLSCOPE_LAYER(CosineSimilarity)
STALLSCOPE_LAYER(GRUCell) STALLSCOPE_LAYER(RNNCell)
#define STALLSCOPE_RECURRENT(Name, Result)                                                   \
  class Name##Impl : public Cloneable<Name##Impl> {                                          \
   public:                                                                                   \
    Name##Impl(STALLSCOPE_ARGS); void reset() override; Result forward(STALLSCOPE_ARGS);     \
    void flatten_parameters(); LayerOptions options;                                         \
  };                                                                                         \
  class Name : public ModuleHolder<Name##Impl> {                                             \
   public:                                                                                   \
    using ModuleHolder<Name##Impl>::ModuleHolder;                                            \
    Name(const Name&) = default; Name(Name&&) = default;                                     \
    Name& operator=(const Name&) = default; Name& operator=(Name&&) = default;               \
    template <class... A> Result operator()(A&&...);                                         \
  };                                                                                         \
  using Name##Options = LayerOptions;
using StallscopePair = std::tuple<Tensor, Tensor>;
using StallscopeState = std::tuple<Tensor, std::tuple<Tensor, Tensor>>;
STALLSCOPE_RECURRENT(RNN, StallscopePair) STALLSCOPE_RECURRENT(GRU, StallscopePair) STALLSCOPE_RECURRENT(LSTM, StallscopeState)
STALLSCOPE_RECURRENT(LSTMCell, StallscopePair) STALLSCOPE_RECURRENT(MultiheadAttention, StallscopePair)
class AnyModule { public: template <class M> explicit AnyModule(M); template <class R = Tensor, class... A> R forward(A&&...); };
class SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  template <class... M> explicit SequentialImpl(M&&...); void reset() override;
  template <class R = Tensor, class... A> R forward(A&&...);
  template <class M> void push_back(M&&); template <class M> void push_back(std::string, M&&); template <class C> void extend(const C&);
  size_t size() const; bool is_empty() const; std::shared_ptr<Module> operator[](size_t) const; AnyModule* begin(); AnyModule* end();
};
class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  Sequential(); Sequential(const Sequential&) = default; Sequential& operator=(const Sequential&) = default;
  Sequential(std::initializer_list<Arg>);
};
class ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  void reset() override; template <class M> void push_back(M&&); size_t size() const; template <class M> M& at(size_t);
  std::shared_ptr<Module> operator[](size_t) const; std::shared_ptr<Module>* begin(); std::shared_ptr<Module>* end(); template <class M> std::shared_ptr<M> ptr(size_t) const;
};
class ModuleList : public ModuleHolder<ModuleListImpl> { public: using ModuleHolder<ModuleListImpl>::ModuleHolder; ModuleList(); ModuleList(const ModuleList&) = default; };
class NamedAnyModule { public: template <class M> NamedAnyModule(std::string, M&&); };
struct Functional : ModuleHolder<SequentialImpl> { template <class... A> Functional(A&&...); };
namespace init {
#define STALLSCOPE_INIT(name) Tensor name(STALLSCOPE_ARGS);
STALLSCOPE_INIT(constant_) STALLSCOPE_INIT(normal_) STALLSCOPE_INIT(ones_) STALLSCOPE_INIT(zeros_) STALLSCOPE_INIT(uniform_) STALLSCOPE_INIT(orthogonal_)
STALLSCOPE_INIT(xavier_uniform_) STALLSCOPE_INIT(xavier_normal_) STALLSCOPE_INIT(kaiming_uniform_) STALLSCOPE_INIT(kaiming_normal_) STALLSCOPE_INIT(eye_)
#undef STALLSCOPE_INIT
}  // namespace init
namespace utils {
double clip_grad_norm_(Arg, double, double = 2, bool = false); void clip_grad_value_(Arg, double);
Tensor parameters_to_vector(Arg); void vector_to_parameters(Arg, Arg);
}  // namespace utils
namespace functional {
#define STALLSCOPE_FUNCTION(name) Tensor name(STALLSCOPE_ARGS);
STALLSCOPE_FUNCTION(relu) STALLSCOPE_FUNCTION(gelu) STALLSCOPE_FUNCTION(silu) STALLSCOPE_FUNCTION(elu) STALLSCOPE_FUNCTION(leaky_relu) STALLSCOPE_FUNCTION(softmax)
STALLSCOPE_FUNCTION(log_softmax) STALLSCOPE_FUNCTION(softplus) STALLSCOPE_FUNCTION(dropout) STALLSCOPE_FUNCTION(linear) STALLSCOPE_FUNCTION(conv1d) STALLSCOPE_FUNCTION(conv2d)
STALLSCOPE_FUNCTION(cross_entropy) STALLSCOPE_FUNCTION(nll_loss) STALLSCOPE_FUNCTION(mse_loss) STALLSCOPE_FUNCTION(l1_loss) STALLSCOPE_FUNCTION(smooth_l1_loss)
STALLSCOPE_FUNCTION(huber_loss) STALLSCOPE_FUNCTION(binary_cross_entropy) STALLSCOPE_FUNCTION(binary_cross_entropy_with_logits) STALLSCOPE_FUNCTION(kl_div)
STALLSCOPE_FUNCTION(max_pool2d) STALLSCOPE_FUNCTION(avg_pool2d) STALLSCOPE_FUNCTION(adaptive_avg_pool2d) STALLSCOPE_FUNCTION(interpolate) STALLSCOPE_FUNCTION(pad)
STALLSCOPE_FUNCTION(grid_sample) STALLSCOPE_FUNCTION(layer_norm) STALLSCOPE_FUNCTION(batch_norm) STALLSCOPE_FUNCTION(normalize) STALLSCOPE_FUNCTION(one_hot)
STALLSCOPE_FUNCTION(embedding) STALLSCOPE_FUNCTION(unfold) STALLSCOPE_FUNCTION(fold) STALLSCOPE_FUNCTION(cosine_similarity) STALLSCOPE_FUNCTION(hardtanh)
#undef STALLSCOPE_FUNCTION
using Options = LayerOptions;
using CrossEntropyFuncOptions = LayerOptions; using MSELossFuncOptions = LayerOptions; using SoftmaxFuncOptions = LayerOptions; using LogSoftmaxFuncOptions = LayerOptions;
using DropoutFuncOptions = LayerOptions; using InterpolateFuncOptions = LayerOptions; using PadFuncOptions = LayerOptions; using MaxPool2dFuncOptions = LayerOptions;
using AvgPool2dFuncOptions = LayerOptions; using GridSampleFuncOptions = LayerOptions; using NormalizeFuncOptions = LayerOptions;
}  // namespace functional
namespace parallel { template <class M> Tensor data_parallel(STALLSCOPE_ARGS); }
}  // namespace nn

using c10::Arg;
namespace serialize { class OutputArchive { public: OutputArchive(); void save_to(Arg); template <class T> void write(const std::string&, T&&, bool = false); }; class InputArchive { public: void load_from(Arg, Arg = {}); template <class... A> void read(A&&...); }; }

namespace optim {
struct OptimizerOptions {
  OptimizerOptions(Arg = {});
  OptimizerOptions& lr(double); double lr() const; double get_lr() const; void set_lr(double); OptimizerOptions& momentum(double); OptimizerOptions& weight_decay(double);
  OptimizerOptions& betas(Arg); OptimizerOptions& eps(double); OptimizerOptions& nesterov(bool); OptimizerOptions& amsgrad(bool); OptimizerOptions& max_iter(int64_t); OptimizerOptions& alpha(double);
  OptimizerOptions& centered(bool); OptimizerOptions& history_size(int64_t); OptimizerOptions& line_search_fn(Arg); OptimizerOptions& dampening(double); OptimizerOptions& tolerance_grad(double);
};
using SGDOptions = OptimizerOptions; using AdamOptions = OptimizerOptions; using AdamWOptions = OptimizerOptions; using RMSpropOptions = OptimizerOptions; using AdagradOptions = OptimizerOptions; using LBFGSOptions = OptimizerOptions;
class OptimizerParamGroup { public: OptimizerParamGroup(Arg, Arg = {}); std::vector<Tensor>& params(); OptimizerOptions& options(); bool has_options() const; };
class Optimizer {
 public:
  Optimizer(STALLSCOPE_ARGS); virtual ~Optimizer();
  virtual Tensor step(std::function<Tensor()> = nullptr); void zero_grad(bool = true); void add_param_group(Arg); void add_parameters(Arg);
  std::vector<OptimizerParamGroup>& param_groups(); OptimizerOptions& defaults(); size_t size() const; std::unordered_map<void*, struct OptimizerStateStub>& state();
};
#define STALLSCOPE_OPTIMIZER(Name) class Name : public Optimizer { public: Name(STALLSCOPE_ARGS); };
STALLSCOPE_OPTIMIZER(SGD) STALLSCOPE_OPTIMIZER(Adam) STALLSCOPE_OPTIMIZER(AdamW) STALLSCOPE_OPTIMIZER(RMSprop) STALLSCOPE_OPTIMIZER(Adagrad) STALLSCOPE_OPTIMIZER(LBFGS)
class LRScheduler { public: LRScheduler(STALLSCOPE_ARGS); void step(); };
class StepLR : public LRScheduler { public: StepLR(STALLSCOPE_ARGS); };
class ReduceLROnPlateauScheduler { public: ReduceLROnPlateauScheduler(STALLSCOPE_ARGS); void step(float); };
}  // namespace optim

namespace data {
template <class D = Tensor, class T = Tensor> struct Example {
  Example(); Example(D, T);
  D data; T target;
};
template <class T> struct StallscopeBatch { using type = T; };
struct DataLoaderOptions { DataLoaderOptions(Arg = {}); DataLoaderOptions& batch_size(size_t); DataLoaderOptions& workers(size_t); DataLoaderOptions& max_jobs(Arg); DataLoaderOptions& enforce_ordering(bool); DataLoaderOptions& drop_last(bool); DataLoaderOptions& timeout(Arg); };
template <class Batch> struct Iterator { Batch& operator*(); Batch* operator->(); Iterator& operator++(); bool operator!=(const Iterator&) const; bool operator==(const Iterator&) const; };
template <class Dataset, class Batch, class Request> class DataLoaderBase {
 public:
  Iterator<Batch> begin(); Iterator<Batch> end(); void join(); const DataLoaderOptions& options() const;
};
template <class Dataset, class Sampler> class StatelessDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType, size_t> {};
template <class Dataset> class StatefulDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType, size_t> {};
namespace transforms {
template <class E = Example<>> struct Stack { using Result = E; };
template <class T = Tensor> struct Normalize { Normalize(STALLSCOPE_ARGS); using Same = void; };
template <class I, class O = I> struct Lambda { template <class F> Lambda(F); using Same = void; };
}  // namespace transforms
namespace datasets {
template <class Source, class Transform> struct MapDataset;
template <class S, class T, class = void> struct MappedBatch { using type = typename T::Result; };
template <class S, class T> struct MappedBatch<S, T, typename T::Same> { using type = typename S::BatchType; };
template <class Self, class B> class BatchDataset {
 public:
  using BatchType = B;
  virtual ~BatchDataset(); virtual c10::optional<size_t> size() const; virtual B get_batch(ArrayRef<size_t>);
  template <class T> MapDataset<Self, T> map(T) &&;
};
template <class Source, class Transform> struct MapDataset : BatchDataset<MapDataset<Source, Transform>, typename MappedBatch<Source, Transform>::type> {
  MapDataset(Source, Transform);
};
template <class Self, class E = Example<>> class Dataset : public BatchDataset<Self, std::vector<E>> {
 public:
  using ExampleType = E; virtual E get(size_t) = 0; bool is_train() const noexcept;
};
template <class Self, class B = std::vector<Example<>>, class R = ArrayRef<size_t>> class BatchedDataset : public BatchDataset<Self, B> {};
class MNIST : public Dataset<MNIST> { public: enum class Mode { kTrain, kTest }; explicit MNIST(const std::string&, Mode = Mode::kTrain); Example<> get(size_t) override; bool is_train() const noexcept; const Tensor& images() const; const Tensor& targets() const; };
class TensorDataset : public Dataset<TensorDataset, Example<Tensor, Tensor>> { public: explicit TensorDataset(Arg); Example<> get(size_t) override; };
}  // namespace datasets
namespace samplers {
class RandomSampler { public: explicit RandomSampler(int64_t, Arg = {}); }; class SequentialSampler { public: explicit SequentialSampler(size_t); };
class DistributedRandomSampler { public: DistributedRandomSampler(STALLSCOPE_ARGS); void set_epoch(size_t); }; class DistributedSequentialSampler { public: DistributedSequentialSampler(STALLSCOPE_ARGS); };
}  // namespace samplers
template <class Sampler = samplers::RandomSampler, class Dataset> std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(Dataset, Arg = {});
template <class Dataset, class Sampler> std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(Dataset, Sampler, Arg);
}  // namespace data

namespace jit {
class Object {};
class Module : public Object {
 public:
  struct IValueStub forward(Arg); Module clone() const; void eval(); void train(bool = true); void to(Arg, Arg = {}, bool = false);
  std::vector<Tensor> parameters(bool = true) const; std::vector<Tensor> buffers(bool = true) const; void save(Arg) const; template <class... A> IValueStub run_method(const std::string&, A&&...);
};
namespace script { using Module = jit::Module; }
Module load(STALLSCOPE_ARGS); Module freeze(STALLSCOPE_ARGS); Module optimize_for_inference(STALLSCOPE_ARGS); void setGraphExecutorOptimize(bool);
}  // namespace jit
/// What a script's module gives: its kind is known when it runs.
struct IValueStub {
  template <class T> IValueStub(const T&);
  Tensor toTensor() const; double toDouble() const; int64_t toInt() const; bool toBool() const; bool isTensor() const;
  std::vector<Tensor> toTensorVector() const; std::shared_ptr<struct IValueTuple> toTuple() const; std::string toStringRef() const; template <class T> T to() const;
};
struct IValueTuple { std::vector<IValueStub> elements() const; };
using IValue = IValueStub;
struct Library { template <class... A> Library& def(A&&...); template <class... A> Library& impl(A&&...); };
}  // namespace torch
namespace c10 { using IValue = torch::IValueStub; }
namespace c10d {
struct Work { bool wait(c10::Arg = {}); bool isCompleted(); void synchronize(); std::vector<at::Tensor> result(); };
struct Backend {
  int getRank() const; int getSize() const;
  c10::intrusive_ptr<Work> allreduce(std::vector<at::Tensor>&, c10::Arg = {}); c10::intrusive_ptr<Work> broadcast(std::vector<at::Tensor>&, c10::Arg = {});
  c10::intrusive_ptr<Work> reduce(std::vector<at::Tensor>&, c10::Arg = {}); c10::intrusive_ptr<Work> barrier(c10::Arg = {}); c10::intrusive_ptr<Work> allgather(c10::Arg, std::vector<at::Tensor>&, c10::Arg = {});
};
struct ProcessGroup : Backend {};
struct ProcessGroupNCCL : Backend { template <class... A> ProcessGroupNCCL(A&&...); };
struct ProcessGroupMPI : Backend { static c10::intrusive_ptr<ProcessGroupMPI> createProcessGroupMPI(std::vector<int> = {}); };
struct ProcessGroupGloo : Backend { template <class... A> ProcessGroupGloo(A&&...); };
}  // namespace c10d
#define TORCH_CHECK(condition, ...) do { if (!(condition)) throw c10::Error(); } while (false)
#define TORCH_INTERNAL_ASSERT(condition, ...) TORCH_CHECK(condition)
#define TORCH_CHECK_EQ(a, b) TORCH_CHECK((a) == (b))
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition)
#define AT_ASSERT(condition) TORCH_CHECK(condition)
#define AT_ERROR(...) throw c10::Error()
#define TORCH_WARN(...) ((void)0)
#define C10_CUDA_CHECK(x) do { auto stallscope_error = (x); (void)stallscope_error; } while (false)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define AT_CUDA_CHECK(x) C10_CUDA_CHECK(x)
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) [&] { using scalar_t = float; return __VA_ARGS__(); }()
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) AT_DISPATCH_FLOATING_TYPES(type, name, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(a, b, type, name, ...) AT_DISPATCH_FLOATING_TYPES(type, name, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(type, name, ...) AT_DISPATCH_FLOATING_TYPES(type, name, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) [&] { using scalar_t = int; return __VA_ARGS__(); }()
#define TORCH_LIBRARY(ns, m) static void stallscope_library_##ns(torch::Library& m)
#define TORCH_LIBRARY_IMPL(ns, key, m) static void stallscope_library_##ns##_##key(torch::Library& m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) static void stallscope_fragment_##ns(torch::Library& m)
#define PYBIND11_MODULE(name, m) static void stallscope_pybind(torch::Library& m)
#define TORCH_FN(f) (&f)
#define TORCH_API
#define C10_API
#endif
#endif
