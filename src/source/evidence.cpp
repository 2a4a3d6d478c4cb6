#include "source/evidence.h"

#include <algorithm>
#include <unordered_set>

#include "source/consumers.h"
#include "source/device_buffers.h"
#include "source/device_work.h"
#include "source/dispatch_by_name.h"
#include "source/gradient_names.h"
#include "source/mentions.h"
#include "source/role_words.h"
#include "source/roles.h"

namespace stallscope {
namespace {

using K = NodeKind;

constexpr size_t kMostArguments = 12;  ///< of a call, that are kept

enum class Evidence : uint8_t { none, backward, step };

/// Functions whose call is one training step's update.
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
        facts_(facts),
        gradients_(ast, names, outline, facts),
        consumers_(ast, outline) {
    for (uint32_t f = 1; f < facts.functions.size(); ++f) known_.insert(facts.functions[f].name);
    own_steps_.resize(facts.functions.size());
  }

  void run() {
    for (const NodeId made : gradients_.made())
      note(Evidence::backward, outline_.function_of[made], outline_.loop_of[made]);
    for (NodeId id = 1; id < ast_.size(); ++id) {
      const Node& node = ast_[id];
      if (node.kind == K::attribute && node.role != Role::callee && node.role != Role::left)
        read(id);
      if (node.kind == K::call) {
        call(id);
      } else if (node.kind == K::with_item) {
        enter(id);
      } else if (node.kind == K::yield) {
        facts_.functions[outline_.function_of[id]].flags |= kGenerator;
      } else if ((node.kind == K::name || node.kind == K::attribute) && node.role != Role::callee &&
                 node.role != Role::left && node.role != Role::object &&
                 known_.contains(node.text)) {
        reference(id);
      }
    }
    if (ast_.grammar == Grammar::cuda) find_launches();
    for (uint32_t loop = 0; loop < facts_.loops.size(); ++loop) iterate(loop);
    for (uint32_t f = 1; f < facts_.functions.size(); ++f) {
      judge_own_step(f);
      if ((facts_.functions[f].flags & kDecorated) != 0) decorators(f);
    }
    if (!timed_.empty()) leave_out_benchmarks();
  }

 private:
  /// `@timed`, `@timed("step")` of the program's own: their wrappers run when the function does.
  void decorators(uint32_t function) {
    const NodeId definition = outline_.functions[function];
    for (const NodeId d : children(ast_, ast_[definition].parent)) {
      if (ast_[d].kind != K::decorator) continue;
      NodeId made = ast_[d].first_child;
      if (made != kNoNode && ast_[made].kind == K::call) made = ast_.child(made, Role::callee);
      if (made == kNoNode || (ast_[made].kind != K::name && ast_[made].kind != K::attribute))
        continue;
      CallFacts out;
      out.name = names_.resolve(made).path;
      out.form = CallForm::decorator;
      out.function = function;
      out.line = ast_[definition].first_line;
      if (!out.name.empty()) facts_.calls.push_back(std::move(out));
    }
  }

  /// A program that times kernels and updates nothing trains nothing, whatever its kernels are
  /// called: matmul_backward() in a loop is no step, and a wait for the timer's events no stall.
  void leave_out_benchmarks() {
    if (std::ranges::any_of(facts_.loops, &LoopFacts::optimizer_step)) return;
    for (LoopFacts& loop : facts_.loops) {
      loop.backward = false;
      loop.seldom = true;
    }
  }

  /// kernel<128><<<grid, block>>>(x): the text says it where templates are read as comparisons.
  void find_launches() {
    const std::string_view text = ast_.source;
    constexpr size_t kLongestHead = 200;  // of a launch, before its <<<
    uint32_t last = 0;                    // the last function that starts before
    for (size_t at = text.find("<<<"); at != std::string_view::npos;
         at = text.find("<<<", at + 3)) {
      const size_t from = at < kLongestHead ? 0 : at - kLongestHead;
      const std::string_view before = text.substr(from, at - from);
      const size_t line = before.rfind('\n');
      if (before.find("//", line == std::string_view::npos ? 0 : line) != std::string_view::npos)
        continue;
      while (last + 1 < facts_.functions.size() &&
             ast_[outline_.functions[last + 1]].first_byte <= at)
        ++last;
      if (last > 0 && at < ast_[outline_.functions[last]].last_byte)
        facts_.functions[last].flags |= kDeviceWork;
    }
  }

