#include "source/names/roles.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "source/facts/facts.h"
#include "source/names/names.h"
#include "source/syntax/words.h"

namespace stallscope {

bool is_module_class(std::string_view path) {
  std::string_view name = last_component(path);
  return is_one_of(name, {"Module", "LightningModule", "PreTrainedModel", "ModuleList",
                          "Sequential", "FairseqModel", "BaseModel", "BaseModule", "ModelMixin",
                          "FairseqCriterion", "_Loss", "Model"}) ||
         name.ends_with("PreTrainedModel") || name.ends_with("Module") || path == "torch.nn.Module";
}

namespace {

/// setup_linear_problem(x, y), draw_gaussian(heatmap): what forward passes call for their data,
/// where setup_optimizer() and draw_boxes() are for before and beside them.
bool sets_up_data(const std::string& text) {
  if (starts_with_any(text, {"draw_"}))
    return has_word(text, {"gaussian", "noise", "sample", "samples", "heatmap", "umich", "msra"});
  return starts_with_any(text, {"setup_", "_setup_", "_init_"}) &&
         !has_word(text,
                   {"model",     "models",     "optimizer",   "optimizers", "optim",  "logger",
                    "logging",   "dist",       "distributed", "config",     "data",   "dataset",
                    "loader",    "env",        "device",      "seed",       "args",   "weights",
                    "params",    "parameters", "module",      "modules",    "layers", "scheduler",
                    "ddp",       "trainer",    "training",    "train",      "eval",   "hooks",
                    "callbacks", "checkpoint", "buffers",     "processes"});
}

/// validate_rays(rays), get_valid_mask(x): checks and selects, evaluates nothing.
bool is_about_validity(const std::string& text) {
  return has_word(text, {"valid", "validate"}) &&
         has_word(text, {"mask",    "masks",  "index",  "indices",   "inds",    "idx",    "pixels",
                         "points",  "rays",   "len",    "lengths",   "length",  "region", "cross",
                         "input",   "inputs", "shape",  "shapes",    "dims",    "dim",    "tensor",
                         "tensors", "args",   "policy", "arguments", "dtype",   "device", "range",
                         "tokens",  "empty",  "finite", "positions", "corners", "boxes",  "box"});
}

/// fused_bias_act(), norm_act(): activates, does not act.
bool is_about_activation(const std::string& text) {
  return has_word(text, {"act"}) &&
         has_word(text, {"bias", "fused", "norm", "layer", "gate", "gated", "mul", "quant", "conv",
                         "linear", "relu", "gelu", "silu", "fn", "func", "backward"});
}

/// "sample_mean_var" of sample_mean_var_val(): it speaks of a value there, of no evaluation.
std::string without_value(std::string text) {
  if (text.ends_with("_val") && has_word(text, {"mean", "var", "std", "max", "min", "abs", "key",
                                                "q", "prob", "logit", "pixel"}))
    text.resize(text.size() - 4);
  return text;
}

}  // namespace

uint32_t role_flags(std::string_view name, bool of_module, bool method) {
  const std::string text = without_value(lower(name));
  uint32_t flags = 0;
  if (of_module && (text == "forward" || text == "__call__")) flags |= kForward;
  if (method && text == "forward") flags |= kForward;
  if (starts_with_any(text, {"__init__",
                             "setup",
                             "layersetup",
                             "layer_setup",
                             "layer_set_up",
                             "build",
                             "create",
                             "make_",
                             "init",
                             "_init",
                             "reset_parameters",
                             "configure",
                             "_build",
                             "_setup",
                             "load_data",
                             "prepare_data",
                             "get_args",
                             "add_arg",
                             "add_opt",
                             "add_parser",
                             "add_model",
                             "add_config",
                             "add_hook",
                             "add_callback",
                             "add_module",
                             "add_special",
                             "add_param",
                             "add_cli",
                             "add_train",
                             "add_common",
                             "from_pretrained",
                             "__repr__",
                             "__str__",
                             "extra_repr",
                             "__len__",
                             "__setstate__",
                             "__getstate__",
                             "__getitem__",
                             "__del__",
                             "register_",
                             "_register",
                             "convert",
                             "_convert",
                             "plot",
                             "_plot",
                             "draw_",
                             "visuali",
                             "render",
                             "show_",
                             "download",
                             "collate",
                             "_init_weights",
                             "__post_init__",
                             "__attrs_post_init__",
                             "__enter__",
                             "__exit__",
                             "compile",
                             "_compile",
                             "prune_",
                             "_prune_",
                             "densify",
                             "on_train_start",
                             "on_train_begin",
                             "on_train_end",
                             "on_fit",
                             "on_epoch",
                             "on_train_epoch",
                             "before_train_epoch",
                             "after_train_epoch",
                             "before_epoch",
                             "after_epoch",
                             "before_run",
                             "after_run",
                             "log_image",
                             "enable",
                             "disable",
                             "jit_",
                             "synchronize_between",
                             "print_",
                             "log_video",
                             "log_histogram",
                             "save_image"}) ||
      (starts_with_any(text,
                       {"prepare_model", "prepare_optim", "prepare_data", "_prepare_model"}) ||
       text == "prepare")) {
    flags |= kInitFunction;
  }
  // set_device(id): before anything is launched, though it may make handles anew
  if (is_one_of(text, {"set_device", "select_device"})) flags |= kInitFunction;
  // parse_args(), unlike parse_batch(), which takes apart what each step is given.
  if (text.starts_with("parse_") &&
      has_word(text, {"args", "arg", "arguments", "argv", "config", "cfg", "conf", "opt", "opts",
                      "options", "option", "command", "cmd", "yaml", "params"}))
    flags |= kInitFunction;
  if (!method && text.starts_with("preprocess")) flags |= kInitFunction;
  // xavierInit(n, m) of a matrix
  if (has_word(text, {"xavier", "kaiming", "glorot"})) flags |= kInitFunction;
  // capture_cuda_graph(): once for each shape
  if (text.starts_with("capture_") && contains_any(text, {"graph"})) flags |= kInitFunction;
  // get_update_fn(): hands out what the step calls.
  if (text.starts_with("get_") && (text.ends_with("_fn") || text.ends_with("_func")))
    flags |= kInitFunction;
  if (text == "get_batch" || text == "__iter__") flags &= ~static_cast<uint32_t>(kInitFunction);
  // build_model_inputs(), make_batch(): what every step or forward pass makes anew.
  if (starts_with_any(text, {"build", "_build", "make_", "create", "prepare", "_prepare"}) &&
      has_word(text, {"input", "inputs", "batch", "batches", "targets", "labels", "queries"}))
    flags &= ~static_cast<uint32_t>(kInitFunction);
  if (has_word(text, {"eval",       "evaluate",   "evaluation",  "valid",
                      "validate",   "validation", "verify",      "verification",
                      "comparison", "val",        "test",        "testing",
                      "predict",    "prediction", "inference",   "infer",
                      "generate",   "sample",     "sampling",    "demo",
                      "translate",  "decode",     "beam",        "search",
                      "score",      "visualize",  "estimate",    "benchmark",
                      "bench",      "chat",       "complete",    "rollout",
                      "act",        "play",       "export",      "compute_metrics",
                      "quantize",   "calibrate",  "calibration", "summarize",
                      "get_action", "embed",      "encode_text", "tokenize"}) ||
      text.starts_with("on_validation") || text.starts_with("on_test")) {
    flags |= kEvalFunction;
  }
  // get_rmse(), compute_mae(): of a test set; losses say that they are
  if (has_word(text, {"rmse", "mae"}) && starts_with_any(text, {"get_", "compute_", "calc"}))
    flags |= kEvalFunction;
  if (is_about_validity(text) || is_about_activation(text))
    flags &= ~static_cast<uint32_t>(kEvalFunction);
  if (has_word(text, {"predict",    "prediction", "inference",   "infer",     "generate",
                      "demo",       "translate",  "beam",        "visualize", "chat",
                      "export",     "benchmark",  "bench",       "summarize", "rollout",
                      "get_action", "play",       "tokenize",    "viewer",    "serve",
                      "sampling",   "calibrate",  "calibration", "interact",  "interactive"}) ||
      starts_with_any(text, {"predict", "inference", "generate", "visuali", "decode", "detokenize",
                             "gen_im", "gen_sample", "gen_video"}) ||
      (of_module && has_word(text, {"sample"}) && text != "sample" && text != "_sample"))
    flags |= kInferenceFunction;
  // What a trained network is asked for; a part of a module that is called so is asked in each
  // step.
  if (!of_module && text == "classify") flags |= kEvalFunction | kInferenceFunction;
  // What libraries of estimators call the scores of a fitted model, and agents what acts.
  if (is_one_of(text, {"decision_function", "score_samples", "select_action", "choose_action"}))
    flags |= kEvalFunction | kInferenceFunction;
  // calibration_error(): a metric
  if (has_word(text, {"calibration"}) && has_word(text, {"error"}))
    flags &= ~static_cast<uint32_t>(kEvalFunction | kInferenceFunction);
  if (has_word(text, {"save", "load", "checkpoint", "ckpt", "restore", "resume", "dump",
                      "serialize", "upload", "file", "export", "converter", "onnx"}) ||
      text.find("checkpoint") != std::string::npos ||
      text.find("state_dict") != std::string::npos || starts_with_any(text, {"push_to", "_push"}) ||
      starts_with_any(text, {"get_state", "set_state"}) || text == "export") {
    flags |= kCheckpointFunction;
  }
  // load_batch(), load_imgs(): what each step begins with
  if (text.starts_with("load_") &&
      has_word(text, {"batch", "minibatch", "imgs", "inputs", "targets"}) &&
      !has_word(text, {"state", "checkpoint", "ckpt", "file"}))
    flags &= ~static_cast<uint32_t>(kCheckpointFunction);
  if (has_word(text, {"debug", "dummy"})) flags |= kTestFunction;
  if (text.ends_with("_convert")) flags |= kInitFunction;
  // What takes down is run as often as what sets up; a buffer's own Destroy() is not.
  if (starts_with_any(text, {"destroy_", "teardown_", "tear_down_", "shutdown", "shut_down"}))
    flags |= kInitFunction;
  if (!method && (text.ends_with("_init") || text.ends_with("_init_"))) flags |= kInitFunction;
  if (contains_any(text, {"timeit", "microbench", "time_sync", "sync_time"}) ||
      is_one_of(text, {"warmup", "warm_up", "throughput", "measure_throughput", "speed_test",
                       "benchmark"}))
    flags |= kTestFunction;
  // verify_lockstep(): compares a few steps with those of the host
  if (text.starts_with("verify_")) flags |= kTestFunction;
  // profile_attention(batch, length), softmax_profile(): what times a kernel
  if (!method && (text.starts_with("profile_") || text.ends_with("_profile")))
    flags |= kTestFunction;
  if (text.starts_with("unit_test") || text.ends_with("_unit_test")) flags |= kTestFunction;
  if (starts_with_any(text, {"test_", "bench_", "benchmark_", "assert_"}) || text == "test") {
    if (text != "test") flags |= kTestFunction;
  }
  if (is_one_of(text, {"main", "run", "cli", "launch", "worker", "main_worker", "spawn"})) {
    flags |= kMainFunction;
  }
  // make_mask(), build_positions(), decode(z), generate_grid(): a forward pass calls such functions
  // as well.
  const bool pliant_init =
      starts_with_any(text, {"build", "create", "make_", "_build", "add_", "convert_", "_convert",
                             "prepare", "_prepare", "render", "init_", "initial_", "initialize_",
                             "_initialize_", "preprocess"}) ||
      text == "initial" || (text.starts_with("convert") && text != "convert") || sets_up_data(text);
  const bool pliant_eval =
      has_word(text, {"sample", "sampling", "decode", "score", "embed", "quantize", "predict",
                      "prediction", "estimate", "search", "act", "complete", "tokenize", "generate",
                      "inference", "infer", "eval"});
  // _inference(adjacency), _eval_metrics(batches): parts of what calls them
  const bool own_part =
      method && starts_with_any(text, {"_inference", "_infer_", "_eval_", "infer_"});
  const bool firm_eval =
      (has_word(text, {"eval", "evaluate", "evaluation", "valid", "validate", "validation", "val",
                       "test", "inference", "infer", "demo", "export"}) &&
       !own_part) ||
      is_one_of(text, {"generate", "_generate", "generate_fn"});
  if (((flags & kInitFunction) == 0 || pliant_init) &&
      ((flags & kEvalFunction) == 0 || (pliant_eval && !firm_eval)) &&
      (flags & kCheckpointFunction) == 0)
    flags |= kWeakRole;
  // A name that says both (train_and_eval, training_step) is judged by what it does.
  if (has_word(text,
               {"train", "training", "fit", "step", "loss", "backward", "forward", "optimize"}) &&
      !starts_with_any(text,
                       {"eval",    "valid",     "test", "val_",    "on_eval", "on_val", "on_test",
                        "predict", "save",      "load", "build",   "setup",   "create", "make_",
                        "init",    "configure", "plot", "visuali", "draw_",   "show_",  "jit_"}) &&
      !contains_any("_" + text, {"_val_loss", "_valid_loss", "_validation_loss", "_eval_loss"})) {
    flags &= ~static_cast<uint32_t>(kEvalFunction | kCheckpointFunction | kInitFunction |
                                    kInferenceFunction);
  }
  // search_fwd_algo(), tune_backward_algorithm(): once, for a shape
  if (has_word(text, {"algo", "algos", "algorithm", "algorithms", "autotune"}) &&
      has_word(text, {"search", "find", "select", "choose", "pick", "tune", "get", "autotune"}))
    flags = (flags & ~static_cast<uint32_t>(kWeakRole | kForward)) | kInitFunction;
  // incremental_forward(): one step of what is generated from what came before
  if (has_word(text, {"incremental"}) && has_word(text, {"forward"}))
    flags = (flags & ~static_cast<uint32_t>(kWeakRole)) | kEvalFunction | kInferenceFunction;
  // Hooks at the ends of training or of an epoch, whatever else their names say.
  if (starts_with_any(text, {"on_", "before_", "after_"}) &&
      (contains_any(text, {"_epoch", "_fit", "_run"}) ||
       is_one_of(text, {"on_train_start", "on_train_begin", "on_train_end", "before_train",
                        "after_train", "on_training_start", "on_training_end"})))
    flags |= kInitFunction;
  if (text.ends_with("_epoch_end") || text.ends_with("_epoch_start") ||
      contains_any(text, {"post_epoch", "after_epoch", "end_epoch", "end_of_epoch", "finish_epoch",
                          "log_epoch", "epoch_log", "epoch_summary"}))
    flags |= kInitFunction;
  return flags;
}

std::string snake_case(std::string_view name) {
  auto is_lower = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && name[i] >= 'A' && name[i] <= 'Z' && is_lower(name[i - 1])) out += '_';
    out += name[i];
  }
  return out;
}

