// Code that nothing in the project is seen to call: whether it may run in a step all the same.
#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "base/text.h"
#include "source/index.h"
#include "source/link/purpose.h"
#include "source/names/mentions.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {

/// Whether all calls outside tests that are seen, at least one, treat a parameter as `wanted`.
bool SourceIndex::all_callers(FunctionId function, uint32_t parameter, GivenBy wanted) const {
  bool any = false;
  for (const uint32_t e : graph_->callers(function)) {
    const Edge& edge = graph_->edges()[e];
    if (contexts_->is_test(edge.from)) continue;
    if (given(*edge.call, graph_->function(function), parameter) != wanted) return false;
    any = true;
  }
  return any;
}

/// Whether a parameter that has a default is given by none of those who call the function.
bool SourceIndex::left_out_by_callers(FunctionId function, uint32_t parameter) const {
  const FunctionFacts& f = graph_->function(function);
  return !is_called_from_outside(f) && !f.name.starts_with("__") &&
         all_callers(function, parameter, GivenBy::no);
}

/// forward(x, ret_details=False), whose calls are not seen: whether no call of its file gives an
/// argument of that name, and no other file has the name at all. What is no switch by its name may
/// be given by position.
bool SourceIndex::is_switched_nowhere(size_t file, std::string_view parameter) const {
  if (!starts_with_any(parameter, {"ret_", "return_", "debug_", "output_", "get_", "with_", "use_",
                                   "do_", "log_", "compute_", "need_", "only_", "record_"}))
    return false;
  const uint32_t hash = name_hash(parameter);
  const uint64_t bit = name_bit(parameter);
  for (size_t f = 0; f < files_.size(); ++f) {
    if (f != file && mentions(files_[f]->mentions, hash)) return false;
  }
  return std::ranges::none_of(files_[file]->calls,
                              [&](const CallFacts& call) { return (call.keywords & bit) != 0; });
}

/// update(**kwargs): whether all who are seen to call it, at least one, give by name what is on the
/// host for sure, as `update(loss=loss.item())` does.
bool SourceIndex::is_given_numbers(FunctionId function) const {
  const auto on_host = [&](size_t file, const Value& value) {
    const Kind kind = resolved(file, value, kMaxHops).kind;
    return kind == Kind::number || kind == Kind::text || kind == Kind::none ||
           kind == Kind::numpy || kind == Kind::host_tensor;
  };
  bool any = false;
  for (const uint32_t e : graph_->callers(function)) {
    const Edge& edge = graph_->edges()[e];
    const CallFacts& call = *edge.call;
    if (contexts_->is_test(edge.from)) continue;
    if (call.form == CallForm::reference || call.positional != 0) return false;
    const size_t file = graph_->file_index(edge.from);
    if (!std::ranges::all_of(call.arguments,
                             [&](const auto& given) { return on_host(file, given.second); }) ||
        call.arguments.size() < static_cast<size_t>(std::popcount(call.keywords)))
      return false;
    any = true;
  }
  return any;
}

/// Whether a call gives what `option` wants, itself or by what it hands on.
bool SourceIndex::is_asked_by(const Edge& edge, const Option& option, unsigned hops) const {
  if (const auto asks = asks_for(*edge.call, graph_->function(edge.to), option)) return *asks;
  return hops == 0 || !hands_on_nothing(edge, option, hops - 1);
}

/// C++: whether no call of that name, of at least one, gives what `option` wants. Whose function a
/// call means is not always seen, nor what stands in files that are not read.
bool SourceIndex::is_asked_by_none(FunctionId function, const Option& option) const {
  const FunctionFacts& f = graph_->function(function);
  if (is_called_from_outside(f)) return false;
  bool any = false;
  for (const auto& file : files_) {
    if (!file->is_compiled() || is_test_file(*file)) continue;
    if (file->skipped && mentions(file->used_words, name_hash(f.name))) return false;
    for (const CallFacts& call : file->calls) {
      if (last_component(call.name) != f.name) continue;
      if (asks_for(call, f, option).value_or(true)) return false;
      any = true;
    }
  }
  return any;
}

/// Whether nobody who is seen to call the function, at least one, gives what `option` wants.
bool SourceIndex::is_never_asked(size_t file, const Option& option, unsigned hops) const {
  const FunctionId function = graph_->id_of(file, option.function);
  const FunctionFacts& f = graph_->function(function);
  if (f.parameters[option.parameter].starts_with("**")) return is_given_numbers(function);
  if (files_[file]->is_compiled()) return is_asked_by_none(function, option);
  if ((f.flags & kForward) != 0) return is_switched_nowhere(file, f.parameters[option.parameter]);
  if (is_called_from_outside(f) || (f.name.starts_with("__") && f.name != "__init__")) return false;
  bool any = false;
  for (const uint32_t e : graph_->callers(function)) {
    const Edge& edge = graph_->edges()[e];
    if (contexts_->is_test(edge.from)) continue;
    if (is_asked_by(edge, option, hops)) return false;
    // super().__init__() makes an object of another class.
    any |= f.name != "__init__" || edge.call->form == CallForm::function;
  }
  return any;
}

