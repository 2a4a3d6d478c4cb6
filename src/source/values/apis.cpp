#include "source/values/apis.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using Set = std::unordered_set<std::string_view>;

const Set kFactories = {
    "zeros",         "ones",           "full",          "empty",           "rand",
    "randn",         "randint",        "randperm",      "arange",          "range",
    "linspace",      "logspace",       "eye",           "tril_indices",    "triu_indices",
    "hann_window",   "hamming_window", "kaiser_window", "blackman_window", "bartlett_window",
    "scalar_tensor", "fftfreq"};
const Set kFromHostData = {"tensor",    "as_tensor",  "from_numpy",   "FloatTensor", "LongTensor",
                           "IntTensor", "BoolTensor", "DoubleTensor", "ByteTensor",  "HalfTensor",
                           "Tensor",    "asarray",    "frombuffer",   "from_blob"};
const Set kMasks = {"isnan",       "isinf", "isfinite", "eq",          "ne",         "gt",
                    "lt",          "ge",    "le",       "logical_and", "logical_or", "logical_not",
                    "logical_xor", "any",   "all",      "isin",        "isclose",    "signbit",
                    "bool",        "gt_",   "lt_",      "greater",     "less",       "not_equal"};
const Set kHostRoots = {"math",
                        "time",
                        "random",
                        "os",
                        "sys",
                        "json",
                        "re",
                        "collections",
                        "itertools",
                        "functools",
                        "argparse",
                        "pathlib",
                        "logging",
                        "copy",
                        "pickle",
                        "datetime",
                        "string",
                        "subprocess",
                        "shutil",
                        "glob",
                        "csv",
                        "yaml",
                        "pandas",
                        "sklearn",
                        "scipy",
                        "cv2",
                        "PIL",
                        "matplotlib",
                        "multiprocessing",
                        "threading",
                        "typing",
                        "warnings",
                        "inspect",
                        "io",
                        "struct",
                        "hashlib",
                        "requests",
                        "nltk",
                        "sentencepiece",
                        "tiktoken",
                        "psutil",
                        "statistics",
                        "operator",
                        "contextlib",
                        "dataclasses",
                        "enum",
                        "types",
                        "uuid",
                        "gzip",
                        "zipfile",
                        "tarfile",
                        "tempfile",
                        "queue",
                        "heapq",
                        "bisect",
                        "textwrap",
                        "omegaconf",
                        "hydra",
                        "absl",
                        "fire",
                        "click",
                        "rich",
                        "polars",
                        "pyarrow",
                        "h5py",
                        "gc",
                        "traceback",
                        "signal",
                        "socket",
                        "platform",
                        "wandb",
                        "tensorflow",
                        "tf",
                        "gym",
                        "gymnasium",
                        "skimage",
                        "librosa",
                        "soundfile",
                        "networkx",
                        "std",
                        "fmt",
                        "imageio",
                        "regex",
                        "numbers"};

/// What gives a function that computes gradients when it is called.
const Set kGradientFunctions = {"jax.grad",
                                "jax.value_and_grad",
                                "equinox.filter_grad",
                                "equinox.filter_value_and_grad",
                                "flax.nnx.grad",
                                "flax.nnx.value_and_grad",
                                "nnx.value_and_grad",
                                "nnx.grad",
                                "torch.func.grad_and_value",
                                "haiku.grad",
                                "haiku.value_and_grad"};
/// What gives a function of JAX that is compiled, or otherwise transformed.
const Set kTransforms = {"jax.jit",
                         "jax.pmap",
                         "jax.vmap",
                         "equinox.filter_jit",
                         "equinox.filter_pmap",
                         "equinox.filter_vmap",
                         "flax.nnx.jit",
                         "flax.nnx.pmap",
                         "flax.nnx.vmap"};
const Set kDeviceModules = {"cuda", "npu",  "mlu", "musa", "xpu",         "neuron",
                            "hpu",  "sdaa", "mps", "mtia", "accelerator", "backends"};
/// np.random.choice(ids), np.random.randint(0, n), np.argmax(x): one number, of type NumPy or not.
bool draws_one(std::string_view path, const CallShape& call) {
  if (call.has_size) return false;
  const std::string_view name = last_component(path);
  if (name == "argmax" || name == "argmin") return call.count == 1;
  if (!path.starts_with("numpy.random.")) return false;
  if (name == "choice") return call.count == 1;
  if (is_one_of(name, {"rand", "randn", "random"})) return call.count == 0;
  return is_one_of(name, {"randint", "uniform", "normal", "beta"}) && call.count <= 2;
}