bool works_on_data(std::string_view name) {
  return starts_with_any(lower(snake_case(name)), {"build", "convert", "prepare", "preprocess",
                                                   "make_", "render", "register_"});
}

bool predicts(std::string_view name) {
  return has_word(lower(snake_case(name)),
                  {"predict", "prediction", "act", "complete", "tokenize"});
}

bool is_allocator_name(std::string_view name) {
  return contains_any(name, {"alloc", "resize", "reserve", "enlarge", "grow", "free", "release",
                             "buffersize", "ensure", "capacity"});
}

bool is_operator_name(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return has_word(text, {"forward", "backward", "fw", "bw", "fwd", "bwd"}) &&
         !has_word(text, {"test", "move", "fast", "print", "check", "log", "bench", "port", "init",
                          "initialize", "initialise", "algo", "algos", "algorithm", "algorithms",
                          "autotune"});
}

bool is_binding_name(std::string_view name) {
  return starts_with_any(lower(name), {"pybind", "bind_", "torch_library", "nb_module"});
}

bool trains_by_name(std::string_view function) {
  const std::string text = lower(snake_case(function));
  return has_word(text, {"train", "training", "fit", "learn"}) &&
         !has_word(text, {"test", "eval", "init", "load", "save", "data", "get", "set"});
}

