#include "source/names/outline.h"

#include <algorithm>

#include "source/names/roles.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// "Layer::run" of "Layer<T>::run", "dispatch" of the specialisation "dispatch<torch::kCUDA>".
std::string without_template_arguments(std::string_view name) {
  std::string out;
  unsigned depth = 0;
  for (char c : name) {
    if (c == '<' && !out.ends_with("operator")) {
      ++depth;
    } else if (c == '>' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      out += c;
    }
  }
  return depth == 0 ? out : std::string(name);
}

class Builder {
 public:
  Builder(const Ast& ast, const Names& names, FileFacts& facts)
      : ast_(ast), names_(names), facts_(facts) {}

  Outline run() {
    out_.function_of.assign(ast_.size(), 0);
    out_.loop_of.assign(ast_.size(), kNone);
    FunctionFacts module;
    module.name = module.qualified = "<module>";
    module.flags = kModuleLevel;
    module.first_line = 1;
    module.last_line = ast_[0].last_line;
    facts_.functions.push_back(module);
    out_.functions.push_back(0);
    out_.class_of.push_back(kNone);
    struct Frame {
      NodeId end;
      uint32_t function, loop, klass;
    };
    std::vector<Frame> stack = {{ast_[0].end, 0, kNone, kNone}};
    for (NodeId id = 1; id < ast_.size(); ++id) {
      while (id >= stack.back().end) stack.pop_back();
      Frame at = stack.back();
      out_.function_of[id] = at.function;
      out_.loop_of[id] = at.loop;
      const Node& node = ast_[id];
      if (node.kind == K::attribute) note_device(id, at.function);
      if (node.kind == K::class_ && defines_class(id)) {
        stack.push_back({node.end, at.function, kNone, add_class(id)});
      } else if (node.kind == K::function) {
        // Directly in a class's body: functions and loops push frames without a class.
        uint32_t function = add_function(id, at.function, at.klass);
        stack.push_back({node.end, function, kNone, kNone});
      } else if (is_loop_body(id)) {
        uint32_t loop = loop_index(node.parent, at.function, at.loop);
        out_.loop_of[id] = loop;
        stack.push_back({node.end, at.function, loop, kNone});
      }
    }
    for (FunctionFacts& f : facts_.functions) {
      // MetropolisSampler of a program of JAX walks a chain; of others it orders a dataset.
      const bool walks =
          f.class_name.ends_with("Sampler") && names_.uses_jax() && !names_.uses("torch");
      if (((is_data_class(f.class_name) && !walks) || extends_dataset(f.class_name)) &&
          (f.flags & (kForward | kFollowsDevice)) == 0)
        f.flags |= kInitFunction;
    }
    return std::move(out_);
  }

 private:
  /// C++: `class Tensor;` declares it, and headers do so by the hundred.
  bool defines_class(NodeId id) const {
    if (ast_.grammar == Grammar::python) return true;
    for (NodeId part : children(ast_, id)) {
      if (ast_[part].kind == K::block) return true;
    }
    return false;
  }

  bool is_loop_body(NodeId id) const {
    const Node& node = ast_[id];
    const Node& parent = ast_[node.parent];
    if (parent.kind == K::for_) return node.role == Role::body;
    // What a while loop tests runs as often as its body.
    if (parent.kind == K::while_) return node.role == Role::body || node.role == Role::condition;
    if (parent.kind == K::comprehension) return node.role == Role::body;
    return false;
  }

