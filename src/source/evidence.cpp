#include "source/evidence.h"

#include <algorithm>
#include <unordered_set>

#include "source/roles.h"

namespace stallscope {
namespace {

using K = NodeKind;

enum class Evidence : uint8_t { none, backward, step };

/// Functions whose call is one training step's gradient or update.
const std::unordered_set<std::string_view> kGradientFunctions = {"jax.grad",
                                                                 "jax.value_and_grad",
                                                                 "equinox.filter_grad",
                                                                 "equinox.filter_value_and_grad",
                                                                 "flax.nnx.grad",
                                                                 "flax.nnx.value_and_grad",
                                                                 "nnx.value_and_grad",
                                                                 "nnx.grad",
                                                                 "torch.func.grad_and_value",
                                                                 "haiku.value_and_grad"};
const std::unordered_set<std::string_view> kUpdateFunctions = {
    "optax.apply_updates", "equinox.apply_updates", "torch_xla.core.xla_model.optimizer_step"};

class Collector {
 public:
  Collector(const Ast& ast, const Names& names, const Outline& outline, const Inference& inference,
            const Guards& guards, FileFacts& facts)
      : ast_(ast),
        names_(names),
        outline_(outline),
        inference_(inference),
        guards_(guards),
        facts_(facts) {
    for (uint32_t f = 1; f < facts.functions.size(); ++f) known_.insert(facts.functions[f].name);
  }

  void run() {
    for (NodeId id = 1; id < ast_.size(); ++id) {
      const Node& node = ast_[id];
      if (node.kind == K::call) {
        call(id);
      } else if ((node.kind == K::name || node.kind == K::attribute) && node.role != Role::callee &&
                 node.role != Role::left && node.role != Role::object &&
                 known_.contains(node.text)) {
        reference(id);
      }
    }
    if (!timed_.empty()) leave_out_benchmarks();
  }

 private:
  /// A program that times kernels and updates nothing trains nothing, whatever its kernels are
  /// called: matmul_backward() in a loop is no step, and a wait for the timer's events no stall.
  void leave_out_benchmarks() {
    if (std::ranges::any_of(facts_.loops, &LoopFacts::optimizer_step)) return;
    for (LoopFacts& loop : facts_.loops) loop.backward = false;
    for (const uint32_t loop : timed_) facts_.loops[loop].seldom = true;
  }

  Evidence evidence(NodeId call, NodeId callee) const {
    const std::string_view name = ast_[callee].text;
    if (ast_[callee].kind == K::attribute) {
      NodeId object = ast_.child(callee, Role::object);
      std::string_view receiver = object == kNoNode ? std::string_view() : ast_.slice(object);
      if (receiver.size() > 200) receiver = receiver.substr(receiver.size() - 200);
      if (name == "backward" || name == "manual_backward") {
        return receiver.starts_with("super") || receiver == "ctx" ? Evidence::none
                                                                  : Evidence::backward;
      }
      if (name == "optimizer_step" || name == "apply_gradients") return Evidence::step;
      if (name == "step") {
        if (object != kNoNode && inference_.at(object).kind == Kind::optimizer)
          return Evidence::step;
        std::string_view last = receiver.substr(receiver.find_last_of(".>") + 1);
        return is_optimizer_name(last) ? Evidence::step : Evidence::none;
      }
      if (name == "update" && is_optimizer_name(receiver) && names_.uses("jax"))
        return Evidence::step;
    }
    if (ast_.grammar == Grammar::cuda && ast_[callee].kind == K::name &&
        outline_.loop_of[call] != kNone) {
      // C programs name their own: gpt2_backward(), model_update(), adam_step().
      if (name.ends_with("_update") || name.ends_with("_optimizer_step") || name.ends_with("adamw"))
        return Evidence::step;
      if (name.find("_backward") != std::string_view::npos) return Evidence::backward;
    }
    const Dotted& path = names_.resolve(callee);
    if (path.imported) {
      if (kUpdateFunctions.contains(path.path)) return Evidence::step;
      if (kGradientFunctions.contains(path.path)) return Evidence::backward;
      if (path.path == "torch.autograd.backward") return Evidence::backward;
    }
    return Evidence::none;
  }