/// Functions of jax.numpy that ask about types and shapes: Python values.
const Set kJaxStatic = {
    "shape",           "ndim",          "size",      "result_type", "issubdtype",
    "isdtype",         "iscomplexobj",  "isrealobj", "dtype",       "finfo",
    "iinfo",           "promote_types", "axis_size", "can_cast",    "broadcast_shapes",
    "axis_index_size", "isscalar"};

bool is_loader_class(std::string_view name) {
  return name.ends_with("DataLoader") || name == "make_data_loader";
}

Value of_torch(std::string_view path, std::string_view name, const CallShape& call) {
  if (std::string_view module = path.substr(std::min<size_t>(6, path.size()));
      module.size() > name.size() && kDeviceModules.contains(first_component(module))) {
    if (name.ends_with("Tensor")) return proven(Kind::device_tensor);
    if (name == "Event" || name == "Stream" || name == "current_stream" ||
        name == "default_stream" || name == "getCurrentCUDAStream" || name == "getStreamFromPool") {
      return proven(Kind::stream);
    }
    return proven(path.find(".amp.") != std::string_view::npos && name == "GradScaler"
                      ? Kind::optimizer
                      : Kind::number);
  }
  if (is_loader_class(name)) return proven(Kind::loader);
  if (path.starts_with("torch.optim.")) {
    return proven(path.find("lr_scheduler") != std::string_view::npos ? Kind::other
                                                                      : Kind::optimizer);
  }
  if (path.starts_with("torch.distributed.")) {
    bool number = name.starts_with("get_") || name.starts_with("is_");
    return number ? proven(Kind::number) : likely(Kind::other);
  }
  if (path.starts_with("torch.utils.") || path.starts_with("torch.autograd.") ||
      path.starts_with("torch.data.") ||  // of LibTorch
      path.starts_with("torch.profiler.") || path.starts_with("torch.hub.") ||
      path.starts_with("torch.multiprocessing.") || path.starts_with("torch.onnx.")) {
    if (name == "grad") return likely(Kind::tensor_list);
    if (name == "Variable") return call.first;  // what it wraps, since PyTorch 0.4
    if (path.starts_with("torch.utils.checkpoint."))
      return likely(Kind::device_tensor, kModuleOutput);
    return {};
  }
  if (name == "Parameter") return proven(Kind::parameter);
  if (name.starts_with('_') || name == "calculate_gain") return Value{};
  if (path.starts_with("torch.nn.") && !path.starts_with("torch.nn.functional.") &&
      !path.starts_with("torch.nn.init.") && !path.starts_with("torch.nn.utils.")) {
    return proven(Kind::module);
  }
  if (path.starts_with("torch.nn.utils.")) {
    return name.starts_with("clip_grad") ? proven(Kind::device_tensor)
                                         : likely(Kind::device_tensor);
  }
  // torch.normal(0, 1, size=(n,)) is of numbers, torch.normal(mean, std) of tensors
  const bool drawn = name == "normal" && call.first.kind == Kind::number;
  // torch.sparse.FloatTensor(indices, values, size) is where these are.
  const bool sparse = path.starts_with("torch.sparse.") && !call.any_host_tensor;
  if (!sparse && (kFactories.contains(name) || kFromHostData.contains(name) || drawn)) {
    // torch.FloatTensor(n, m): sizes, so nothing of the host's is in it yet.
    const bool sized = name.ends_with("Tensor") &&
                       (call.count > 1 || call.first.kind == Kind::number || call.has_size);
    uint8_t flag = kFactories.contains(name) || sized || drawn ? kFresh : kFromHost;
    // torch.tensor([]), torch.empty(0) and torch.FloatTensor() have nothing that could be copied.
    const bool is_sized = is_one_of(name, {"empty", "zeros", "ones"});
    const bool is_shape = kFactories.contains(name);  // torch.zeros([]) is a number
    if ((call.first.kind == Kind::list && call.first.certainty == Certainty::unknown &&
         !is_shape) ||
        ((is_sized || name.ends_with("Tensor")) && call.holds_nothing))
      return {};
    if (call.has_device) return proven(Kind::device_tensor, flag);
    // zeros(n, **factory_kwargs): where and of which type, more often than not
    if (call.open && !call.device_is_cpu) return likely(Kind::device_tensor, flag);
    if (call.pinned) return proven(Kind::host_tensor);  // copied without waiting
    if ((name == "as_tensor" || name == "tensor") && call.first.is_device()) return call.first;
    return proven(Kind::host_tensor, flag);
  }
  if (name == "device" || name.ends_with("dtype") || name == "finfo" || name == "iinfo" ||
      name == "result_type" || name == "promote_types")
    return proven(Kind::device);
  if (name == "Size") return proven(Kind::shape);
  if (name == "compile" || name == "script" || name == "trace") {
    return likely(Kind::module, kJitted);
  }
  if (path.starts_with("torch.jit.") || path.starts_with("torch._") ||
      path.starts_with("torch.compiler.") || path.starts_with("torch.onnx.") ||
      path.starts_with("torch.fx.") || name.starts_with("is_")) {
    return name.starts_with("is_") ? proven(Kind::number) : Value{};
  }
  if (name == "is_tensor" || name == "get_enum" || name == "is_grad_enabled" ||
      name == "is_floating_point" || name == "numel" || name == "equal" || name == "allclose" ||
      name == "is_autocast_enabled" || name == "get_num_threads" || name == "initial_seed" ||
      name == "is_complex") {
    return proven(Kind::number);
  }
  if (name == "broadcast_shapes") return proven(Kind::shape);
  if (name == "load" || name == "save" || name == "no_grad" || name == "enable_grad" ||
      name == "inference_mode" || name == "autocast" || name == "manual_seed" ||
      name == "Generator" || name == "set_grad_enabled" || name == "get_rng_state" ||
      name.starts_with("set_") || name == "seed" || name == "use_deterministic_algorithms") {
    return {};
  }
  if (name == "split" || name == "chunk" || name == "unbind" || name == "meshgrid" ||
      name == "broadcast_tensors" || name.starts_with("_foreach")) {
    if ((!call.any_host_tensor && !call.any_batch) || call.any_device_argument)
      return likely(Kind::tensor_list);
    return likely(Kind::host_tensors, name == "meshgrid" ? call.first.flags & kFresh : 0);
  }
  if (call.first.kind == Kind::batch && !call.any_device_argument && !call.any_unknown)
    return likely(Kind::batch, kLoaded);
  // mse_loss(predicted, batch["target"]): the framework moved the batch before.
  const bool moved = call.first.kind == Kind::unknown || call.any_unknown;
  if ((call.any_host_tensor || (call.any_batch && !moved)) && !call.any_device_argument) {
    Value out = call.first.kind == Kind::host_tensor
                    ? call.first
                    : likely(Kind::host_tensor,
                             call.first.kind == Kind::host_tensors ? call.first.flags : 0);
    out.flags &= static_cast<uint8_t>(kFresh | kFromHost);
    return out;
  }
  // Classes; at::globalContext(), at::hasCUDA(): operators have small letters.
  if (std::ranges::any_of(name, [](char c) { return c >= 'A' && c <= 'Z'; })) return {};
  Value out = likely(kMasks.contains(name) ? Kind::mask : Kind::device_tensor);
  // zeros_like(mask) is a mask, unless it is asked for of another type
  if ((name == "zeros_like" || name == "ones_like" || name == "flip" || name == "roll") &&
      call.first.kind == Kind::mask && !call.has_dtype && (call.count == 1 || name == "roll"))
    out.kind = Kind::mask;
  // torch.sum(x): where x is, those know who made it
  if (call.count == 1 || call.has_dim) out.dependency = call.first.dependency;
  return out;
}

}  // namespace