  uint32_t loop_index(NodeId id, uint32_t function, uint32_t parent) {
    auto found = std::ranges::find(out_.loops, id);
    if (found != out_.loops.end()) return static_cast<uint32_t>(found - out_.loops.begin());
    LoopFacts loop;
    loop.function = function;
    loop.parent = parent;
    loop.first_line = ast_[id].first_line;
    loop.last_line = ast_[id].last_line;
    loop.comprehension = ast_[id].kind == K::comprehension;
    for (const Role role : {Role::left, Role::right}) {
      const NodeId part = ast_[id].kind == K::for_ ? ast_.child(id, role) : kNoNode;
      loop.seldom |= part != kNoNode && contains_any(ast_.slice(part), {"epoch", "eval"});
      loop.accumulates |= part != kNoNode && contains_any(ast_.slice(part), {"micro", "accum"});
      loop.replays |= part != kNoNode && counts_replays(ast_.slice(part));
      loop.repeats |= part != kNoNode && (counts_updates(ast_.slice(part)) ||
                                          (names_.uses_jax() && counts_passes(ast_.slice(part))));
    }
    if (ast_.grammar == Grammar::cuda) loop.seldom = contains_any(head_of(id), {"epoch"});
    // A program that solves or boosts has no optimizer: its loop says what it counts.
    if (ast_.grammar == Grammar::cuda && (counts_iterations(id) || counts_batches(id, loop)))
      loop.optimizer_step = true;
    loop.over_layers = contains_any(head_of(id), {"layer"});
    loop.over_devices = ast_.grammar == Grammar::cuda &&
                        contains_any(head_of(id), {"devices", "gpus", "ngpu", "num_gpu", "ndev"});
    loop.over_parameters = runs_over_parameters(ast_, id);
    loop.over_groups = runs_over_groups(ast_, id);
    NodeId over = ast_.child(id, Role::right);
    loop.over_optimizers = over != kNoNode && names_optimizers(ast_.slice(over));
    if (over != kNoNode && ast_[id].kind == K::for_) {
      const std::string_view text = ast_.slice(over).substr(0, 80);
      const bool batches = is_loader_name(text);
      loop.over_loader = batches && !text.starts_with("range(");
      loop.over_batches = batches || (!loop.seldom && contains_any(text, {"pbar", "collector"}));
    }
    // while (loader(batch))
    const NodeId condition = ast_.grammar == Grammar::cuda && ast_[id].kind == K::while_
                                 ? ast_.child(id, Role::condition)
                                 : kNoNode;
    if (condition != kNoNode)
      loop.over_batches = is_loader_name(ast_.slice(condition).substr(0, 80));
    facts_.loops.push_back(loop);
    out_.loops.push_back(id);
    return static_cast<uint32_t>(out_.loops.size() - 1);
  }

  /// for (int iter = 0; iter < max_iterations; ++iter)
  bool counts_iterations(NodeId loop) const {
    const std::string_view head = head_of(loop);
    return ast_[loop].kind != K::comprehension && head.size() < 200 && names_iterations(head);
  }

  /// for (int b = 0; b < num_batches; ++b), for (int i = 0; i < n; i += batch_size): in train(), or
  /// in a loop over epochs
  bool counts_batches(NodeId id, const LoopFacts& loop) const {
    const bool in_epoch = loop.parent != kNone && facts_.loops[loop.parent].seldom;
    return (in_epoch || trains_by_name(facts_.functions[loop.function].name)) &&
           ast_[id].kind != K::comprehension && names_batches(head_of(id));
  }

  /// `for (int epoch = 0; epoch < n; ++epoch)`, `for epoch in range(n):`, without its body.
  std::string_view head_of(NodeId loop) const {
    const NodeId body = ast_.child(loop, Role::body);
    if (body == kNoNode) return {};
    const uint32_t first = ast_[loop].first_byte;
    return ast_.source.substr(first, ast_[body].first_byte - first);
  }

  uint32_t add_class(NodeId id) {
    ClassFacts out;
    out.name = ast_[id].text;
    for (NodeId base : children(ast_, id)) {
      if (ast_[base].role != Role::base && ast_.grammar == Grammar::python) continue;
      // class Buffer(Base[T])
      const bool subscript = ast_.grammar == Grammar::python && ast_[base].kind == K::subscript;
      const NodeId generic = subscript ? ast_.child(base, Role::object) : kNoNode;
      const Dotted& path = names_.resolve(generic == kNoNode ? base : generic);
      if (path.path.empty() && ast_.grammar == Grammar::cuda && ast_[base].kind == K::type)
        out.bases.push_back(without_template_arguments(ast_[base].text));  // Base<T>
      if (path.path.empty()) continue;
      out.is_module |= is_module_class(path.path);
      out.bases.push_back(path.path);
    }
    for (const ClassFacts& known : facts_.classes) {
      out.is_module |=
          known.is_module && std::ranges::find(out.bases, known.name) != out.bases.end();
    }
    if (ast_.grammar == Grammar::cuda) add_fields(id, out);
    facts_.classes.push_back(std::move(out));
    out_.classes.push_back(id);
    return static_cast<uint32_t>(out_.classes.size() - 1);
  }

  /// `Matrix weights_;` in the body of a class; of a type that may be the program's own.
  void add_fields(NodeId klass, ClassFacts& out) const {
    const NodeId body = ast_.child(klass, Role::body);
    if (body == kNoNode) return;
    for (const NodeId declaration : children(ast_, body)) {
      const NodeId name =
          ast_[declaration].kind == K::assign ? ast_.child(declaration, Role::left) : kNoNode;
      const std::string_view type = ast_[declaration].text;
      if (name == kNoNode || ast_[name].kind != K::name || type.empty() ||
          is_one_of(type, {"int", "float", "double", "bool", "char", "size_t", "auto",
                           "std::string", "int64_t", "uint32_t", "unsigned"}))
        continue;
      out.fields.emplace_back(ast_[name].text, type);
    }
  }