  void call(NodeId id) {
    NodeId callee = ast_.child(id, Role::callee);
    if (callee == kNoNode) return;
    const uint32_t function = outline_.function_of[id], loop = outline_.loop_of[id];
    if (ast_[callee].kind != K::name && ast_[callee].kind != K::attribute) return;
    const Evidence found = evidence(id, callee);
    if (found != Evidence::none) note(found, function, loop);
    if (is_model_name(ast_[callee].text) || ast_[callee].text == "forward") {
      // A while loop runs it on its own output: it generates.
      for (uint32_t at = loop; at != kNone; at = facts_.loops[at].parent)
        facts_.loops[at].runs_model |= ast_[outline_.loops[at]].kind == K::for_;
    }

    if (ast_.grammar == Grammar::cuda) bound(id, callee);
    if (loop != kNone &&
        (ast_[callee].text == "cudaEventElapsedTime" || ast_[callee].text == "hipEventElapsedTime"))
      timed_.push_back(loop);

    CallFacts out;
    out.function = function;
    out.loop = loop;
    out.line = ast_[id].first_line;
    const Dotted& path = names_.resolve(callee);
    // ns::f(x) is a function, whatever the tree says.
    const bool qualified = ast_.grammar == Grammar::cuda && ast_[callee].kind == K::attribute &&
                           ast_.slice(callee).find("::") != std::string_view::npos &&
                           ast_.slice(callee).find('(') == std::string_view::npos &&
                           ast_.slice(callee).find("this") == std::string_view::npos;
    if (ast_[callee].kind == K::name || path.imported || qualified) {
      const std::string_view root = first_component(path.path);
      if (path.imported && (root == "torch" || root == "numpy" || root == "jax" || root == "std"))
        return;
      out.form = CallForm::function;
      out.name = path.path;
      if (qualified) {
        const NodeId scope = ast_.child(callee, Role::object);
        out.name = scope == kNoNode ? std::string() : std::string(ast_[scope].text) + ".";
        out.name += ast_[callee].text;
      }
    } else {
      NodeId object = ast_.child(callee, Role::object);
      if (object == kNoNode) return;
      std::string_view receiver =
          ast_[object].kind == K::name ? ast_[object].text : std::string_view();
      const bool super = ast_[object].kind == K::call && callee_name(ast_, object) == "super";
      out.form = receiver == "self" || receiver == "this" || receiver == "cls" || super
                     ? CallForm::self_method
                     : CallForm::method;
      out.name = ast_[callee].text;
      const Value& value = inference_.at(object);
      // Methods of tensors and other library values lead nowhere.
      if (out.form == CallForm::method && value.kind != Kind::unknown && value.kind != Kind::module)
        return;
      const Dependency* from = inference_.dependency(value);
      if (from && from->kind == DependencyKind::instance) out.receiver = value.dependency;
    }
    out.guards = guards_.around(id);
    if (is_wait_only_name(last_component(out.name))) {
      out.first_byte = ast_[id].first_byte;
      out.last_byte = ast_[id].last_byte;
      out.column = ast_[id].column;
      out.line_text = line_text(ast_.source, out.first_byte);
    }
    arguments(id, out);
    if (out.form == CallForm::method) out.given = count_arguments(id);
    facts_.calls.push_back(std::move(out));
  }

  /// m.def("forward", &forward<float>), m.impl("forward", TORCH_FN(forward)): what Python calls.
  void bound(NodeId id, NodeId callee) {
    if (ast_[callee].kind != K::attribute ||
        (ast_[callee].text != "def" && ast_[callee].text != "def_static" &&
         ast_[callee].text != "impl"))
      return;
    const NodeId first = ast_.child(id, Role::argument);
    if (first == kNoNode || ast_[first].next == kNoNode) return;
    for (NodeId at = ast_[first].next; at != kNoNode; at = ast_[at].next) {
      if (ast_[at].kind == K::lambda) bound_by_lambda(at);
    }
    std::string_view text = ast_.slice(ast_[first].next);
    if (ast_[first].kind != K::string && !text.starts_with('&')) return;
    if (size_t open = text.find("TORCH_FN("); open != std::string_view::npos)
      text.remove_prefix(open + 9);
    text = text.substr(0, text.find_first_of("<,() \n"));
    const size_t start = text.find_last_of("&:");
    if (start != std::string_view::npos) text.remove_prefix(start + 1);
    if (!text.empty()) facts_.bound.emplace_back(text);
  }

