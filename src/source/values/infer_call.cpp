// Inference over calls: own functions, modules, well-known functions and methods.
#include <algorithm>

#include "base/text.h"
#include "source/names/iteration.h"
#include "source/names/roles.h"
#include "source/names/training_state.h"
#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {

using K = NodeKind;

bool is_module_like_class(const FileFacts& facts, uint32_t klass) {
  return facts.classes[klass].is_module;
}

/// Whether an expression is indexed by more than one axis, or asked for what of a tensor and a
/// tuple only the tensor has: `y.nonzero()[:, 1]`, `y.nonzero().squeeze(1)`.
bool is_used_as_tensor(const Ast& ast, NodeId id) {
  const Node& around = ast[ast[id].parent];
  if (ast[id].role != Role::object) return false;
  if (around.kind == K::attribute)
    return is_one_of(around.text, {"squeeze", "view", "reshape", "flatten", "numel", "size",
                                   "shape", "long", "t", "T", "tolist", "cpu", "to", "item",
                                   "split", "sort", "unbind", "transpose"});
  return around.kind == K::subscript &&
         ast.slice(ast[id].parent).substr(ast[id].last_byte - around.first_byte).find(',') !=
             std::string_view::npos;
}

/// (labels == 3) & (found == 3)
bool joins_comparisons(const Ast& ast, NodeId id) {
  const NodeId left = ast.child(id, Role::left), right = ast.child(id, Role::right);
  return ast[id].kind == K::binary && is_one_of(ast[id].text, {"&", "|"}) && left != kNoNode &&
         right != kNoNode && ast[left].kind == K::compare && ast[right].kind == K::compare;
}

}  // namespace

Value Inference::eval_call(NodeId id) {
  NodeId callee = ast_.child(id, Role::callee);
  if (callee == kNoNode) return eval_children(id);
  const bool method = ast_[callee].kind == K::attribute;
  NodeId object = method ? ast_.child(callee, Role::object) : kNoNode;
  Value receiver;
  if (object != kNoNode)
    receiver = eval(object);
  else if (ast_[callee].kind != K::name)
    receiver = eval(callee);
  // self._get_src_permutation_idx(indices): of DETR and what follows it, where a solver of the host
  // has matched boxes
  if (method && ast_.grammar == Grammar::python && ast_[callee].text.ends_with("_permutation_idx"))
    return likely(Kind::host_tensor, kFromHost);
  CallShape shape = shape_of(id);
  if (shape.encodes) return likely(Kind::batch, kLoaded);
  if (device_default_ && !shape.device_is_cpu) shape.has_device = true;
  const Dotted& path = names_.resolve(callee);
  if (const std::string_view made = made_class(ast_, callee); !made.empty()) return object_of(made);
  if (ast_.grammar == Grammar::cuda) {
    const std::string_view called = ast_.slice(callee);
    if (called.starts_with("std::get<")) return element_value(shape.first);  // of x.max(1)
    if (is_one_of(called, {"std::move", "move"})) return shape.first;
    if (is_one_of(called, {"std::make_tuple", "std::make_pair", "std::tuple"}))
      return shape.first.is_device() ? likely(Kind::tensor_list) : Value{};
    if (method && is_one_of(ast_[callee].text, {"index", "index_put_"})) take_masks(id);
    if (!method) take_checked(id, called);
  }
  if (path.imported && last_component(path.path) == "partial") {
    // What it fixes by name leaves the others where they were.
    const NodeId first = ast_.child(id, Role::argument);
    if (first != kNoNode &&
        (ast_[first].next == kNoNode || ast_[ast_[first].next].kind == K::keyword))
      return function_value(first);
  }
  if (path.imported && joins_masks(id, path.path)) return likely(Kind::mask);
  if (path.imported) {
    if (const auto mapped = mapped_tree(id, path.path, shape)) return *mapped;
    if (auto known = value_of_function(path.path, shape)) {
      // data.DataLoader(...) may be a class of the program's own.
      if (known->kind == Kind::loader && !is_library_root(first_component(path.path)))
        known->dependency = depend(DependencyKind::returns, path.path);
      return path.path.ends_with(".Variable") ? *known : derived(*known);
    }
    if (!method || object == kNoNode || ast_[object].kind == K::name) {
      Value out;
      out.dependency = depend(DependencyKind::returns, path.path);
      return out;
    }
  }
  if (!method) return call_function(id, callee, shape);
  Value out = call_method(id, callee, receiver, shape);
  // Batches.from_files(paths), of a class of this file
  if (out.kind == Kind::unknown && out.dependency == 0 && object != kNoNode &&
      ast_[object].kind == K::name && classes_by_name_.contains(ast_[object].text))
    out.dependency = depend(DependencyKind::returns, std::string(ast_.slice(callee)));
  return out;
}