bool names_batches(std::string_view head) {
  if (contains_any(head, {"test", "eval", "val_", "_val)", "_val.", "_val-", "valid", "valloader",
                          "bench", "warm"}))
    return false;
  const size_t step = head.find("+=");
  if (step != std::string_view::npos && contains_any(head.substr(step), {"batch"})) return true;
  return contains_any(head, {"batch"}) &&
         !contains_any(head, {"batch_size", "batchsize", "batch_sz", "batchsz", "batch_dim"});
}

bool names_iterations(std::string_view head) {
  return contains_any(head, {"num_iter",    "n_iter",          "max_iter",
                             "niter",       "iterations",      "iteration <",
                             "iter < ",     "iter_ <",         "< iters",
                             "step < ",     "step_ <",         "num_step",
                             "n_steps",     "nsteps",          "max_step",
                             "total_steps", "number_of_steps", "num_round",
                             "timestep",    "generation < ",   "train_num_batches",
                             "minibatch",   "time_step",       "iter = 0;;",
                             "iter = 0; ;", "iter = 1;;",      "< tstop",
                             "< t_stop",    "< tend",          "< t_end",
                             "< tmax",      "< t_max",         "< end_time",
                             "< tfinal",    "< t_final",       "< final_time",
                             "< stop_time"}) &&
         !contains_any(head, {"eval", "epoch", "warm", "bench", "repeat", "trial", ">>"}) &&
         (!contains_any(head, {"test"}) || contains_any(head, {"latest"}));
}