  /// range(updates_per_step), range(config.gradient_steps), range(self.utd_ratio): of agents, which
  /// learn several times from what they have just done.
  static bool counts_updates(std::string_view head) {
    return counts_replays(head) ||
           (head.starts_with("range(") && contains_any(head, {"num_updates", "n_updates"}));
  }

  /// range(gradient_steps): updates with what was just collected.
  static bool counts_replays(std::string_view head) {
    return head.starts_with("range(") &&
           contains_any(head, {"gradient_step", "grad_step", "utd", "updates_per",
                               "train_steps_per", "updates_to_data"});
  }

  /// range(cfg.ppo.epochs), range(args.update_epochs): passes over what was just played, of JAX's
  /// programs, which play on the device, too.
  static bool counts_passes(std::string_view head) {
    return head.starts_with("range(") &&
           contains_any(head, {"ppo.epochs", "ppo_epochs", "ppo.num_epochs", "ppo.update_epochs",
                               "update_epochs", "epochs_per_update"});
  }

  /// optimizers.values(), range(len(self.optims)); not range(config.optim.total_steps).
  static bool names_optimizers(std::string_view text) {
    const bool counts =
        contains_any(text, {"step", "iter", "epoch"}) ||
        (contains_any(text, {"range("}) && !contains_any(text, {"optims", "optimizers"}));
    return contains_any(text, {"optim"}) && !counts;
  }