std::string_view made_class(const Ast& ast, NodeId callee) {
  if (ast.grammar != Grammar::cuda ||
      !is_one_of(ast[callee].text, {"make_unique", "make_shared", "make_intrusive"}))
    return {};
  std::string_view type = ast.slice(callee);
  const size_t open = type.find('<'), close = type.rfind('>');
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  type = type.substr(open + 1, close - open - 1);
  return type.ends_with(']') ? std::string_view() : declared_class(type);
}

bool is_cpu(std::string_view argument) {
  while (argument.ends_with(')')) argument.remove_suffix(1);
  // torch.device("cuda" if use_cuda else "cpu")
  if (argument.find(" else ") != std::string_view::npos ||
      argument.find('?') != std::string_view::npos)
    return false;
  // kCPU, torch::Device(torch::DeviceType::CPU), torch.device('cpu'), self.cpu_device
  return argument.ends_with("'cpu'") || argument.ends_with("\"cpu\"") ||
         argument.ends_with("kCPU") || argument.ends_with("DeviceType::CPU") ||
         (std::ranges::all_of(
              argument, [](char c) { return is_identifier_char(c) || c == '.' || c == '>'; }) &&
          has_word(lower(last_component(argument)), {"cpu"}));
}

bool is_dtype(std::string_view argument) {
  if (contains_any(argument, {"device", "cuda", "gpu", "rank"})) return false;
  return contains_any(
      argument, {"dtype", "float", "half", "int", "long", "bool", "double", "kf32", "kf64", "kf16",
                 "kbf16", "khalf", "ki64", "kuint", "kbyte", "complex", "precision", "_type"});
}

