#include "source/extract/evidence.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "source/extract/benchmarks.h"
#include "source/extract/device_work.h"
#include "source/extract/evaluated_models.h"
#include "source/extract/generation.h"
#include "source/extract/implied_calls.h"
#include "source/extract/macro_functions.h"
#include "source/extract/references.h"
#include "source/extract/step_evidence.h"
#include "source/match/options.h"
#include "source/names/bindings.h"
#include "source/names/mentions.h"
#include "source/names/object_names.h"
#include "source/names/roles.h"
#include "source/names/training_state.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

constexpr size_t kMostArguments = 12;  ///< of a call, that are kept

class EvidenceCollector {
 public:
  EvidenceCollector(const Ast& ast, const Names& names, const Outline& outline,
                    const Inference& inference, const Guards& guards, Switches& switches,
                    FileFacts& facts)
      : ast_(ast),
        names_(names),
        outline_(outline),
        inference_(inference),
        guards_(guards),
        switches_(switches),
        view_{ast, names, outline, inference, guards, facts},
        options_(view_, facts),
        facts_(facts),
        gradients_(ast, names, outline, facts),
        steps_(ast, names, outline, inference, gradients_, facts),
        consumers_(ast, outline),
        evaluated_(ast, outline),
        references_(ast, names, outline, inference, guards, consumers_, known_, facts),
        implied_(ast, names, outline, inference, guards, consumers_, known_, facts) {
    for (uint32_t f = 1; f < facts.functions.size(); ++f) known_.insert(facts.functions[f].name);
    for (const ClassFacts& c : facts.classes) {
      if (is_class_like(c.name)) classes_.insert(c.name);
    }
    own_steps_.resize(facts.functions.size());
    uses_streams_ = ast.grammar == Grammar::cuda && names_streams(ast.source);
  }

  void run() {
    const std::vector<uint32_t> samplers = forwards_without_grad(facts_);
    for (const GradientNames::Made& made : gradients_.made()) {
      const uint32_t function = outline_.function_of[made.call];
      note(Evidence::backward, function, outline_.loop_of[made.call]);
      if (made.scanned) facts_.functions[function].flags |= kScansSteps;
    }
    for (NodeId id = 1; id < ast_.size(); ++id) {
      const Node& node = ast_[id];
      if (ast_.grammar == Grammar::python) implied_.visit(id);
      if (node.kind == K::call) {
        call(id);
      } else if (node.kind == K::assign && ast_.grammar == Grammar::cuda) {
        if (is_device_guard(ast_, id)) note_device_work(outline_.function_of[id]);
        implied_.declare(id);
      } else if (node.kind == K::yield) {
        FunctionFacts& maker = facts_.functions[outline_.function_of[id]];
        maker.flags |= kGenerator | (prefetches(id) ? +kPrefetches : 0u);
        if (const uint32_t loop = outline_.loop_of[id]; loop != kNone)
          facts_.loops[loop].yields = true;
      } else if (node.kind == K::name || node.kind == K::attribute) {
        references_.visit(id);
      }
    }
    if (ast_.grammar == Grammar::cuda) find_launches();
    if (ast_.grammar == Grammar::python) {
      for (uint32_t loop = 0; loop < facts_.loops.size(); ++loop) implied_.iterate(loop);
    }
    leave_out_counters();
    for (uint32_t f = 1; f < facts_.functions.size(); ++f) {
      judge_own_step(f);
      if ((facts_.functions[f].flags & kDecorated) != 0) implied_.decorators(f);
    }
    if (!timed_.empty()) leave_out_benchmarks(ast_, timed_, facts_);
    leave_out_tried_kernels(ast_, facts_);
    leave_out_generators(samplers, facts_);
  }

 private:
  /// JAX: `yield queue.popleft()` of a function that puts what comes next on the device.
  bool prefetches(NodeId yield) const {
    const uint32_t function = outline_.function_of[yield];
    const std::string_view value = ast_.slice(yield);
    if (function == 0 || value.size() > 100 || value.find(".popleft(") == std::string_view::npos)
      return false;
    return ast_.slice(outline_.functions[function]).find("device_put") != std::string_view::npos;
  }