namespace {

/// `NAME = ...` before `at` in its function, up to `end`; of what nobody writes by hand the last
/// part is looked through.
std::string_view assignment_before(const Ast& ast, NodeId at, std::string_view name, char end) {
  constexpr size_t kMost = 50'000;
  const NodeId function = ast.ancestor(at, NodeKind::function);
  if (name.empty() || function == kNoNode) return {};
  std::string_view code =
      ast.slice(function).substr(0, ast[at].first_byte - ast[function].first_byte);
  code.remove_prefix(code.size() - std::min(code.size(), kMost));
  const size_t made = code.find(std::string(name) + " = ");
  return made == std::string_view::npos ? std::string_view()
                                        : code.substr(made, code.find(end, made) - made);
}

/// `i < a.size()` behind `auto a = model->parameters();`
bool counts_parameters(const Ast& ast, NodeId condition) {
  std::string_view name = ast.slice(condition);
  name.remove_suffix(std::string_view(".size()").size());
  name.remove_prefix(name.find_last_of(" <(!=") + 1);
  return assignment_before(ast, condition, name, ';').ends_with("parameters()");
}

/// `for k in ema.keys():` behind `ema = dict(model.named_parameters())`
bool keeps_parameters(const Ast& ast, NodeId over) {
  if (ast.grammar != Grammar::python) return false;
  std::string_view name = ast.slice(over);
  name = name.substr(0, name.find_first_of(".[("));
  return contains_any(assignment_before(ast, over, name, '\n'),
                      {"named_parameters()", ".state_dict()"});
}

}  // namespace

