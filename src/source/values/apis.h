// What well-known functions and methods return.
#pragma once

#include <optional>
#include <string_view>

#include "source/facts/value.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// Facts about a call's arguments that decide what it returns.
struct CallShape {
  bool has_device = false;  ///< a device= that is not the CPU
  bool device_is_cpu = false;
  bool open = false;  ///< **options, which may hold a device=, or an out= of unknown place
  bool any_device_argument = false;  ///< a known device tensor among the arguments
  bool any_host_tensor = false;
  bool any_batch = false;      ///< what a loader gave
  bool any_unknown = false;    ///< a positional argument of which nothing is known
  bool pinned = false;         ///< pin_memory=True
  bool non_blocking = false;   ///< non_blocking=, which only moves of tensors take
  bool has_size = false;       ///< size= or axis=, of NumPy
  bool encodes = false;        ///< return_tensors=, of tokenizers: what they give is on the host
  bool has_dim = false;        ///< dim= or keepdim=, which only tensors' methods take
  bool has_dtype = false;      ///< dtype=
  bool holds_nothing = false;  ///< torch.empty(0), torch.Tensor(): a size that is zero, or none
  Value first;                 ///< the first argument
  size_t count = 0;            ///< positional arguments
};

/// jax.value_and_grad and its kin: whether `path` gives a function that computes gradients.
bool gives_gradients(std::string_view path);
/// jax.jit and its kin: whether `path` gives the function that it is handed, compiled.
bool compiles_function(std::string_view path);

/// C++: "Trainer" of std::make_unique<app::Trainer>, whose object the result points to; empty of
/// other callees.
std::string_view made_class(const Ast& ast, NodeId callee);

/// Whether what `path` makes is a loss of PyTorch, which gives a tensor: torch.nn.L1Loss.
bool is_loss_of_torch(std::string_view path);

/// The value of a call to an imported function, by its resolved path; nullopt when unknown.
std::optional<Value> value_of_function(std::string_view path, const CallShape& call);

/// The value of `receiver.name(...)`; nullopt when the name says nothing.
std::optional<Value> value_of_method(const Value& receiver, std::string_view name,
                                     const CallShape& call);

/// The value of `receiver.name`.
std::optional<Value> value_of_attribute(const Value& receiver, std::string_view name);

/// Whether calling this method on a variable proves that it is a tensor.
bool is_tensor_only_method(std::string_view name);
/// Whether the method casts: float(), half(), long(), ...
bool is_tensor_cast(std::string_view name);
/// Whether an argument of `.to(...)` names the CPU, literally.
bool is_cpu(std::string_view argument);
/// Whether an argument of `.to(...)` names a dtype rather than a device.
bool is_dtype(std::string_view argument);
/// Whether the call makes a host tensor of constant content when it names no device.
bool is_factory(std::string_view path);
/// torch.cumsum, torch.topk: functions of torch itself whose first argument is one tensor.
bool takes_tensor_first(std::string_view path);
/// Whether a function or method of that name gives a mask: isnan(), eq(), logical_and().
bool makes_mask(std::string_view name);
/// Whether torch.NAME holds what drives a kind of device: torch.cuda, torch.npu.
bool is_device_module(std::string_view name);

}  // namespace stallscope