  /// kernel<128><<<grid, block>>>(x): the text says it where templates are read as comparisons.
  /// Some editors write << <grid, block >> >.
  void find_launches() {
    const std::string_view text = ast_.source;
    constexpr size_t kLongestHead = 200;  // of a launch, before its <<<
    uint32_t last = 0;                    // the last function that starts before
    for (size_t at = text.find("<<"); at != std::string_view::npos; at = text.find("<<", at + 3)) {
      const std::string_view bracket = text.substr(at + 2, 2);
      if (!bracket.starts_with('<') && bracket != " <") continue;
      const size_t from = at < kLongestHead ? 0 : at - kLongestHead;
      const std::string_view before = text.substr(from, at - from);
      const size_t line = before.rfind('\n');
      if (before.find("//", line == std::string_view::npos ? 0 : line) != std::string_view::npos)
        continue;
      while (last + 1 < facts_.functions.size() &&
             ast_[outline_.functions[last + 1]].first_byte <= at)
        ++last;
      uint32_t in = last;
      while (in != kNone && at >= ast_[outline_.functions[in]].last_byte)
        in = facts_.functions[in].parent;
      if (in != kNone && in > 0) note_device_work(in);
    }
  }

  /// What a lambda of C++ launches or allocates, the function around it does.
  void note_device_work(uint32_t function) {
    for (; function != kNone; function = facts_.functions[function].parent)
      facts_.functions[function].flags |= kDeviceWork;
  }
  void note_allocation(NodeId call, NodeId callee, uint32_t function) {
    const bool frees = contains_any(ast_[callee].text, {"free"});
    for (; function != kNone; function = facts_.functions[function].parent) {
      FunctionFacts& by = facts_.functions[function];
      uint32_t& first = frees ? by.frees_at : by.allocates_at;
      if (first == 0) first = ast_[call].first_line;
    }
  }

  /// load_data(batch_index): what each step begins with, not what was saved.
  static bool loads_batch(const FunctionFacts& f) {
    return f.name.starts_with("load_") &&
           has_word(f.name, {"data", "images", "samples", "examples", "input"}) &&
           std::ranges::any_of(f.parameters, [](const std::string& parameter) {
             return has_word(lower(snake_case(parameter)),
                             {"batch", "minibatch", "iteration", "iter"}) &&
                    !has_word(parameter, {"size"});
           });
  }

  /// backward_network(net), update_network(net): together they are one step.
  void judge_own_step(uint32_t function) {
    FunctionFacts& f = facts_.functions[function];
    const OwnSteps& calls = own_steps_[function];
    if (calls.backward && (calls.forward || calls.update) && (f.flags & kForward) == 0 &&
        !is_binding_name(f.name))
      f.flags |= kStepEvidence;
    // A layer of C++ is evaluated, and so is a polynomial: what launches kernels may be either.
    if ((f.flags & kDeviceWork) != 0 &&
        (is_one_of(f.name, {"evaluate", "Evaluate"}) ||
         (!f.class_name.empty() && !is_evaluation_class(f.class_name) &&
          is_one_of(f.name, {"eval", "Eval"}))))
      f.flags |= kWeakRole;
    if (loads_batch(f)) f.flags &= ~static_cast<uint32_t>(kCheckpointFunction | kInitFunction);
    // What launches kernels samples for each step, whatever its class is called.
    if ((f.flags & kDeviceWork) != 0 && is_data_class(f.class_name) && f.name != f.class_name &&
        (role_flags(f.name, false, true) & kInitFunction) == 0)
      f.flags &= ~static_cast<uint32_t>(kInitFunction);
    // What launches kernels works on data, whatever else it is said to build.
    if ((f.flags & kDeviceWork) != 0 && (f.flags & kWeakRole) != 0 && works_on_data(f.name))
      f.flags &= ~static_cast<uint32_t>(kInitFunction | kWeakRole);
  }

  /// DataLoader(data, num_workers=4): they have the next batch ready.
  bool has_workers(NodeId call) const {
    for (const NodeId c : children(ast_, call)) {
      const NodeId value = ast_[c].kind == K::keyword ? ast_[c].first_child : kNoNode;
      if (value != kNoNode && ast_[c].text == "num_workers") return ast_.slice(value) != "0";
    }
    return false;
  }