bool runs_over_parameters(const Ast& ast, NodeId loop) {
  auto says_parameters = [&](NodeId over) {
    std::string_view text = ast.slice(over);
    if (text.size() > 160) text = text.substr(0, 160);
    return contains_any(
        text, {"parameters()", "params", "param_group", "state_dict", "grads", "named_parameters",
               "parameters", "gradients", "trainable_variables", "buffers()"});
  };
  for (NodeId c : children(ast, loop)) {
    if (ast[c].role == Role::right && (says_parameters(c) || keeps_parameters(ast, c))) return true;
    // for name, param in self.trained(model)
    if (ast[c].role == Role::left && ast[c].kind == NodeKind::tuple &&
        contains_any(ast.slice(c), {", param"}))
      return true;
    // for (size_t i = 0; i < parameters.size(); ++i)
    if (ast.grammar == Grammar::cuda && ast[c].role == Role::condition &&
        ast.slice(c).ends_with(".size()") && (says_parameters(c) || counts_parameters(ast, c)))
      return true;
    if (ast[c].kind == NodeKind::comp_for) {
      NodeId over = ast.child(c, Role::right);
      if (over != kNoNode && says_parameters(over)) return true;
    }
  }
  return false;
}

bool runs_over_groups(const Ast& ast, NodeId loop) {
  const NodeId over = ast[loop].kind == NodeKind::for_ ? ast.child(loop, Role::right) : kNoNode;
  if (over == kNoNode) return false;
  const std::string_view text = ast.slice(over);
  return text.find("param_groups") != std::string_view::npos &&
         text.find("param_groups[") == std::string_view::npos &&
         text.find("params") == std::string_view::npos;
}

bool says_without_grad(std::string_view code) {
  return contains_any(code, {"no_grad", "inference_mode"});
}

}  // namespace stallscope