/// TORCH_CHECK(x.device().is_cpu(), ...), CHECK_CPU(x): from there on x is on the host.
void Inference::take_checked(NodeId call, std::string_view called) {
  const NodeId argument = ast_.child(call, Role::argument);
  if (argument == kNoNode || (!called.starts_with("TORCH_CHECK") &&
                              !is_one_of(called, {"AT_ASSERTM", "AT_CHECK", "CHECK_CPU"})))
    return;
  NodeId name = argument;
  while (ast_[name].kind != K::name && ast_[name].first_child != kNoNode)
    name = ast_[name].first_child;
  if (ast_[name].kind != K::name) return;
  std::string_view asked = ast_.slice(argument);
  const bool negated = asked.starts_with('!');
  if (negated) asked.remove_prefix(1);
  if (!asked.starts_with(ast_[name].text)) return;
  asked.remove_prefix(ast_[name].text.size());
  const bool on_host =
      called == "CHECK_CPU" ? asked.empty()
      : negated             ? is_one_of(asked, {".is_cuda()", ".device().is_cuda()"})
                            : is_one_of(asked, {".is_cpu()", ".device().is_cpu()"}) ||
                      (asked.starts_with(".device().type() == ") && asked.ends_with("kCPU"));
  if (on_host) assign(name, likely(Kind::host_tensor), kNoNode);
}

/// torch.cat([inside, outside]) of masks
bool Inference::joins_masks(NodeId call, std::string_view path) const {
  if (!is_one_of(path,
                 {"torch.cat", "torch.concat", "torch.stack", "torch.hstack", "torch.vstack"}))
    return false;
  const NodeId list = ast_.child(call, Role::argument);
  if (list == kNoNode || ast_[list].first_child == kNoNode ||
      (ast_[list].kind != K::list && ast_[list].kind != K::tuple))
    return false;
  for (const NodeId part : children(ast_, list)) {
    if (values_[part].kind != Kind::mask) return false;
  }
  return true;
}

/// jax.tree.map(f, metrics): NumPy's where `f` copies each leaf to the host, and what `metrics` is
/// where it is a lambda that computes with arrays; nothing known otherwise.
std::optional<Value> Inference::mapped_tree(NodeId call, std::string_view path,
                                            const CallShape& shape) const {
  if (!is_one_of(path, {"jax.tree_map", "jax.tree.map", "jax.tree_util.tree_map"})) return {};
  const NodeId function = ast_.child(call, Role::argument);
  if (function == kNoNode) return {};
  const bool lambda = ast_[function].kind == K::lambda;
  const NodeId body = lambda ? last_child(ast_, function) : kNoNode;
  const NodeId copies =
      body != kNoNode && ast_[body].kind == K::call ? ast_.child(body, Role::callee) : function;
  if (is_one_of(names_.resolve(copies).path, {"numpy.asarray", "numpy.array", "jax.device_get"}))
    return likely(Kind::numpy);
  if (!lambda || contains_any(ast_.slice(function),
                              {" np.", "(np.", ",np.", "onp.", " numpy.", "float(", "int(",
                               ".item(", ".tolist(", "device_get", "shape", "dtype", "size"}))
    return {};
  if (shape.any_device_argument) return likely(Kind::jax_array, kJax);
  const NodeId tree = ast_[function].next;
  if (tree == kNoNode || values_[tree].kind != Kind::unknown || values_[tree].dependency == 0)
    return {};
  return depending_on(values_[tree].dependency);
}

/// An object of a class that this file or another one defines.
Value Inference::object_of(std::string_view class_name) {
  const auto klass = classes_by_name_.find(class_name);
  const bool module =
      klass != classes_by_name_.end() && is_module_like_class(facts_, klass->second);
  Value out = module ? proven(Kind::module) : Value{};
  out.dependency = depend(DependencyKind::instance, std::string(class_name));
  return out;
}