  void call(NodeId id) {
    NodeId callee = ast_.child(id, Role::callee);
    if (callee == kNoNode) return;
    const uint32_t function = outline_.function_of[id], loop = outline_.loop_of[id];
    if (ast_[callee].kind != K::name && ast_[callee].kind != K::attribute) return;
    const Evidence found = steps_.of(id, callee);
    if (found != Evidence::none) note(found, function, loop);
    evaluated_.note(id, callee);
    if (is_model_name(ast_[callee].text) || ast_[callee].text == "forward") {
      // A while loop runs it on its own output: it generates.
      const bool without_grad = loop != kNone && is_without_grad(id);
      const bool validates = without_grad || (loop != kNone && evaluated_.is_evaluated(id, callee));
      for (uint32_t at = loop; at != kNone; at = facts_.loops[at].parent) {
        facts_.loops[at].runs_model |= ast_[outline_.loops[at]].kind == K::for_;
        facts_.loops[at].generates |=
            !facts_.loops[at].over_batches && feeds_back(ast_, id, outline_.loops[at]);
        facts_.loops[at].validates |= validates;
        if (facts_.loops[at].over_batches) break;  // the loop around it runs epochs
      }
      if (without_grad) facts_.functions[function].flags |= kWithoutGrad;
    }
    if (is_generation(ast_, callee)) {
      for (uint32_t at = loop; at != kNone; at = facts_.loops[at].parent)
        facts_.loops[at].generates = true;
    }
    if (loop != kNone) {
      note_play(callee, loop);
      facts_.loops[loop].fetches |= ast_[callee].kind == K::name && ast_[callee].text == "next";
    }
    if (ast_[callee].text == "DataLoader")
      facts_.functions[function].flags |= has_workers(id) ? kHasWorkers : kLoadsItself;
    // of the program, not for a while or for who asks
    if (ast_[callee].text == "set_default_device" &&
        (facts_.functions[function].flags & (kModuleLevel | kMainFunction)) != 0)
      facts_.functions[function].flags |= kSetsDevice;
    if (ast_.grammar == Grammar::cuda) {
      add_bound(ast_, id, facts_.bound);
      if (queues_work(ast_, names_, id) || (uses_streams_ && is_given_stream(ast_, id)))
        note_device_work(function);
      if (is_driver_allocation(ast_[callee].text)) note_allocation(id, callee, function);
      if (ast_[callee].kind == K::name && loop == kNone) note_own_step(callee, function);
    }
    if (loop != kNone && is_one_of(ast_[callee].text,
                                   {"cudaEventElapsedTime", "hipEventElapsedTime", "elapsed_time"}))
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
    if (ast_[callee].kind == K::name || path.imported || qualified || is_of_own_class(callee)) {
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
      if (out.form == CallForm::method) out.object = object_name(ast_, object);
      const Value& value = inference_.at(object);
      // Methods of tensors and other library values lead nowhere.
      const Dependency* from = inference_.dependency(value);
      const bool instance = from && from->kind == DependencyKind::instance;
      out.moves_batch = value.kind == Kind::batch && (out.name == "to" || out.name == "cuda");
      const bool loader = value.kind == Kind::loader && from;  // maybe of the program's own class
      // self.tools = None in the constructor: somebody sets it before it is asked for anything.
      const bool open = value.kind == Kind::unknown || value.kind == Kind::none ||
                        is_of_own_engine(object, value);
      if (out.form == CallForm::method && !open && value.kind != Kind::module && !instance &&
          !loader && !out.moves_batch)
        return;
      // model.train(): a module's switch, not the trainer's loop of that name.
      const bool switches = out.name == "train" || out.name == "eval";
      if (switches && out.form == CallForm::method && !instance && count_arguments(id) == 0 &&
          ast_.grammar == Grammar::python &&
          (value.kind == Kind::module || is_model_name(last_component(ast_.slice(object))) ||
           is_one_of(last_component(ast_.slice(object)), {"graph", "pipeline", "engine"})))
        return;
      out.receiver = value.dependency;
    }
    out.guards = guards_.around(id) | (ends_program(ast_[callee].text) ? +kGuardErrorPath : 0u);
    out.switches = switches_.around(id);
    out.option = options_.needed_around(id);
    out.consumer = consumers_.of(id);
    arguments(id, out);
    if (answers_for_itself(out)) {
      out.first_byte = ast_[id].first_byte;
      out.last_byte = ast_[id].last_byte;
      out.column = ast_[id].column;
      out.line_text = line_text(ast_.source, out.first_byte);
    }
    const uint8_t given = count_arguments(id);
    if (out.form == CallForm::method || ast_.grammar == Grammar::cuda) out.given = given;
    if (ast_.grammar == Grammar::python) implied_.call_object(callee, out, given);
    facts_.calls.push_back(std::move(out));
  }