bool makes_mask(std::string_view name) {
  return kMasks.contains(name);
}

bool is_device_module(std::string_view name) {
  return kDeviceModules.contains(name);
}

bool is_factory(std::string_view path) {
  return path.starts_with("torch.") && kFactories.contains(last_component(path));
}

bool takes_tensor_first(std::string_view path) {
  static const Set kOthers = {"cat",    "stack",       "hstack",        "vstack",
                              "concat", "concatenate", "dstack",        "einsum",
                              "where",  "block_diag",  "cartesian_prod"};
  const std::string_view name = last_component(path);
  if (first_component(path) != "torch" || path.size() != name.size() + 6 ||
      kOthers.contains(name) || is_tensor_cast(name) || name == "normal")
    return false;
  const Value given = of_torch(path, name, {});
  return (given.is_device() || given.kind == Kind::tensor_list) && !given.has(kFresh) &&
         name != "meshgrid";
}

bool is_loss_of_torch(std::string_view path) {
  return path.starts_with("torch.nn.") && path.ends_with("Loss");
}

bool compiles_function(std::string_view path) {
  return kTransforms.contains(path) && !path.ends_with("vmap");
}

bool gives_gradients(std::string_view path) {
  return kGradientFunctions.contains(path);
}

std::optional<Value> value_of_function(std::string_view path, const CallShape& call) {
  const std::string_view root = first_component(path), name = last_component(path);
  if (root == "torch") return of_torch(path, name, call);
  if (kTransforms.contains(path) || gives_gradients(path))
    return proven(Kind::module, kJax | kJitted);
  if (root == "torchvision" || root == "torchaudio") {
    if (path.find(".models.") != std::string_view::npos) return proven(Kind::module);
    return std::nullopt;
  }
  if (root == "numpy") {
    return proven(draws_one(path, call) ? Kind::number : Kind::numpy);
  }
  if (path == "flax.jax_utils.replicate" || path == "flax.jax_utils.unreplicate" ||
      path == "jaxline.utils.get_first" || path == "jaxline.utils.bcast_local_devices" ||
      path == "optax.global_norm" || path.starts_with("optax.losses.") ||
      path == "optax.tree_utils.tree_l2_norm" || path.starts_with("brax.jumpy.") ||
      (is_one_of(root, {"rlax", "jraph"}) && name[0] >= 'a' && name[0] <= 'z'))
    return likely(Kind::jax_array, kJax);
  // rate = optax.cosine_decay_schedule(...): rate(step) is an array
  if (root == "optax" && (name.ends_with("_schedule") || name == "join_schedules"))
    return likely(Kind::module, kJax);
  if (root == "jax") {
    if (path == "jax.device_get") return proven(Kind::numpy);
    // psum(1, axis) is the axis' size, known when it is traced.
    if (path == "jax.lax.psum" && call.first.kind == Kind::number) return proven(Kind::number);
    if (kJaxStatic.contains(name)) return proven(name == "shape" ? Kind::shape : Kind::number);
    if (path.starts_with("jax.numpy.") || path.starts_with("jax.lax.") ||
        path.starts_with("jax.nn.") || path.starts_with("jax.random.") ||
        path.starts_with("jax.scipy.") || path.starts_with("jax.ops.")) {
      return likely(Kind::jax_array, kJax);
    }
    if (path == "jax.device_count" || path == "jax.process_index" ||
        path == "jax.local_device_count" || path == "jax.process_count") {
      return proven(Kind::number);
    }
    return std::nullopt;
  }
  if (root == "einops" || root == "opt_einsum") {
    return call.first.kind == Kind::unknown ? likely(Kind::device_tensor) : call.first;
  }
  if (root == "tqdm" || name == "tqdm" || name == "trange" || name == "track") {
    return name == "trange" ? proven(Kind::list) : call.first;
  }
  if (root == "math" || root == "time" || root == "random" || root == "statistics") {
    return path == "random.choice" || path == "random.sample" ? Value{} : proven(Kind::number);
  }
  if (root == "copy") return call.first;
  // precision_recall_curve(y, p): arrays, also where they come as a tuple
  if (root == "sklearn" || root == "scipy") return likely(Kind::numpy);
  if (kHostRoots.contains(root)) return likely(Kind::other);
  if (name == "from_pretrained" || name == "from_config") {
    bool host = contains_any(path, {"tokenizer", "config", "processor", "feature", "scheduler"});
    return host ? likely(Kind::other) : likely(Kind::module);
  }
  if (is_loader_class(name)) return likely(Kind::loader);
  return std::nullopt;
}

}  // namespace stallscope