  /// backward_network(net), update_network(net): together they are one step.
  void judge_own_step(uint32_t function) {
    FunctionFacts& f = facts_.functions[function];
    const OwnSteps& calls = own_steps_[function];
    if (calls.backward && (calls.forward || calls.update) && (f.flags & kForward) == 0 &&
        !is_binding_name(f.name))
      f.flags |= kStepEvidence;
    // What launches kernels works on data, whatever else it is said to build.
    if ((f.flags & kDeviceWork) != 0 && (f.flags & kWeakRole) != 0 && works_on_data(f.name))
      f.flags &= ~static_cast<uint32_t>(kInitFunction | kWeakRole);
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
      if (ast_.grammar == Grammar::cuda) {
        const OwnStep own = own_step(name);
        if (own == OwnStep::backward) return Evidence::backward;
        if (own == OwnStep::update && is_optimizer_name(receiver)) return Evidence::step;
      }
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
      if (name == "backward" || name.find("_backward") != std::string_view::npos)
        return Evidence::backward;
    }
    if (gradients_.contains(name)) return Evidence::backward;
    const Dotted& path = names_.resolve(callee);
    if (path.imported) {
      if (kUpdateFunctions.contains(path.path)) return Evidence::step;
      if (gradients_.is_called(call, path)) return Evidence::backward;
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
      const bool without_grad = loop != kNone && is_without_grad(id);
      for (uint32_t at = loop; at != kNone; at = facts_.loops[at].parent) {
        facts_.loops[at].runs_model |= ast_[outline_.loops[at]].kind == K::for_;
        facts_.loops[at].without_grad |= without_grad;
        if (facts_.loops[at].over_batches) break;  // the loop around it runs epochs
      }
      if (without_grad) facts_.functions[function].flags |= kWithoutGrad;
    }
    if (ast_[callee].text == "generate" || ast_[callee].text == "beam_search" ||
        is_sampled(callee)) {
      for (uint32_t at = loop; at != kNone; at = facts_.loops[at].parent)
        facts_.loops[at].generates = true;
    }
    if (loop != kNone) note_play(callee, loop);
    if (ast_.grammar == Grammar::python && ast_[callee].text == "getattr") by_prefix(id);
    if (is_hook_registration(ast_[callee].text)) hook(id);
    if (ast_.grammar == Grammar::cuda) {
      bound(id, callee);
      if (queues_work(ast_, names_, id)) facts_.functions[function].flags |= kDeviceWork;
      if (is_driver_allocation(ast_[callee].text))
        facts_.functions[function].flags |= kDriverAllocation;
      if (ast_[callee].kind == K::name && loop == kNone) note_own_step(callee, function);
    }
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
      if (path.imported && is_library_root(root)) return;
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
      out.form = super ? CallForm::super_method
                 : receiver == "self" || receiver == "this" || receiver == "cls"
                     ? CallForm::self_method
                     : CallForm::method;
      out.name = ast_[callee].text;
      if (ast_.grammar == Grammar::cuda) out.object = object_name(object);
      const Value& value = inference_.at(object);
      // Methods of tensors and other library values lead nowhere.
      const Dependency* from = inference_.dependency(value);
      const bool instance = from && from->kind == DependencyKind::instance;
      out.moves_batch = value.kind == Kind::batch && (out.name == "to" || out.name == "cuda");
      if (out.form == CallForm::method && value.kind != Kind::unknown &&
          value.kind != Kind::module && !instance && !out.moves_batch)
        return;
      out.receiver = value.dependency;
    }
    out.guards = guards_.around(id);
    out.consumer = consumers_.of(id);
    if (is_wait_only_name(last_component(out.name)) ||
        (ast_.grammar == Grammar::cuda && is_read_back_name(last_component(out.name)))) {
      out.first_byte = ast_[id].first_byte;
      out.last_byte = ast_[id].last_byte;
      out.column = ast_[id].column;
      out.line_text = line_text(ast_.source, out.first_byte);
    }
    arguments(id, out);
    if (out.form == CallForm::method || ast_.grammar == Grammar::cuda)
      out.given = count_arguments(id);
    call_object(id, callee, out);
    facts_.calls.push_back(std::move(out));
  }

  /// metric = Metric(); metric(x): calls its __call__(). fn = linear; fn(x): calls linear().
  void call_object(NodeId id, NodeId callee, const CallFacts& call) {
    const Value& object = inference_.at(callee);
    if (ast_.grammar != Grammar::python || object.kind != Kind::unknown || object.dependency == 0)
      return;
    facts_.calls.push_back(call);
    CallFacts& out = facts_.calls.back();
    out.name = "__call__";
    out.form = CallForm::method;
    out.receiver = object.dependency;
    out.given = count_arguments(id);
  }

  /// self.body.register_forward_hook(self._keep): this file's function of that name is a hook.
  void hook(NodeId call) {
    const NodeId handed = ast_.child(call, Role::argument);
    if (handed == kNoNode || !known_.contains(ast_[handed].text)) return;
    const bool method = ast_[handed].kind == K::attribute;
    const std::string& klass = facts_.functions[outline_.function_of[call]].class_name;
    constexpr uint32_t kBeside = kEvalFunction | kTestFunction | kInferenceFunction;
    for (FunctionFacts& f : facts_.functions) {
      if (f.name == ast_[handed].text && (!method || f.class_name == klass) &&
          (f.flags & kBeside) == 0)
        f.flags |= kHook;
    }
  }

  /// A call of the object's method that is written otherwise.
  CallFacts implied(NodeId at, NodeId object, CallForm form, std::string_view name) const {
    CallFacts out;
    out.name = name;
    out.form = form;
    out.function = outline_.function_of[at];
    out.loop = outline_.loop_of[at];
    out.line = ast_[at].first_line;
    out.guards = guards_.around(at);
    out.receiver = inference_.at(object).dependency;
    return out;
  }

  /// with Timer("forward"): calls its __enter__() and its __exit__().
  void enter(NodeId item) {
    const NodeId object = ast_.child(item, Role::value);
    if (ast_.grammar != Grammar::python || object == kNoNode ||
        !inference_.dependency(inference_.at(object)))
      return;
    for (const char* method : {"__enter__", "__exit__"})
      facts_.calls.push_back(implied(item, object, CallForm::method, method));
  }

  /// scale.value, self.value: a property runs.
  void read(NodeId attribute) {
    const NodeId object = ast_.child(attribute, Role::object);
    if (ast_.grammar != Grammar::python || object == kNoNode || ast_[object].kind != K::name)
      return;
    const bool own = ast_[object].text == "self" && known_.contains(ast_[attribute].text);
    const Dependency* from = inference_.dependency(inference_.at(object));
    const bool object_of_class =
        from &&
        (from->kind == DependencyKind::instance ||
         (from->kind == DependencyKind::returns && is_class_like(last_component(from->name))));
    if (own || object_of_class)
      facts_.calls.push_back(implied(attribute, object, CallForm::property, ast_[attribute].text));
  }

  /// getattr(self, f"loss_{name}")(x): the methods of that prefix.
  void by_prefix(NodeId id) {
    const std::string_view prefix = method_prefix(ast_, id);
    if (prefix.empty()) return;
    CallFacts out = implied(id, id, CallForm::prefix, prefix);
    facts_.calls.push_back(std::move(out));
  }

  /// loader = Prefetcher(data); for batch in loader: calls its __iter__().
  void iterate(uint32_t loop) {
    const NodeId over = consumers_.iterated(loop);
    if (ast_.grammar != Grammar::python || over == kNoNode) return;
    const Value& object = inference_.at(over);
    const Dependency* from = inference_.dependency(object);
    if (!from || (ast_[over].kind != K::name && ast_[over].kind != K::attribute)) return;
    CallFacts out = implied(outline_.loops[loop], over, CallForm::method, "__iter__");
    out.consumer = loop;
    facts_.calls.push_back(std::move(out));
  }

  /// self._sample(), model.sample(n): outputs of many passes.
  bool is_sampled(NodeId callee) const {
    const NodeId object = ast_.child(callee, Role::object);
    return object != kNoNode &&
           (ast_[callee].text == "sample" || ast_[callee].text.ends_with("_sample")) &&
           (ast_.slice(object) == "self" || is_model_name(last_component(ast_.slice(object))));
  }

  /// Whether a `with` around the call says that no gradients are wanted.
  bool is_without_grad(NodeId call) const {
    for (NodeId at = ast_[call].parent; at != kNoNode && ast_[at].kind != K::function;
         at = ast_[at].parent) {
      if (ast_[at].kind != K::with_) continue;
      for (NodeId item : children(ast_, at)) {
        if (ast_[item].kind == K::with_item && says_without_grad(ast_.slice(item))) return true;
      }
    }
    return false;
  }

  void note_own_step(NodeId callee, uint32_t function) {
    OwnSteps& calls = own_steps_[function];
    switch (own_step(ast_[callee].text)) {
      case OwnStep::forward:
        calls.forward = true;
        break;
      case OwnStep::backward:
        calls.backward = true;
        break;
      case OwnStep::update:
        calls.update = true;
        break;
      case OwnStep::none:
        break;
    }
  }

  /// "layers_" of this->layers_[i] and of what a loop takes from it, "solver" of a.solver().
  std::string object_name(NodeId object) const {
    NodeId at = object;
    while (at != kNoNode &&
           (ast_[at].kind == K::subscript || ast_[at].kind == K::call || ast_[at].kind == K::unary))
      at = ast_[at].kind == K::subscript ? ast_.child(at, Role::object)
           : ast_[at].kind == K::call    ? ast_.child(at, Role::callee)
                                         : ast_[at].first_child;
    if (at == kNoNode || (ast_[at].kind != K::name && ast_[at].kind != K::attribute)) return {};
    const NodeId container = ast_[at].kind == K::name ? container_of(at) : kNoNode;
    return container == kNoNode ? std::string(ast_[at].text) : object_name(container);
  }

  /// layers in `for (auto& l : layers)` and `for (auto it = layers.rbegin(); ...)`, of `l` and
  /// `it`.
  NodeId container_of(NodeId element) const {
    const std::string_view name = ast_[element].text;
    for (NodeId at = ast_[element].parent; at != kNoNode && ast_[at].kind != K::function;
         at = ast_[at].parent) {
      const NodeId body = ast_[at].kind == K::for_ ? ast_.child(at, Role::body) : kNoNode;
      // In `for (auto& layers : layers)` the container is another one.
      if (body == kNoNode || ast_[element].first_byte < ast_[body].first_byte) continue;
      const NodeId variable = ast_.child(at, Role::left);
      if (variable != kNoNode && ast_[variable].text == name) return ast_.child(at, Role::right);
      for (NodeId c : children(ast_, at)) {
        const NodeId iterator = ast_[c].kind == K::assign ? ast_.child(c, Role::left) : kNoNode;
        if (iterator == kNoNode || ast_[iterator].text != name) continue;
        const NodeId begin = ast_.child(c, Role::right);
        if (begin == kNoNode || ast_[begin].kind != K::call ||
            !callee_name(ast_, begin).ends_with("begin"))
          return kNoNode;
        return ast_.child(ast_.child(begin, Role::callee), Role::object);
      }
    }
    return kNoNode;
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

  /// "mean", 3, True, None
  bool is_literal(NodeId id) const {
    return ast_[id].kind == K::string || ast_[id].kind == K::number || ast_[id].kind == K::constant;
  }

  void arguments(NodeId id, CallFacts& out) {
    uint32_t position = 0;
    bool any = ast_.grammar != Grammar::python;
    for (NodeId c : children(ast_, id)) {
      if (ast_[c].role != Role::argument) continue;
      const bool keyword = ast_[c].kind == K::keyword;
      any |= ast_[c].kind == K::star;
      if (keyword) out.keywords |= name_bit(ast_[c].text);
      NodeId value_node = keyword ? ast_.child(c, Role::value) : c;
      std::string name = keyword ? std::string(ast_[c].text) : std::to_string(position++);
      if (value_node == kNoNode) continue;
      if (!any && is_literal(value_node) && out.literals.size() < kMostArguments)
        out.literals.emplace_back(name_hash(name), literal_hash(ast_.slice(value_node)));
      const Value& value = inference_.at(value_node);
      if (value.kind == Kind::unknown && value.dependency == 0) continue;
      if (out.arguments.size() < kMostArguments) out.arguments.emplace_back(std::move(name), value);
    }
    if (!any && position < kAnyArguments) out.positional = static_cast<uint8_t>(position);
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

  /// env.step(action), and agent.update() beside it or around it.
  void note_play(NodeId callee, uint32_t loop) {
    const NodeId object = ast_.child(callee, Role::object);
    if (ast_[callee].kind != K::attribute || object == kNoNode) return;
    const std::string_view name = ast_[callee].text, whose = last_component(ast_.slice(object));
    if (name == "step" && is_simulator_name(whose)) {
      while (facts_.loops[loop].comprehension && facts_.loops[loop].parent != kNone)
        loop = facts_.loops[loop].parent;
      facts_.loops[loop].plays = true;
    } else if (is_learning_call(whose, name)) {
      for (uint32_t at = loop; at != kNone; at = facts_.loops[at].parent)
        facts_.loops[at].learns = true;
    }
  }

  void note(Evidence found, uint32_t function, uint32_t loop) {
    if (ast_.grammar == Grammar::cuda && is_binding_name(facts_.functions[function].name)) return;
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
  GradientNames gradients_;
  Consumers consumers_;
  std::vector<uint32_t> timed_;  ///< loops that time what the device does
  struct OwnSteps {
    bool forward = false, backward = false, update = false;
  };
  std::vector<OwnSteps> own_steps_;  ///< per function of C++, what it calls outside loops
};

}  // namespace

void collect_calls(const Ast& ast, const Names& names, const Outline& outline,
                   const Inference& inference, const Guards& guards, FileFacts& facts) {
  Collector(ast, names, outline, inference, guards, facts).run();
}

}  // namespace stallscope