  /// C++: loss.cpu() where LibTorch is not used, and output->loss(target), which no tensor has: the
  /// program's own, whatever else it looks like.
  bool is_of_own_engine(NodeId object, const Value& value) const {
    return ast_.grammar == Grammar::cuda && value.is_device() &&
           (!inference_.has_tensors() || ast_.source.substr(ast_[object].last_byte, 2) == "->");
  }

  /// Tensors.to(batch): a static method of a class of this file.
  bool is_of_own_class(NodeId callee) const {
    const NodeId object = ast_.child(callee, Role::object);
    return ast_.grammar == Grammar::python && object != kNoNode && ast_[object].kind == K::name &&
           classes_.contains(ast_[object].text);
  }

  /// Whether what the function called does may be the fault of this line: synchronize(), flush(),
  /// to_gpu(torch.zeros(3)).
  bool answers_for_itself(const CallFacts& call) const {
    const std::string_view name = last_component(call.name);
    // block.sync() of a kernel
    if (ast_.grammar == Grammar::cuda &&
        is_device_function(ast_, outline_.functions[call.function]))
      return false;
    const auto is_fresh = [](const auto& argument) {
      return argument.second.kind == Kind::host_tensor && argument.second.has(kFresh);
    };
    return is_wait_only_name(name) || is_release_name(name) ||
           (ast_.grammar == Grammar::cuda &&
            (is_read_back_name(name) || is_upload_name(name) || is_allocation_name(name) ||
             (call.form == CallForm::function && may_be_waiting_macro(name)))) ||
           (ast_.grammar == Grammar::python && std::ranges::any_of(call.arguments, is_fresh));
  }

  /// Whether a `with` around the call says that no gradients are wanted.
  bool is_without_grad(NodeId call) const {
    if (ast_.grammar == Grammar::cuda) return is_behind_guard(call);
    for (NodeId at = ast_[call].parent; at != kNoNode && ast_[at].kind != K::function;
         at = ast_[at].parent) {
      if (ast_[at].kind != K::with_) continue;
      for (NodeId item : children(ast_, at)) {
        if (ast_[item].kind == K::with_item && says_without_grad(ast_.slice(item))) return true;
      }
    }
    return false;
  }