  uint32_t add_function(NodeId id, uint32_t parent, uint32_t klass) {
    FunctionFacts out;
    const Node& node = ast_[id];
    out.name = node.text;
    if (ast_.grammar == Grammar::cuda) {
      out.name = without_template_arguments(out.name);
      // void Net :: train()
      for (const std::string_view spaced : {" ::", ":: "}) {
        for (size_t at = out.name.find(spaced); at != std::string::npos; at = out.name.find(spaced))
          out.name.replace(at, spaced.size(), "::");
      }
      // cudnnStatus_t CUDNNWINAPI create(): the macro is read as a part of the name.
      const size_t space = out.name.rfind(' ');
      if (space != std::string::npos && out.name.find("operator") == std::string::npos)
        out.name.erase(0, space + 1);
      size_t colon = out.name.rfind("::");
      if (colon != std::string::npos) {
        out.class_name = out.name.substr(0, colon);
        const size_t scope = out.class_name.rfind("::");
        if (scope != std::string::npos) out.class_name.erase(0, scope + 2);
        out.name = out.name.substr(colon + 2);
      }
      if (is_operator_name(out.name) && !is_device_function(ast_, id)) out.flags |= kForward;
    }
    if (klass != kNone) out.class_name = facts_.classes[klass].name;
    if (klass != kNone && is_autograd_function(klass) &&
        (out.name == "forward" || out.name == "backward"))
      out.flags |= kForward;
    // Constructors and destructors of C++.
    if (ast_.grammar == Grammar::cuda && out.makes_or_ends()) out.flags |= kInitFunction;
    out.qualified = out.class_name.empty() ? out.name : out.class_name + "." + out.name;
    // C++ has no functions inside functions but lambdas that are declared: elsewhere a brace was
    // lost in what could not be read.
    if (parent != 0 && (ast_.grammar == Grammar::python || node.role == Role::value)) {
      out.parent = parent;
      out.qualified = facts_.functions[parent].qualified + "." + out.name;
      out.flags |= kNested;
      // hook() inside of profile_usage(): a part of what is tried there
      if (ast_.grammar == Grammar::python)
        out.flags |= facts_.functions[parent].flags & kTestFunction;
    }
    out.first_line = node.first_line;
    out.last_line = node.last_line;
    NodeId parameters = ast_.child(id, Role::parameters);
    if (parameters != kNoNode) {
      for (NodeId p : children(ast_, parameters)) out.parameters.emplace_back(ast_[p].text);
      count_parameters(parameters, out);
    }
    out.flags |= decorator_flags(id);
    bool of_module = klass != kNone && facts_.classes[klass].is_module;
    // A loss may be any object that is called.
    of_module |= contains_any(out.class_name, {"lossfn", "lossfunction", "criterion"}) ||
                 out.class_name.ends_with("Loss");
    out.flags |= role_flags(snake_case(out.name), of_module, !out.class_name.empty());
    if (!out.class_name.empty() && judges_actions(out.name, out.parameters))
      out.flags &= ~static_cast<uint32_t>(kEvalFunction | kInferenceFunction);
    // A lambda runs where its function wants it: run(), setup() or load() there are no program's.
    if ((out.flags & kNested) != 0 && ast_.grammar == Grammar::cuda)
      out.flags &=
          ~static_cast<uint32_t>(kInitFunction | kCheckpointFunction | kMainFunction | kWeakRole);
    // in_test_set: what is asked of an object does not test.
    if ((out.flags & kProperty) != 0)
      out.flags &= ~static_cast<uint32_t>(kEvalFunction | kTestFunction | kInitFunction);
    // C++ uploads to a device, Python to a hub.
    if (ast_.grammar == Grammar::cuda && contains_any(out.name, {"upload"}))
      out.flags &= ~static_cast<uint32_t>(kCheckpointFunction);
    if (is_timing_class(out.class_name) || is_test_macro(out.name) || runs_profiler(out.name))
      out.flags |= kTestFunction;
    // def test(): without anything to test, it tries what the file defines.
    if (out.class_name.empty() && out.parameters.empty() && is_trial_name(out.name))
      out.flags |= kTestFunction;
    if (is_evaluation_class(out.class_name) && (out.flags & kForward) == 0)
      out.flags = (out.flags | kEvalFunction) & ~static_cast<uint32_t>(kWeakRole);
    if (contains_any(out.class_name, {"postprocess"}))
      out.flags = (out.flags | kInferenceFunction) & ~static_cast<uint32_t>(kForward);
    if (is_solver_class(out.class_name) && contains_any(out.name, {"sample"}))
      out.flags |= kEvalFunction | kInferenceFunction;
    if (is_sampler_class(out.class_name))
      out.flags =
          (out.flags | kEvalFunction | kInferenceFunction) & ~static_cast<uint32_t>(kWeakRole);
    // def predict(x) -> np.ndarray: whoever calls it wants it on the host.
    const NodeId returns = ast_.child(id, Role::type);
    if (returns != kNoNode && (out.flags & kForward) == 0 &&
        ast_.slice(returns).ends_with("ndarray"))
      out.flags |= kInferenceFunction;
    // A forward pass that gives NumPy's arrays has no gradient.
    if (returns != kNoNode && (out.flags & kForward) != 0 &&
        contains_any(ast_.slice(returns), {"np.ndarray"}) &&
        !contains_any(ast_.slice(returns), {"jnp.", "tensor"}))
      out.flags = (out.flags | kInferenceFunction) & ~static_cast<uint32_t>(kForward | kWeakRole);
    // Metrics of what was sampled from the model: once an evaluation.
    if (contains_any(out.class_name, {"metric"}) && contains_any(out.class_name, {"sampling"}))
      out.flags = (out.flags | kEvalFunction | kInferenceFunction) &
                  ~static_cast<uint32_t>(kForward | kWeakRole);
    // A pipeline of diffusion models that is called without gradients samples.
    if (out.name == "__call__" && (out.flags & kWithoutGrad) != 0 &&
        contains_any(out.class_name, {"pipeline"}))
      out.flags = (out.flags | kEvalFunction | kInferenceFunction) &
                  ~static_cast<uint32_t>(kForward | kWeakRole);
    // A model that is sampled without gradients.
    if (!out.class_name.empty() && (out.flags & kWithoutGrad) != 0 &&
        is_one_of(out.name, {"sample", "_sample"}))
      out.flags |= kInferenceFunction;
    if (contains_any(out.class_name, {"stoppingcriteria", "logitsprocessor"}))
      out.flags |= kInferenceFunction;
    facts_.functions.push_back(std::move(out));
    out_.functions.push_back(id);
    out_.class_of.push_back(klass);
    return static_cast<uint32_t>(out_.functions.size() - 1);
  }

  /// Whether an identifier stands in a text.
  static bool has_word_of(std::string_view text, std::string_view name) {
    const size_t at = text.find(name);
    return at != std::string_view::npos && is_whole_identifier(text, at, name.size());
  }