/// What a module gives: arrays where it is one of JAX, or nothing but JAX is used.
Value Inference::module_output(const Value& module) const {
  const bool jax = module.has(kJax) || (names_.uses_jax() && !names_.uses("torch"));
  return likely(jax ? Kind::jax_array : Kind::device_tensor, kModuleOutput);
}

/// JAX: params, loss = step(params, batch) of a step that was made elsewhere, so that only its
/// names say what it gives.
bool Inference::runs_made_step(NodeId call, const Value& given) const {
  if (ast_[call].kind != K::call || !names_.uses_jax()) return false;
  const NodeId callee = ast_.child(call, Role::callee);
  const Dependency* const found = dependency(given);
  if (steps_trainer(ast_, call)) return !found || found->kind != DependencyKind::method;
  if (steps_environment_state(ast_, call)) return true;
  return callee != kNoNode && ast_[callee].kind == K::name && !names_.resolve(callee).imported &&
         local_function(callee) == kNone &&
         (replaces_training_state(ast_, call) || names_gradients(ast_, call) ||
          names_training_step(ast_[callee].text));
}

Value Inference::call_function(NodeId id, NodeId callee, const CallShape& shape) {
  if (ast_[callee].kind != K::name) {
    // jax.value_and_grad(loss)(params)
    const NodeId made = ast_[callee].kind == K::call ? ast_.child(callee, Role::callee) : kNoNode;
    if (made != kNoNode && gives_gradients(names_.resolve(made).path))
      return likely(Kind::jax_array, kJax);
    // nn.L1Loss()(predicted, target)
    if (made != kNoNode && is_loss_of_torch(names_.resolve(made).path))
      return likely(Kind::device_tensor);
    Value target = values_[callee];
    if (target.kind == Kind::module) return module_output(target);
    return {};
  }
  const std::string_view name = ast_[callee].text;
  // unreplicate = lambda tree: jax.tree.map(lambda x: x[0], tree)
  if (is_one_of(name, {"unreplicate", "get_first", "unpmap", "get_from_first_device"}) &&
      names_.uses_jax())
    return likely(Kind::jax_array, kJax);
  const uint32_t own = local_function(callee);
  if (own != kNone) return given_by(own, std::string(name));
  // In C++ a method calls its class's others without saying `this`. Where one has several returns,
  // the first may be for when there is nothing to do: `return torch::zeros({1})`.
  const uint32_t method = own_function(callee);
  if (method != kNone && returns_once(method))
    return given_by(method, facts_.functions[method].qualified);
  if (classes_by_name_.contains(name)) return object_of(name);
  const FunctionFacts& in = facts_.functions[function_];
  if (name == "cls" && !in.class_name.empty() && !in.parameters.empty() &&
      in.parameters.front() == "cls")
    return object_of(in.class_name);
  bool known = false;
  Value builtin = call_builtin(id, name, shape, known);
  if (known) return builtin;
  Value target = eval_name(callee);
  values_[callee] = target;
  if (target.kind == Kind::module || (target.kind == Kind::unknown && is_model_name(name))) {
    return module_output(target);
  }
  Value out = given_by_method(target, "__call__");
  if (const Dependency* held = dependency(target);
      held && target.kind == Kind::unknown && held->kind == DependencyKind::function)
    out.dependency = depend(DependencyKind::returns, held->name);
  if (target.kind == Kind::unknown && target.dependency == 0 && !names_.stars().empty())
    out.dependency = depend(DependencyKind::returns, std::string(name));
  return out;
}