/// update_one(p, p.grad): whether a loop over parameters calls a function, outside of tests.
bool SourceIndex::is_called_for_each_parameter(FunctionId function) const {
  return std::ranges::any_of(graph_->callers(function), [&](uint32_t e) {
    const Edge& edge = graph_->edges()[e];
    const std::vector<LoopFacts>& loops = graph_->file(edge.from).loops;
    if (contexts_->is_test(edge.from)) return false;
    for (uint32_t loop = edge.loop; loop != kNone; loop = loops[loop].parent) {
      if (loops[loop].over_parameters && !(loops[loop].over_groups && loop == edge.loop))
        return true;
    }
    return false;
  });
}

/// verify(x), which all callers call only under `if verify:` of an argument that nobody gives. What
/// does not check, show or keep others may ask a library for: jacobians=None.
bool SourceIndex::is_called_for_nobody(FunctionId function) const {
  const FunctionFacts& f = graph_->function(function);
  if (is_called_from_outside(f) || f.name.starts_with("__")) return false;
  bool any = false;
  for (const uint32_t e : graph_->callers(function)) {
    const Edge& edge = graph_->edges()[e];
    if (contexts_->is_test(edge.from)) continue;
    const Option& option = edge.call->option;
    const FunctionFacts* asked =
        option.parameter == kNone
            ? nullptr
            : &graph_->files()[graph_->file_index(edge.from)]->functions[option.function];
    if (!asked ||
        !has_word(lower(snake_case(asked->parameters[option.parameter])),
                  {"verify", "check", "debug", "validate", "verbose", "log", "plot", "viz",
                   "visualize", "show", "print", "save", "dump", "profile", "sanity", "test"}) ||
        !is_never_asked(graph_->file_index(edge.from), option, kMaxHops))
      return false;
    any = true;
  }
  return any;
}

/// psnr(x, y, mask=None): mse(x, y, mask) gets a mask where psnr() is given one, which nobody does.
bool SourceIndex::hands_on_nothing(const Edge& edge, const Option& option, unsigned hops) const {
  const size_t file = graph_->file_index(edge.from);
  const Value given = graph_->argument(edge, option.parameter);
  const std::vector<Dependency>& known = files_[file]->dependencies;
  if (given.dependency == 0 || given.dependency > known.size()) return false;
  const Dependency& on = known[given.dependency - 1];
  if (on.kind != DependencyKind::parameter || graph_->id_of(file, on.function) != edge.from)
    return false;
  const FunctionFacts& caller = graph_->function(edge.from);
  const FunctionFacts& called = graph_->function(edge.to);
  return on.parameter < caller.parameters.size() &&
         caller.parameters[on.parameter] == called.parameters[option.parameter] &&
         position_of(caller, on.parameter) >= caller.required &&
         is_never_asked(file, {on.function, on.parameter, option.literal}, hops);
}

/// Whether a parameter that has a default is given by all who call the function, and never as what
/// the device has to compute first.
bool SourceIndex::given_by_callers(FunctionId function, uint32_t parameter) const {
  return all_callers(function, parameter, GivenBy::yes) &&
         !of_parameter(function, parameter, kMaxHops).is_device();
}

/// Whether the class or the name of a function that nobody is seen to call says that a step runs
/// it: a method of a module, ppo_loss(), _unpack_minibatch().
bool SourceIndex::says_training(size_t file, const FunctionFacts& function) const {
  const auto is_module = [&](const ClassFacts& c) {
    return c.name == function.class_name && c.is_module;
  };
  if (!function.class_name.empty() && std::ranges::any_of(files_[file]->classes, is_module))
    return true;
  const std::string name = lower(snake_case(function.name));
  return has_word(name, {"loss", "step", "train", "training", "update", "forward", "backward",
                         "grad", "grads", "gradients", "optimize", "batch", "minibatch", "accuracy",
                         "log_prob", "probs"}) ||
         has_word(lower(snake_case(function.class_name)),
                  {"loss", "criterion", "trainer", "layer", "head", "optimizer", "module"});
}

bool SourceIndex::library_allows(size_t file, FunctionId function,
                                 const CompiledClause& clause) const {
  const FunctionFacts& facts = graph_->function(function);
  const std::string& path = files_[file]->path;
  if ((clause.unless & kGuardLibrary) != 0 ||
      ((clause.unless & kGuardNoUse) != 0 && !says_training(file, facts)))
    return false;
  // A C++ program is seen as a whole: what its step does not reach does not run in it.
  if (files_[file]->language != "python" && !clause.wants(Context::library)) return false;
  if (!clause.wants(Context::step) && !clause.wants(Context::forward) &&
      !clause.wants(Context::library))
    return false;
  if (dead_code_->has(function) || deploys(*files_[file]) || is_evaluation_script(path))
    return false;
  // synchronize() is for its callers to answer for.
  if (is_wait_name(facts.name) || is_report_name(facts.name) || is_host_copy_name(facts.name) ||
      is_setter_name(facts.name))
    return false;
  // make_shard_fns() hands out functions for setting up, make_losses() the losses; a constructor
  // the one that every step averages its gradients with.
  if ((facts.flags & kNested) != 0 && facts.parent != kNone && !averages_gradients(facts.name) &&
      !has_word(lower(snake_case(facts.name)), {"loss", "losses"}) &&
      (files_[file]->functions[facts.parent].flags & (kInitFunction | kCheckpointFunction)) != 0)
    return false;
  // A loader's module may still be where the trainer's batches are moved.
  const bool follows = (facts.flags & kFollowsDevice) != 0 && is_data_path(path);
  return !is_host_side_path(path) || follows ||
         (is_beside_path(path) ? is_batch_mover(path, facts.name) : moves_data(facts.name));
}

}  // namespace stallscope