  /// How many arguments a call gives, beside self.
  void count_parameters(NodeId parameters, FunctionFacts& out) const {
    unsigned required = 0, accepted = 0;
    bool any = false;
    for (NodeId p : children(ast_, parameters)) {
      const std::string_view name = ast_[p].text;
      if (ast_.grammar == Grammar::cuda) {
        if (ast_[p].kind == K::parameter && ast_.slice(p) == "void") continue;
        any |= ast_[p].kind != K::parameter;  // Args&&... args
      } else {
        if (accepted == 0 && required == 0 && (name == "self" || name == "cls")) continue;
        any |= name.starts_with('*') || name.empty();
      }
      accepted += 1;
      required += any || ast_.child(p, Role::value) != kNoNode ? 0 : 1;
    }
    // Matrix(const Matrix& other), Matrix(Matrix&& other)
    const std::string_view first = ast_.grammar == Grammar::cuda && accepted == 1
                                       ? ast_.slice(parameters)
                                       : std::string_view();
    out.copies = out.name == out.class_name && first.find('&') != std::string_view::npos &&
                 has_word_of(first, out.name);
    out.required = static_cast<uint8_t>(std::min<unsigned>(required, kAnyArguments - 1));
    if (!any && accepted < kAnyArguments) out.accepted = static_cast<uint8_t>(accepted);
  }

  /// x.device in a function that is given x.
  void note_device(NodeId id, uint32_t function) {
    if (ast_[id].text != "device") return;
    const NodeId object = ast_.child(id, Role::object);
    FunctionFacts& f = facts_.functions[function];
    if (object != kNoNode && ast_[object].kind == K::name && ast_[object].text != "self" &&
        std::ranges::find(f.parameters, ast_[object].text) != f.parameters.end())
      f.flags |= kFollowsDevice;
  }

  /// class Bindings(Dataset)
  bool extends_dataset(std::string_view name) const {
    return !name.empty() && std::ranges::any_of(facts_.classes, [&](const ClassFacts& c) {
      return c.name == name && std::ranges::any_of(c.bases, [](const std::string& base) {
               return last_component(base).ends_with("Dataset");
             });
    });
  }

  /// Whether a class is an operation of its own: torch.autograd.Function.
  bool is_autograd_function(uint32_t klass) const {
    if (ast_.grammar == Grammar::cuda) {
      const std::string_view head = ast_.slice(out_.classes[klass]).substr(0, 160);
      const std::string_view bases = head.substr(0, head.find('{'));
      return bases.find("autograd::Function") != std::string_view::npos ||
             bases.find("public Function<") != std::string_view::npos;
    }
    return std::ranges::any_of(facts_.classes[klass].bases, [](const std::string& base) {
      return last_component(base) == "Function" || base.ends_with("autograd.function.Function");
    });
  }

  uint32_t decorator_flags(NodeId id) const {
    uint32_t flags = 0;
    NodeId parent = ast_[id].parent;
    if (parent == kNoNode || ast_[parent].kind != K::other) return 0;
    for (NodeId d : children(ast_, parent)) {
      if (ast_[d].kind != K::decorator) continue;
      std::string_view text = ast_.slice(d);
      if (contains_any(text, {"jit", "torch.compile", "pmap", "jax.checkpoint", "custom_jvp",
                              "custom_vjp"}) &&
          !contains_any(text, {"numba", "njit", "jit.unused", "jit.ignore", "jit.export"})) {
        flags |= kJitCompiled;
      }
      if (contains_any(text, {"lru_cache", "cached_property", "functools.cache", "@cache", "@lazy",
                              "memoize", "tensor_cache", "cachetools", "cached_method"})) {
        flags |= kCachedFunction;
      }
      if (text == "@property") flags |= kProperty;
      // @trainer.on(Events.ITERATION_COMPLETED) of Ignite's
      if (contains_any(text, {"iteration_completed", "iteration_started"}) &&
          !contains_any(text, {"every", "once", "filter", "eval", "valid", "test"}))
        flags |= kHook;
      if (says_without_grad(text)) flags |= kWithoutGrad;
      // A metric's update() runs for each batch of training too.
      if (contains_any(text, {"inference_mode"}) && ast_[id].text != "update")
        flags |= kEvalFunction | kInferenceFunction;
      if (!contains_any(text, {"staticmethod", "classmethod", "property", "torch.", "no_grad",
                               "override", "jit", "typecheck", "abstractmethod"}))
        flags |= kDecorated;
    }
    return flags;
  }

  const Ast& ast_;
  const Names& names_;
  FileFacts& facts_;
  Outline out_;
};

}  // namespace

Outline outline_of(const Ast& ast, const Names& names, FileFacts& facts) {
  return Builder(ast, names, facts).run();
}

}  // namespace stallscope