Value Inference::call_builtin(NodeId id, std::string_view name, const CallShape& shape,
                              bool& known) {
  known = true;
  if (name == "len" || name == "int" || name == "float" || name == "bool" || name == "round" ||
      name == "isinstance" || name == "hasattr" || name == "ord" || name == "hash" ||
      name == "id" || name == "callable" || name == "issubclass") {
    return proven(Kind::number);
  }
  // any(tokens >= limit): only arrays compare to something that has elements
  if (name == "any" || name == "all") {
    const NodeId asked = ast_.child(id, Role::argument);
    if (asked != kNoNode && ast_[asked].kind == K::compare && ast_[asked].next == kNoNode &&
        shape.first.kind == Kind::unknown && names_.uses("torch") && !names_.uses("numpy") &&
        !is_identity_test(ast_[asked].text))
      values_[asked] = likely(Kind::mask);
    return proven(Kind::number);
  }
  if (name == "abs" || name == "sum" || name == "max" || name == "min") {
    if (shape.first.kind == Kind::tensor_list)
      return likely(Kind::device_tensor, shape.first.flags & kParameterLoop);
    if (shape.first.is_device())
      return likely(Kind::device_tensor, shape.first.flags & kParameterLoop);
    if (shape.first.kind == Kind::number || shape.first.kind == Kind::shape)
      return likely(Kind::number);
    if (shape.any_device_argument) return likely(Kind::device_tensor);
    // What an empty container was filled with is not known.
    return shape.first.is_host() && shape.first.certainty != Certainty::unknown
               ? likely(Kind::number)
               : Value{};
  }
  if (name == "str" || name == "repr" || name == "input" || name == "format")
    return proven(Kind::text);
  if (name == "range" || name == "open" || name == "type" || name == "print" || name == "super" ||
      name == "vars" || name == "dir" || name == "slice" || name == "bytes") {
    return proven(Kind::other);
  }
  if (passes_elements(name) || name == "filter" || name == "set" || name == "enumerate") {
    if (shape.first.kind == Kind::device_tensor || shape.first.kind == Kind::parameters)
      return likely(Kind::tensor_list, shape.first.flags);
    return shape.first;
  }
  if (name == "dict" && names_tensors(id)) return likely(Kind::tensor_dict);
  if (name == "dict" || name == "defaultdict" || name == "map" || name == "zip") return Value{};
  if (name == "next") return next_of(ast_.child(id, Role::argument), shape.first);
  known = false;
  return {};
}

/// What next(iterator) gives, and iterator.next() of older programs.
Value Inference::next_of(NodeId iterator, const Value& over) {
  const Value out = element_value(over);
  if (out.kind != Kind::unknown || iterator == kNoNode) return out;
  NodeId from = iterator;
  // it = iter(self.data)
  if (ast_[from].kind == K::name && !yields_batches(ast_[from].text)) {
    const NodeId made = definition(function_, ast_[from].text, from);
    if (made != kNoNode && ast_[made].kind == K::call && callee_name(ast_, made) == "iter" &&
        ast_.child(made, Role::argument) != kNoNode)
      from = ast_.child(made, Role::argument);
  }
  // unlabeled_iter, begun anew wherever it has come to its end
  const bool iterates = last_component(ast_.slice(iterator)).ends_with("_iter");
  return iterates || yields_batches(ast_.slice(from)) ? likely(Kind::batch, kLoaded) : out;
}

/// self.register_buffer("steps", torch.zeros(1)): where the module goes, self.steps goes. Trainers
/// that are modules to have a state stay on the host, but for Lightning's, which are the model.
void Inference::keep_buffer(NodeId call) {
  const uint32_t klass = outline_.class_of[function_];
  const NodeId name = ast_.child(call, Role::argument);
  const NodeId value = name == kNoNode ? kNoNode : ast_[name].next;
  if (klass == kNone || value == kNoNode || ast_[name].kind != K::string) return;
  const NodeId given = ast_[value].kind == K::keyword ? ast_.child(value, Role::value) : value;
  if (given == kNoNode || values_[given].kind == Kind::none) return;
  std::string_view text = ast_.slice(name);
  const size_t quote = text.find_first_of("'\"");
  if (quote != 0 || text.size() < 3) return;
  text = text.substr(1, text.size() - 2);
  const bool mask = values_[given].kind == Kind::mask || contains_any(ast_.slice(given), {"bool"});
  const ClassFacts& keeper = facts_.classes[klass];
  const bool on_host = keeper.name.ends_with("Trainer") &&
                       std::ranges::none_of(keeper.bases, [](const std::string& base) {
                         return contains_any(base, {"lightning"});
                       });
  const Kind kind = on_host ? Kind::host_tensor : mask ? Kind::mask : Kind::device_tensor;
  attributes_[klass].insert_or_assign(text, proven(kind, kAttribute));
}