  /// .def("unbind", [](const List& self) { return py::cast(self.unbind()); })
  void bound_by_lambda(NodeId lambda) {
    for (NodeId at = lambda; at < ast_[lambda].end; ++at) {
      const NodeId callee = ast_[at].kind == K::call ? ast_.child(at, Role::callee) : kNoNode;
      if (callee == kNoNode) continue;
      const NodeId object = ast_.child(callee, Role::object);
      const bool own =
          object == kNoNode || ast_[object].text == "self" ||
          (!ast_.slice(callee).starts_with("py::") && !ast_.slice(callee).starts_with("std::") &&
           ast_.slice(callee).find("::") != std::string_view::npos);
      // size(), dim(): what says nothing of a class.
      if (own && ast_[callee].text.size() > 5) facts_.bound.emplace_back(ast_[callee].text);
    }
  }

  uint8_t count_arguments(NodeId id) const {
    unsigned count = 0;
    for (NodeId c : children(ast_, id)) {
      if (ast_[c].role != Role::argument) continue;
      if (ast_[c].kind == K::star || ++count >= kAnyArguments) return kAnyArguments;
    }
    return static_cast<uint8_t>(count);
  }

  void arguments(NodeId id, CallFacts& out) {
    uint32_t position = 0;
    for (NodeId c : children(ast_, id)) {
      if (ast_[c].role != Role::argument) continue;
      const bool keyword = ast_[c].kind == K::keyword;
      NodeId value_node = keyword ? ast_.child(c, Role::value) : c;
      std::string name = keyword ? std::string(ast_[c].text) : std::to_string(position++);
      if (value_node == kNoNode) continue;
      const Value& value = inference_.at(value_node);
      if (value.kind == Kind::unknown && value.dependency == 0) continue;
      if (out.arguments.size() < 12) out.arguments.emplace_back(std::move(name), value);
    }
  }

  /// A function handed on as a value may be called from here.
  void reference(NodeId id) {
    const Node& node = ast_[id];
    const K parent = ast_[node.parent].kind;
    if (parent == K::function || parent == K::class_ || parent == K::parameters ||
        parent == K::import_name || node.role == Role::type) {
      return;
    }
    if (node.kind == K::name && inference_.at(id).kind != Kind::unknown) return;
    CallFacts out;
    out.function = outline_.function_of[id];
    out.loop = outline_.loop_of[id];
    out.line = node.first_line;
    out.form = CallForm::reference;
    const Dotted& path = names_.resolve(id);
    if (path.path.empty()) return;
    out.name = node.kind == K::attribute && !path.imported ? std::string(node.text) : path.path;
    out.guards = guards_.around(id);
    handed_to(id, out);
    facts_.calls.push_back(std::move(out));
  }

  /// jit(f) compiles f; `step = jit(f)` gives it a second name.
  void handed_to(NodeId id, CallFacts& out) {
    NodeId call = ast_[id].parent;
    if (ast_[call].kind == K::keyword) call = ast_[call].parent;
    if (ast_[call].kind != K::call) return;
    if (contains_any(callee_name(ast_, call),
                     {"jit", "pmap", "scan", "while_loop", "fori_loop", "shard_map"})) {
      out.guards |= kGuardJit;
    }
    NodeId assign = ast_[call].parent;
    while (ast_[assign].kind == K::call) assign = ast_[assign].parent;
    if (ast_[assign].kind != K::assign) return;
    NodeId left = ast_.child(assign, Role::left);
    if (left == kNoNode || (ast_[left].kind != K::name && ast_[left].kind != K::attribute)) return;
    facts_.aliases.emplace_back(ast_[left].text, last_component(out.name));
  }

  void note(Evidence found, uint32_t function, uint32_t loop) {
    if (loop == kNone) {
      facts_.functions[function].flags |= kStepEvidence;
      return;
    }
    (found == Evidence::step ? facts_.loops[loop].optimizer_step : facts_.loops[loop].backward) =
        true;
  }

  const Ast& ast_;
  const Names& names_;
  const Outline& outline_;
  const Inference& inference_;
  const Guards& guards_;
  FileFacts& facts_;
  std::unordered_set<std::string_view> known_;
  std::vector<uint32_t> timed_;  ///< loops that time what the device does
};

}  // namespace

void collect_calls(const Ast& ast, const Names& names, const Outline& outline,
                   const Inference& inference, const Guards& guards, FileFacts& facts) {
  Collector(ast, names, outline, inference, guards, facts).run();
}

}  // namespace stallscope
