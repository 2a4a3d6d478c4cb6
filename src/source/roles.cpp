#include "source/roles.h"

#include <algorithm>
#include <string>

#include "source/facts.h"
#include "source/names.h"
#include "source/role_words.h"

namespace stallscope {

bool is_module_class(std::string_view path) {
  std::string_view name = last_component(path);
  return is_one_of(name, {"Module", "LightningModule", "PreTrainedModel", "ModuleList",
                          "Sequential", "FairseqModel", "BaseModel", "BaseModule", "ModelMixin",
                          "FairseqCriterion", "_Loss", "Model"}) ||
         name.ends_with("PreTrainedModel") || name.ends_with("Module") || path == "torch.nn.Module";
}

uint32_t role_flags(std::string_view name, bool of_module, bool method) {
  const std::string text = lower(name);
  uint32_t flags = 0;
  if (of_module && (text == "forward" || text == "__call__")) flags |= kForward;
  if (method && text == "forward") flags |= kForward;
  if (starts_with_any(text, {"__init__",
                             "setup",
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
                             "parse_",
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
                             "register",
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
                             "__enter__",
                             "__exit__",
                             "compile",
                             "_compile",
                             "prune_",
                             "_prune_",
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
  if (!method && text.starts_with("preprocess")) flags |= kInitFunction;
  // get_update_fn(): hands out what the step calls.
  if (text.starts_with("get_") && (text.ends_with("_fn") || text.ends_with("_func")))
    flags |= kInitFunction;
  if (text == "get_batch" || text == "__iter__") flags &= ~static_cast<uint32_t>(kInitFunction);
  // build_model_inputs(), make_batch(): what every step or forward pass makes anew.
  if (starts_with_any(text, {"build", "_build", "make_", "create", "prepare", "_prepare"}) &&
      has_word(text, {"input", "inputs", "batch", "batches", "targets", "labels", "queries"}))
    flags &= ~static_cast<uint32_t>(kInitFunction);
  if (has_word(text, {"eval",        "evaluate",   "evaluation",
                      "valid",       "validate",   "validation",
                      "val",         "test",       "testing",
                      "predict",     "prediction", "inference",
                      "infer",       "generate",   "sample",
                      "sampling",    "demo",       "translate",
                      "decode",      "beam",       "search",
                      "score",       "visualize",  "estimate",
                      "benchmark",   "bench",      "chat",
                      "complete",    "rollout",    "act",
                      "play",        "export",     "compute_metrics",
                      "quantize",    "calibrate",  "calibration",
                      "summarize",   "get_action", "embed",
                      "encode_text", "tokenize"}) ||
      text.starts_with("on_validation") || text.starts_with("on_test")) {
    flags |= kEvalFunction;
  }
  if (has_word(text, {"predict",    "prediction", "inference",   "infer",     "generate",
                      "demo",       "translate",  "beam",        "visualize", "chat",
                      "export",     "benchmark",  "bench",       "summarize", "rollout",
                      "get_action", "play",       "tokenize",    "viewer",    "serve",
                      "sampling",   "calibrate",  "calibration", "interact",  "interactive"}) ||
      starts_with_any(text,
                      {"predict", "inference", "generate", "visuali", "decode", "detokenize"}) ||
      (of_module && has_word(text, {"sample"}) && text != "sample" && text != "_sample"))
    flags |= kInferenceFunction;
  if (has_word(text, {"save", "load", "checkpoint", "ckpt", "restore", "resume", "dump",
                      "serialize", "upload", "file", "export", "converter", "onnx"}) ||
      text.find("checkpoint") != std::string::npos ||
      text.find("state_dict") != std::string::npos || starts_with_any(text, {"push_to", "_push"}) ||
      starts_with_any(text, {"get_state", "set_state"}) || text == "export") {
    flags |= kCheckpointFunction;
  }
  if (has_word(text, {"debug", "dummy"})) flags |= kTestFunction;
  if (text.ends_with("_convert")) flags |= kInitFunction;
  if (!method && (text.ends_with("_init") || text.ends_with("_init_"))) flags |= kInitFunction;
  if (contains_any(text, {"timeit", "microbench", "time_sync", "sync_time"}) ||
      is_one_of(text, {"warmup", "warm_up", "throughput", "measure_throughput", "speed_test"}))
    flags |= kTestFunction;
  if (starts_with_any(text, {"test_", "bench_", "benchmark_", "assert_"}) || text == "test") {
    if (text != "test") flags |= kTestFunction;
  }
  if (is_one_of(text, {"main", "run", "cli", "launch", "worker", "main_worker", "spawn"})) {
    flags |= kMainFunction;
  }
  // make_mask(), build_positions(), decode(z), generate_grid(): a forward pass calls such functions
  // as well.
  const bool pliant_init = starts_with_any(
      text, {"build", "create", "make_", "_build", "add_", "convert_", "_convert", "prepare",
             "_prepare", "render", "init_", "initialize_", "preprocess"});
  const bool pliant_eval = has_word(
      text, {"sample", "sampling", "decode", "score", "embed", "quantize", "predict", "prediction",
             "estimate", "search", "act", "complete", "tokenize", "generate"});
  const bool firm_eval =
      has_word(text, {"eval", "evaluate", "evaluation", "valid", "validate", "validation", "val",
                      "test", "inference", "infer", "demo", "export"}) ||
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
                        "init",    "configure", "plot", "visuali", "draw_",   "show_",  "jit_"})) {
    flags &= ~static_cast<uint32_t>(kEvalFunction | kCheckpointFunction | kInitFunction |
                                    kInferenceFunction);
  }
  // Hooks at the ends of training or of an epoch, whatever else their names say.
  if (starts_with_any(text, {"on_", "before_", "after_"}) &&
      (contains_any(text, {"_epoch", "_fit", "_run"}) ||
       is_one_of(text, {"on_train_start", "on_train_begin", "on_train_end", "before_train",
                        "after_train", "on_training_start", "on_training_end"})))
    flags |= kInitFunction;
  if (text.ends_with("_epoch_end") || text.ends_with("_epoch_start")) flags |= kInitFunction;
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
  return contains_any(
      name, {"alloc", "resize", "reserve", "enlarge", "grow", "free", "release", "buffersize"});
}

bool is_operator_name(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return has_word(text, {"forward", "backward", "fw", "bw", "fwd", "bwd"}) &&
         !has_word(text, {"test", "move", "fast", "print", "check", "log", "bench", "port", "init",
                          "initialize", "initialise"});
}

bool is_binding_name(std::string_view name) {
  return starts_with_any(lower(name), {"pybind", "bind_", "torch_library", "nb_module"});
}

bool names_iterations(std::string_view head) {
  return contains_any(head, {"num_iter",          "n_iter",      "max_iter",  "niter",
                             "iterations",        "iteration <", "iter < ",   "iter_ <",
                             "< iters",           "step < ",     "step_ <",   "num_step",
                             "n_steps",           "nsteps",      "max_step",  "total_steps",
                             "number_of_steps",   "num_round",   "timestep",  "generation < ",
                             "train_num_batches", "minibatch",   "time_step", "iter = 0;;",
                             "iter = 0; ;",       "iter = 1;;"}) &&
         !contains_any(head, {"eval", "epoch", "warm", "bench", "repeat", "trial", "test", ">>"});
}

namespace {

/// `i < a.size()` behind `auto a = model->parameters();`
bool counts_parameters(const Ast& ast, NodeId condition) {
  std::string_view name = ast.slice(condition);
  name.remove_suffix(std::string_view(".size()").size());
  name.remove_prefix(name.find_last_of(" <(!=") + 1);
  const NodeId function = ast.ancestor(condition, NodeKind::function);
  if (name.empty() || function == kNoNode) return false;
  const std::string_view text = ast.slice(function);
  const size_t made = text.find(std::string(name) + " = ");
  return made != std::string_view::npos &&
         text.substr(made, text.find(';', made) - made).ends_with("parameters()");
}

}  // namespace

bool runs_over_parameters(const Ast& ast, NodeId loop) {
  auto says_parameters = [&](NodeId over) {
    std::string_view text = ast.slice(over);
    if (text.size() > 160) text = text.substr(0, 160);
    return contains_any(
        text, {"parameters()", "params", "param_group", "state_dict()", "grads", "named_parameters",
               "parameters", "gradients", "trainable_variables", "buffers()"});
  };
  for (NodeId c : children(ast, loop)) {
    if (ast[c].role == Role::right && says_parameters(c)) return true;
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

bool is_optimizer_name(std::string_view name) {
  if (contains_any(name,
                   {"sched", "lr_", "env", "prof", "warmup", "sim", "game", "timer", "annealer"})) {
    return false;
  }
  const std::string text = lower(name);
  return contains_any(name, {"optim", "scaler", "adam", "sgd", "lamb", "engine", "muon"}) ||
         has_word(text, {"opt", "opts", "opter", "solver", "trainer", "optg", "optd", "sgd"}) ||
         (text.starts_with("opt") && text.size() <= 6);
}

bool is_model_name(std::string_view name) {
  const std::string text = lower(name);
  return has_word(text, {"model",     "net",           "network",   "criterion",   "criteria",
                         "critic",    "actor",         "encoder",   "decoder",     "backbone",
                         "generator", "discriminator", "unet",      "vae",         "classifier",
                         "policy",    "module",        "mlp",       "transformer", "ddp",
                         "head",      "embedding",     "projector", "teacher",     "student"}) ||
         is_one_of(text, {"netd", "netg", "loss_fn", "loss_func", "loss_function", "lossfn",
                          "lossfunc", "ce_loss", "mse_loss", "bce_loss", "l1_loss", "loss_f"}) ||
         text.ends_with("_criterion") || text.starts_with("criterion") || text.ends_with("net");
}

bool is_counter_name(std::string_view name) {
  return is_one_of(name, {"i", "j", "n", "it", "_", "ii"}) ||
         has_word(lower(name), {"step", "idx", "index", "iter", "iteration", "i"});
}

bool is_size_name(std::string_view name) {
  return is_one_of(name, {"H", "W", "T", "L", "N", "C", "nH", "nW", "height", "width"});
}

bool is_mask_name(std::string_view name) {
  return name == "mask" || name.ends_with("_mask") || name.ends_with("_filter");
}

bool is_scheduler_table(std::string_view name) {
  return is_one_of(name, {"alphas_cumprod", "betas", "alphas", "sigmas"});
}

bool is_count_name(std::string_view name) {
  const std::string text = lower(name);
  return starts_with_any(text, {"num_", "n_", "max_", "min_"}) ||
         std::ranges::any_of(
             std::initializer_list<std::string_view>{"_length", "_len", "_size", "_dim", "_count"},
             [&](std::string_view ending) { return text.ends_with(ending); }) ||
         is_one_of(text, {"length", "size", "dim", "ndim", "rank", "world_size"});
}

bool is_loader_name(std::string_view name) {
  return contains_any(
             name, {"loader", "train_dl", "val_dl", "dataiter", "data_iter", "batches",
                    "train_iter", "batch_iter", "dl_iter", "iterator", "_dl", "train_set_iter"}) &&
         !contains_any(name, {"module", "model"});
}

bool is_dataset_name(std::string_view name) {
  return has_word(lower(name), {"dataset", "trainset", "valset", "testset"});
}

bool is_batch_class_name(std::string_view name) {
  return contains_any(name, {"batch", "sample", "inputs"}) &&
         !contains_any(name, {"sampler", "upsample", "downsample", "resample", "norm"});
}

bool moves_own_batch(std::string_view class_name, std::string_view method) {
  return is_batch_class_name(class_name) &&
         (moves_data(method) || is_one_of(method, {"to", "cuda"}));
}

bool is_batch_name(std::string_view name) {
  return has_word(lower(name),
                  {"batch",    "batches", "batched", "data",   "mbatch",  "minibatch", "microbatch",
                   "inputs",   "images",  "imgs",    "image",  "targets", "target",    "labels",
                   "label",    "samples", "wavs",    "wav",    "audio",   "texts",     "text",
                   "captions", "videos",  "frames",  "tokens", "mels",    "noisy"});
}

bool is_batch_getter(std::string_view name) {
  const std::string text = lower(name);
  return has_word(text, {"get", "sample", "next", "load", "make", "fetch"}) &&
         has_word(text, {"batch", "minibatch", "microbatch"});
}

bool is_environment_name(std::string_view name) {
  return has_word(lower(name),
                  {"action", "actions", "obs", "observation", "observations", "dones"}) &&
         !contains_any(name, {"space", "dim", "logprob", "log_prob", "loss"});
}

bool is_wait_name(std::string_view name) {
  return has_word(lower(snake_case(name)), {"sync", "synchronize", "wait", "barrier", "finish"});
}

bool is_wait_only_name(std::string_view name) {
  if (!is_wait_name(name)) return false;
  const std::string text = lower(snake_case(name));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('_', at), text.size());
    if (end > at &&
        !is_one_of(std::string_view(text).substr(at, end - at),
                   {"sync", "synchronize", "wait",       "barrier",    "finish",  "cuda",
                    "gpu",  "device",      "devices",    "torch",      "stream",  "streams",
                    "all",  "maybe",       "cudadevice", "cudastream", "current", "xpu",
                    "npu",  "if",          "needed",     "and",        "for"}))
      return false;
    at = end + 1;
  }
  return true;
}

bool is_read_back_name(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return (has_word(text, {"pull", "download", "d2h", "dtoh", "readback"}) ||
          contains_any(text, {"to_host", "tohost", "device_to_host", "from_device", "from_gpu",
                              "read_back", "gpu_to_cpu", "device2host"})) &&
         !has_word(text, {"save", "load", "test", "print", "dump", "async", "init"});
}

bool is_hand_over_name(std::string_view name) {
  return starts_with_any(lower(snake_case(name)),
                         {"copy", "get", "to_", "dump", "print", "reconstruct", "save", "write"});
}

bool is_host_copy_name(std::string_view name) {
  const std::string text = lower(name);
  return has_word(text, {"fetch", "asnumpy", "numpify"}) ||
         contains_any(text, {"to_numpy", "to_np", "as_numpy", "to_host", "from_first_device"});
}

bool is_whole_evaluation(std::string_view name) {
  const std::string text = lower(name);
  return starts_with_any(text, {"eval", "_eval", "validate", "_validate", "test_", "run_eval"}) &&
         !has_word(text, {"step", "batch", "one", "iter", "single", "metrics"});
}

bool is_data_class(std::string_view name) {
  return contains_any(name,
                      {"dataset", "sampler", "transform", "augment", "collat", "datamodule",
                       "dataload", "dataiter", "batchiter", "tokenizer", "processor", "mixup",
                       "cutmix", "reader", "randomerasing", "vocab", "replay", "rolloutbuffer"}) &&
         !contains_any(name, {"transformer", "logitsprocessor", "attn", "attention"});
}

bool is_report_name(std::string_view name) {
  const std::string text = lower(name);
  // compute_log_probs(): a logarithm, not a report
  return has_word(text, {"log", "logging", "summary", "print"}) &&
         !contains_any(text, {"log_prob", "log_like", "log_ratio", "log_softmax", "log_prior",
                              "log_dens", "log_sigmoid", "log_det"});
}

bool is_trial_name(std::string_view name) {
  const std::string text = lower(name);
  return has_word(text, {"test", "check", "example", "sanity", "debug"});
}

bool is_timing_class(std::string_view name) {
  return contains_any(name,
                      {"timer", "profiler", "stopwatch", "benchmark", "tracemalloc", "debug"}) ||
         name.starts_with("Print");
}

bool averages_gradients(std::string_view function) {
  const std::string text = lower(snake_case(function));
  return contains_any(text, {"allreduce", "all_reduce"}) ||
         (contains_any(text, {"grad"}) &&
          has_word(text, {"reduce", "sync", "average", "allgather"}));
}

bool moves_data(std::string_view function) {
  const std::string text = lower(function);
  return text.find("to_device") != std::string::npos || text.find("to_gpu") != std::string::npos ||
         text.find("to_cuda") != std::string::npos || text.ends_with("to_dev") ||
         text.find("cast_data") != std::string::npos ||
         text.find("batch_to") != std::string::npos ||
         text.find("prepare_batch") != std::string::npos ||
         (has_word(text, {"move", "transfer", "send", "put", "copy"}) &&
          has_word(text, {"device", "gpu", "cuda", "batch", "data"}));
}

bool is_acting_name(std::string_view name) {
  const std::string text = lower(name);
  return is_one_of(text, {"act", "_act", "act_explore", "act_exploit"}) ||
         (has_word(text, {"action", "actions"}) &&
          has_word(text, {"select", "choose", "get", "take", "sample", "pick", "predict"}));
}

bool is_solver_class(std::string_view name) {
  return contains_any(name, {"solver", "pipeline", "integrator"});
}

bool is_deployment_library(std::string_view package) {
  return is_one_of(package, {"tensorrt", "onnxruntime", "coremltools", "gradio", "streamlit",
                             "openvino", "triton_python_backend_utils", "bentoml", "ncnn"});
}

bool is_evaluation_class(std::string_view name) {
  if (contains_any(name, {"validator", "evaluator"})) return true;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"Test", "Val", "Valid", "Validation", "Eval"},
      [&](std::string_view word) {
        return name.starts_with(word) && name.size() > word.size() && name[word.size()] >= 'A' &&
               name[word.size()] <= 'Z';
      });
}

bool is_setter_name(std::string_view name) {
  return starts_with_any(lower(snake_case(name)), {"set_", "override_"});
}

bool is_serving_path(std::string_view path) {
  return contains_any(path, {"inference/", "serving/", "tensorrt", "triton_", "deploy/"});
}

}  // namespace stallscope