/// x.to(device, non_blocking=True) of whatever x is, x.cuda() of what forward() is given: tensors,
/// where no name says that it is a model.
bool Inference::is_moved_tensor(const Value& receiver, NodeId object, const CallShape& call) const {
  if (receiver.kind != Kind::unknown || object == kNoNode || ast_[object].kind != K::name ||
      !names_.uses("torch") || is_model_name(ast_[object].text))
    return false;
  const Dependency* known = dependency(receiver);
  return call.non_blocking || (known && known->kind == DependencyKind::parameter &&
                               (facts_.functions[function_].flags & kForward) != 0);
}

Value Inference::call_method(NodeId id, NodeId callee, const Value& receiver,
                             const CallShape& given) {
  const std::string_view name = ast_[callee].text;
  NodeId object = ast_.child(callee, Role::object);
  CallShape shape = given;
  if (name == "to" || name == "cuda") {
    NodeId first = ast_.child(id, Role::argument);
    if (first != kNoNode) {
      std::string_view text = ast_.slice(first);
      const bool dtype = is_dtype(text);
      shape.device_is_cpu |= is_host_device(function_, text);
      if (ast_[first].kind != K::keyword && !dtype && !shape.device_is_cpu) shape.has_device = true;
    }
  }
  // x.type(torch.LongTensor): the class of tensors on the host.
  if (name == "type" && shape.count == 1) {
    const std::string_view type = ast_.slice(ast_.child(id, Role::argument));
    if (type.ends_with("Tensor") && type.find("torch.") != std::string_view::npos &&
        !contains_any(type, {"cuda"}))
      return likely(Kind::host_tensor);
  }
  // loss = engine.train_batch(batches)
  if (name == "train_batch" && object != kNoNode && names_.uses("deepspeed"))
    return likely(Kind::device_tensor);
  // MyFunction.apply(x): an operation with a gradient of its own.
  if (name == "apply" && object != kNoNode && names_.uses("torch") &&
      last_component(ast_.slice(object)).ends_with("Function"))
    return likely(Kind::device_tensor, kModuleOutput);
  if (object != kNoNode && ast_[object].kind == K::call && callee_name(ast_, object) == "super" &&
      ast_.grammar == Grammar::python) {
    // loss = super().training_step(model, inputs), of transformers' Trainer
    if (name == "training_step" || name == "compute_loss")
      return likely(Kind::device_tensor, kModuleOutput);
    return depending_on(depend(DependencyKind::returns, "super." + std::string(name), function_));
  }
  if (is_self(object) && name == "register_buffer") {
    keep_buffer(id);
    return proven(Kind::none);
  }
  if (is_self(object)) {
    uint32_t own = local_function(callee);
    if (own != kNone) return given_by(own, facts_.functions[own].qualified);
    Value attribute = self_attribute(name);
    values_[callee] = attribute;
    uint32_t klass = outline_.class_of[function_];
    const bool in_module = klass != kNone && facts_.classes[klass].is_module;
    if (attribute.kind == Kind::module ||
        (attribute.kind == Kind::unknown && is_model_name(name))) {
      return module_output(attribute);
    }
    if (in_module && (facts_.functions[function_].flags & kForward) != 0 &&
        attribute.kind == Kind::unknown &&
        (!dependency(attribute) || dependency(attribute)->kind == DependencyKind::function) &&
        !contains_any(name, {"get_", "is_", "log", "check", "has_", "should"})) {
      return likely(Kind::device_tensor, kModuleOutput);
    }
    Value out;
    out.dependency = depend(DependencyKind::returns, "self." + std::string(name), function_);
    return out;
  }
  // PyTorch refuses x.numpy() of what lies on the device.
  if (name == "numpy" && ast_.child(id, Role::argument) == kNoNode && object != kNoNode &&
      ast_[object].kind == K::name && !receiver.is_host() && names_.uses("torch") &&
      !names_.uses_jax() && !names_.uses("tensorflow"))
    assign(object, likely(Kind::host_tensor), kNoNode);
  if (name == "append" || name == "extend") {
    NodeId target = object;
    if (target != kNoNode && (receiver.kind == Kind::list || receiver.kind == Kind::tensor_list)) {
      Value next = shape.first.is_device() ? likely(Kind::tensor_list) : receiver;
      if (shape.first.is_host() && receiver.kind == Kind::list) next.certainty = Certainty::likely;
      if (shape.first.kind == Kind::unknown && receiver.kind == Kind::list) next = Value{};
      if (shape.first.kind == Kind::host_tensor && shape.first.has(kFromHost) &&
          receiver.kind == Kind::list)
        next = likely(Kind::host_tensors);
      if (ast_[target].kind == K::name) scopes_[function_].variables[ast_[target].text] = next;
    }
    return proven(Kind::none);
  }
  if (const Value at = iterator_of(receiver, name); at.kind != Kind::unknown) return at;
  if (name == "next" && shape.count == 0 &&
      (receiver.kind == Kind::unknown || receiver.kind == Kind::loader))
    return next_of(object, receiver);
  // accelerator.clip_grad_norm_(parameters, 1.0), fabric.clip_gradients(...): the norm, a tensor.
  // LibTorch's waits for the norm and gives a number.
  if (name == "clip_grad_norm_" || name == "clip_grad_norm" || name == "clip_gradients")
    return likely(ast_.grammar == Grammar::cuda ? Kind::number : Kind::device_tensor);
  // fabric.all_reduce(loss), accelerator.gather(loss)
  if (shape.first.is_device() && receiver.kind == Kind::unknown &&
      (name == "all_reduce" || name == "reduce" || name == "all_gather" || name == "gather" ||
       name == "gather_for_metrics"))
    return likely(Kind::device_tensor);
  if (receiver.kind == Kind::module) {
    if (name == "parameters" || name == "named_parameters" || name == "buffers")
      return likely(Kind::parameters);
    if (name == "to" || name == "cuda" || name == "cpu" || name == "train" || name == "eval" ||
        name == "half" || name == "float" || name == "bfloat16" || name == "requires_grad_" ||
        name == "double" || name == "apply") {
      return receiver;
    }
    if (name == "forward") return likely(Kind::device_tensor, kModuleOutput);
    if (name == "state_dict") return likely(Kind::other);
    return given_by_method(receiver, name);
  }
  // fc1->forward(x), of what another file declares
  if (receiver.kind == Kind::unknown && receiver.dependency == 0 && name == "forward" &&
      ast_.grammar == Grammar::cuda && names_.uses("torch"))
    return likely(Kind::device_tensor, kModuleOutput);
  if (receiver.kind == Kind::jax_array && name == "block_until_ready") return receiver;
  if (receiver.kind == Kind::unknown && object != kNoNode && ast_[object].kind != K::call &&
      is_model_name(last_component(ast_.slice(object)))) {
    if (name == "forward") return likely(Kind::device_tensor, kModuleOutput);
    if (is_tensor_cast(name)) return {};  // model.half() is no tensor
  }
  // x.sum(...).to(torch.device("cpu")): what has both is a tensor.
  if ((name == "to" || name == "cpu") && receiver.kind == Kind::unknown && object != kNoNode &&
      ast_[object].kind == K::call) {
    std::string_view before = callee_name(ast_, object);
    if (before == "sum" || before == "mean" || before == "max" || before == "min" ||
        before == "argmax" || before == "view" || before == "reshape" || before == "clone")
      values_[object] = likely(Kind::device_tensor);
  }
  // scores[name].to(x.dtype): only tensors are converted to what another one is.
  if (name == "to" && receiver.kind == Kind::unknown && shape.count == 1 && object != kNoNode &&
      ast_[object].kind == K::subscript &&
      ast_.slice(ast_.child(id, Role::argument)).ends_with(".dtype"))
    values_[object] = likely(Kind::device_tensor);
  // C++: model->to(torch::kCPU); whose result nobody takes moves a module.
  if (name == "to" && ast_.grammar == Grammar::cuda && receiver.kind == Kind::unknown &&
      object != kNoNode &&
      (ast_[ast_[id].parent].kind == K::block || ast_[ast_[id].parent].kind == K::if_))
    values_[object] = likely(Kind::module);
  // C++: x.index({i, 0}) is a part of x, not the place of something in it.
  const NodeId indices =
      ast_.grammar == Grammar::cuda && name == "index" ? ast_.child(id, Role::argument) : kNoNode;
  if (indices != kNoNode && (ast_[indices].kind == K::list || values_[indices].kind == Kind::mask))
    return receiver.kind == Kind::unknown && receiver.dependency == 0 && names_.uses("torch")
               ? likely(Kind::device_tensor)
               : receiver;
  const bool moves = name == "cuda" || (name == "to" && shape.has_device);
  if (auto known = moves && is_moved_tensor(receiver, object, shape)
                       ? likely(Kind::device_tensor)
                       : value_of_method(receiver, name, shape)) {
    if (known->kind == Kind::unknown && known->dependency == 0)
      known->dependency = receiver.dependency;
    // batch = batch.to(device) of a loop's one variable: batch.y is on the device, too.
    const bool one_variable = object != kNoNode && ast_[object].kind == K::name &&
                              has_word(lower(ast_[object].text),
                                       {"batch", "data", "graph", "graphs", "sample", "inputs"});
    // or dataset.cameras[i].to(device)
    const bool one_of_all =
        receiver.kind == Kind::batch && object != kNoNode && ast_[object].kind == K::subscript;
    if (!receiver.is_device() && known->is_device() && (one_variable || one_of_all))
      known->flags |= kModuleOutput;
    // data["x"].float() is what the data is, in another type
    const bool computes = known->is_device() && !receiver.is_device() && !is_tensor_cast(name);
    return computes ? derived(*known) : *known;
  }
  // Where nobody uses NumPy, (x != y).nonzero() is PyTorch's; NumPy's gives a tuple, which has none
  // of a tensor's methods.
  if (name == "nonzero" && receiver.kind == Kind::unknown && shape.count == 0 &&
      names_.uses("torch") &&
      ((!names_.uses("numpy") && !names_.uses("cupy")) || is_used_as_tensor(ast_, id)))
    return likely(Kind::device_tensor);
  // In a PyTorch file x.any() of what is not known to be NumPy is a tensor.
  if ((name == "any" || name == "all") && receiver.kind == Kind::unknown && names_.uses("torch") &&
      !contains_any(ast_.slice(object), {"np", "df", "arr"})) {
    return likely(Kind::mask);
  }
  // lengths.max(), lengths[i].max(), batch.lengths.max() of what a module's forward() is given
  const bool part =
      object != kNoNode && (ast_[object].kind == K::subscript || ast_[object].kind == K::attribute);
  const NodeId owner = part ? ast_.child(object, Role::object) : object;
  if (receiver.kind == Kind::unknown && owner != kNoNode && ast_[owner].kind == K::name &&
      names_.uses("torch") && dependency(values_[owner]) &&
      dependency(values_[owner])->kind == DependencyKind::parameter &&
      (facts_.functions[function_].flags & kForward) != 0 &&
      (name == "max" || name == "min" || name == "sum" || name == "mean" || name == "any" ||
       name == "all" || name == "cumsum" || name == "amax"))
    return likely(name == "any" || name == "all" ? Kind::mask : Kind::device_tensor);
  // counts.sum(), counts[i].sum() of what another function gave, in a file of tensors alone.
  const bool element = object != kNoNode && ast_[object].kind == K::subscript && owner != kNoNode &&
                       ast_[owner].kind == K::name &&
                       ast_[ast_.child(object, Role::index)].kind != K::string;
  const Dependency* from = element ? dependency(values_[owner]) : dependency(receiver);
  if (receiver.kind == Kind::unknown && object != kNoNode &&
      (element || ast_[object].kind == K::name) && shape.count == 0 &&
      (name == "sum" || name == "max" || name == "min" || name == "mean") && names_.uses("torch") &&
      !names_.uses("numpy") && !names_.uses("pandas") &&
      (!from || from->kind == DependencyKind::returns || from->kind == DependencyKind::part))
    return likely(Kind::device_tensor);
  // (labels != ignored).sum(): of what Python compares only arrays give that.
  const bool compared =
      object != kNoNode && (ast_[object].kind == K::compare || joins_comparisons(ast_, object) ||
                            (ast_[object].kind == K::name && is_comparison(ast_[object].text, id)));
  if (receiver.kind == Kind::unknown && compared && (name == "sum" || name == "mean") &&
      names_.uses("torch") && !names_.uses("numpy") && !names_.uses("pandas"))
    return likely(Kind::device_tensor);
  if (const Value held = values_of_given(receiver, id); held.dependency != 0) return held;
  if (name == "update") update_entries(object, id);
  Value out = given_by_method(receiver, name);
  // `loss.mean()` is whatever loss is: keep what decides it.
  if (out.dependency == 0 && is_of_callers(receiver) && (compared || ast_[object].kind == K::name))
    out.dependency = receiver.dependency;
  return out;
}

}  // namespace stallscope