  /// C++: `torch::NoGradGuard guard;` in a block around the call.
  bool is_behind_guard(NodeId call) const {
    constexpr size_t kFarthest = 1 << 14;
    const NodeId function = outline_.functions[outline_.function_of[call]];
    const size_t from = std::max<size_t>(
        ast_[function].first_byte,
        ast_[call].first_byte - std::min<size_t>(ast_[call].first_byte, kFarthest));
    const std::string_view before = ast_.source.substr(from, ast_[call].first_byte - from);
    const size_t guard = before.rfind("NoGradGuard");
    int open = 0;
    for (size_t at = guard; at < before.size() && open >= 0; ++at)
      open += before[at] == '{' ? 1 : before[at] == '}' ? -1 : 0;
    return guard != std::string_view::npos && open >= 0;
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

  /// Notes the name of an argument by position: fuse of Net(args.fuse).
  void hand(NodeId argument) {
    const K kind = ast_[argument].kind;
    const bool named = kind == K::name || kind == K::attribute;
    facts_.handed.push_back(named ? option_hash(ast_[argument].text) : 0);
  }

  void arguments(NodeId id, CallFacts& out) {
    uint32_t position = 0;
    bool any = ast_.grammar != Grammar::python;
    out.handed = static_cast<uint32_t>(facts_.handed.size());
    for (NodeId c : children(ast_, id)) {
      if (ast_[c].role != Role::argument) continue;
      const bool keyword = ast_[c].kind == K::keyword;
      any |= ast_[c].kind == K::star;
      if (keyword) out.keywords |= name_bit(ast_[c].text);
      NodeId value_node = keyword ? ast_.child(c, Role::value) : c;
      std::string name = keyword ? std::string(ast_[c].text) : std::to_string(position++);
      if (value_node == kNoNode) continue;
      if (!keyword && !any) hand(value_node);
      const Value& value = inference_.at(value_node);
      // mask = None; model(x, mask): as good as not given
      const bool none = value.kind == Kind::none && value.certainty == Certainty::proven;
      // C++: what a flag is given
      const bool constant = ast_.grammar == Grammar::cuda && ast_[value_node].kind == K::constant;
      if ((constant || (!any && (none || is_literal(value_node)))) &&
          out.literals.size() < kMostArguments) {
        const std::string_view text = none ? "None" : ast_.slice(value_node);
        out.literals.emplace_back(name_hash(name), literal_hash(text));
      }
      if (value.kind == Kind::unknown && value.dependency == 0) continue;
      if (out.arguments.size() < kMostArguments) out.arguments.emplace_back(std::move(name), value);
    }
    if (!any && position < kAnyArguments) out.positional = static_cast<uint8_t>(position);
  }

  /// env.step(action), and agent.update() beside it or around it.
  void note_play(NodeId callee, uint32_t loop) {
    const NodeId object = ast_.child(callee, Role::object);
    // state, reward, done = env_step(state, action), of JAX's environments
    if (names_.uses_jax() && ast_[callee].kind == K::name &&
        has_word(ast_[callee].text, {"env", "envs"}) && has_word(ast_[callee].text, {"step"}))
      facts_.loops[loop].plays = true;
    if (ast_[callee].kind != K::attribute || object == kNoNode) return;
    const std::string_view name = ast_[callee].text, whose = last_component(ast_.slice(object));
    if ((name == "step" && is_simulator_name(whose)) || sends_step(ast_, callee)) {
      // Each of several processes is sent its own action.
      const bool one_of_several = name == "send" && facts_.loops[loop].parent != kNone;
      if (one_of_several) loop = facts_.loops[loop].parent;
      while (facts_.loops[loop].comprehension && facts_.loops[loop].parent != kNone)
        loop = facts_.loops[loop].parent;
      facts_.loops[loop].plays = true;
    } else if (is_learning_call(whose, name)) {
      for (uint32_t at = loop; at != kNone; at = facts_.loops[at].parent)
        facts_.loops[at].learns = true;
    }
  }

  bool compares_gradients(uint32_t function) {
    const auto [known, added] = compares_.try_emplace(function, false);
    if (added) known->second = steps_.only_looks_at_gradients(function);
    return known->second;
  }

  void note(Evidence found, uint32_t function, uint32_t loop) {
    if (ast_.grammar == Grammar::cuda && is_binding_name(facts_.functions[function].name)) return;
    if (loop == kNone) {
      if (found == Evidence::backward && steps_.hands_to_solver(function)) return;
      if (!compares_gradients(function)) facts_.functions[function].flags |= kStepEvidence;
      return;
    }
    // backward() over the layers, or over what was recorded, is a part of the step that calls it.
    if (found == Evidence::backward && ast_.grammar == Grammar::cuda &&
        is_one_of(lower(snake_case(facts_.functions[function].name)),
                  {"backward", "backprop", "backpropagate", "backpropagation"}))
      return;
    (found == Evidence::step ? facts_.loops[loop].optimizer_step : facts_.loops[loop].backward) =
        true;
    stepping_.insert(loop);
  }

  /// What counts batches behind the model's eval() counts those of a validation, and what counts
  /// steps in a function that goes backward outside of loops unrolls one step of training.
  void leave_out_counters() {
    for (uint32_t loop = 0; loop < facts_.loops.size(); ++loop) {
      LoopFacts& counter = facts_.loops[loop];
      const bool within = (facts_.functions[counter.function].flags & kStepEvidence) != 0;
      if ((counter.validates || within) && !stepping_.contains(loop))
        counter.optimizer_step = false;
    }
  }

  const Ast& ast_;
  const Names& names_;
  const Outline& outline_;
  const Inference& inference_;
  const Guards& guards_;
  Switches& switches_;
  const FileView view_;
  const Options options_;
  FileFacts& facts_;
  std::unordered_set<std::string_view> known_;
  std::unordered_set<std::string_view> classes_;
  GradientNames gradients_;
  StepEvidence steps_;
  Consumers consumers_;
  EvaluatedModels evaluated_;
  References references_;
  ImpliedCalls implied_;
  bool uses_streams_ = false;                    ///< C++: streams of the device
  std::unordered_map<uint32_t, bool> compares_;  ///< functions asked for so far
  std::unordered_set<uint32_t> stepping_;  ///< loops that hold a call of an update or of backward
  std::vector<uint32_t> timed_;            ///< loops that time what the device does
  struct OwnSteps {
    bool forward = false, backward = false, update = false;
  };
  std::vector<OwnSteps> own_steps_;  ///< per function of C++, what it calls outside loops
};

}  // namespace

void collect_calls(const Ast& ast, const Names& names, const Outline& outline,
                   const Inference& inference, const Guards& guards, Switches& switches,
                   FileFacts& facts) {
  EvidenceCollector(ast, names, outline, inference, guards, switches, facts).run();
}

}  // namespace stallscope
