#include "source/roles.h"

#include <algorithm>
#include <array>
#include <string>

#include "source/facts.h"
#include "source/names.h"

namespace stallscope {
namespace {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [text](std::string_view w) { return text.starts_with(w); });
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

/// Whether one of the underscore-separated words of `name` is in `words`.
bool has_word(std::string_view name, std::initializer_list<std::string_view> words) {
  for (size_t at = 0; at < name.size();) {
    size_t end = std::min(name.find_first_of("_-", at), name.size());
    if (is_one_of(name.substr(at, end - at), words)) return true;
    at = end + 1;
  }
  return false;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return out;
}

}  // namespace

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
  if (has_word(text, {"predict",   "prediction", "inference", "infer",      "generate", "demo",
                      "translate", "beam",       "visualize", "chat",       "export",   "benchmark",
                      "bench",     "summarize",  "rollout",   "get_action", "play",     "tokenize",
                      "viewer",    "serve",      "sampling"}) ||
      starts_with_any(text,
                      {"predict", "inference", "generate", "visuali", "decode", "detokenize"}) ||
      (of_module && has_word(text, {"sample"}) && text != "sample" && text != "_sample"))
    flags |= kInferenceFunction;
  if (has_word(text, {"save", "load", "checkpoint", "ckpt", "restore", "resume", "dump",
                      "serialize", "upload", "push", "file", "export", "converter", "onnx"}) ||
      text.find("checkpoint") != std::string::npos ||
      text.find("state_dict") != std::string::npos ||
      starts_with_any(text, {"get_state", "set_state"}) || text == "export") {
    flags |= kCheckpointFunction;
  }
  if (has_word(text, {"debug"})) flags |= kTestFunction;
  if (text.ends_with("_convert")) flags |= kInitFunction;
  if (!method && (text.ends_with("_init") || text.ends_with("_init_"))) flags |= kInitFunction;
  if (contains_any(text, {"timeit", "microbench", "time_sync", "sync_time"}) || text == "warmup" ||
      text == "warm_up")
    flags |= kTestFunction;
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
                             "prepare", "_prepare", "render", "init_", "preprocess"});
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

bool is_operator_name(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return has_word(text, {"forward", "backward", "fw", "bw", "fwd", "bwd"}) &&
         !has_word(text, {"test", "move", "fast", "print", "check", "log", "bench", "port"});
}

bool names_iterations(std::string_view head) {
  return contains_any(head, {"num_iter", "n_iter", "max_iter", "niter", "iterations", "iteration <",
                             "iter < ", "step < ", "num_step", "n_steps", "nsteps", "max_step",
                             "total_steps", "number_of_steps", "num_round", "timestep",
                             "generation < ", "train_num_batches"}) &&
         !contains_any(head, {"eval", "epoch", "warm", "bench", "repeat", "trial", "test", ">>"});
}

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
  return name == "mask" || name.ends_with("_mask");
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

bool is_batch_name(std::string_view name) {
  return has_word(lower(name),
                  {"batch",    "batches", "batched", "data",   "mbatch",  "minibatch", "microbatch",
                   "inputs",   "images",  "imgs",    "image",  "targets", "target",    "labels",
                   "label",    "samples", "wavs",    "wav",    "audio",   "texts",     "text",
                   "captions", "videos",  "frames",  "tokens", "mels",    "noisy"});
}

bool is_environment_name(std::string_view name) {
  return has_word(lower(name), {"action", "actions", "obs", "observation", "observations"}) &&
         !contains_any(name, {"space", "dim", "logprob", "log_prob", "loss"});
}

bool is_wait_name(std::string_view name) {
  return has_word(lower(name), {"sync", "synchronize", "wait", "barrier", "finish"});
}

bool is_wait_only_name(std::string_view name) {
  if (!is_wait_name(name)) return false;
  const std::string text = lower(name);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('_', at), text.size());
    if (end > at &&
        !is_one_of(std::string_view(text).substr(at, end - at),
                   {"sync",    "synchronize", "wait",  "barrier", "finish",  "cuda", "gpu",
                    "device",  "devices",     "torch", "stream",  "streams", "all",  "maybe",
                    "current", "xpu",         "npu",   "if",      "needed",  "and",  "for"}))
      return false;
    at = end + 1;
  }
  return true;
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
  return has_word(lower(name), {"log", "logging", "summary", "print"});
}

bool is_trial_name(std::string_view name) {
  const std::string text = lower(name);
  return has_word(text, {"test", "check", "example", "sanity", "debug"});
}

bool is_timing_class(std::string_view name) {
  return contains_any(name, {"timer", "profiler", "stopwatch", "benchmark", "tracemalloc"});
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

namespace {

/// Whether a folder of `path`, or its file without the ending, has one of the words.
template <size_t N>
bool path_has_word(std::string_view path, const std::array<std::string_view, N>& words) {
  const std::string text = lower(path.substr(0, path.rfind('.')));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of("/_-", at), text.size());
    if (std::ranges::find(words, std::string_view(text).substr(at, end - at)) != words.end())
      return true;
    at = end + 1;
  }
  return false;
}

/// Shows, serves, converts or prepares data: no part of training, nor of evaluation in it.
constexpr std::array<std::string_view, 67> kBesideWords = {
    "calculator",    "calculators",  "translate",     "beam",
    "infer",         "serve",        "viewer",        "hub",
    "vis",           "viz",          "visualization", "visualizer",
    "visualizers",   "visualize",    "plot",          "plots",
    "plotting",      "demo",         "demos",         "tokenizer",
    "tokenizers",    "tokenization", "dataset",       "datasets",
    "data",          "dataloader",   "dataloading",   "processor",
    "processing",    "sampler",      "samplers",      "preprocess",
    "preprocessing", "convert",      "converter",     "converters",
    "conversion",    "export",       "exporters",     "onnx",
    "inference",     "generate",     "generation",    "cli",
    "deploy",        "deployment",   "serving",       "server",
    "api",           "webui",        "gui",           "app",
    "gradio",        "serialize",    "serialization", "notebooks",
    "docs",          "install",      "setup",         "download",
    "debug",         "tutorials",    "postprocess",   "postprocessing",
    "merge",         "runtime",      "tensorrt"};
/// Of these, where batches are made and moved.
constexpr std::array<std::string_view, 10> kDataWords = {
    "dataset", "datasets",  "data",       "dataloader", "dataloading",
    "sampler", "processor", "processing", "preprocess", "preprocessing"};
/// Of these, what is made of a trained model's output.
constexpr std::array<std::string_view, 9> kInferenceWords = {
    "inference",  "postprocess", "postprocessing", "preprocessing", "runtime",
    "deployment", "serving",     "tensorrt",       "onnx"};
constexpr std::array<std::string_view, 10> kAfterWords = {
    "checkpoint", "checkpoints", "checkpointing", "eval",     "evals",
    "evaluation", "evaluators",  "evaluator",     "commands", "scripts"};

}  // namespace

bool is_beside_path(std::string_view path) {
  return path_has_word(path, kBesideWords) || path.ends_with("/sampling.py");
}

bool is_inference_path(std::string_view path) {
  return path_has_word(path, kInferenceWords);
}

bool is_data_path(std::string_view path) {
  return path_has_word(path, kDataWords);
}

bool is_host_side_path(std::string_view path) {
  return is_beside_path(path) || path_has_word(path, kAfterWords);
}

bool is_evaluation_script(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return starts_with_any(file, {"eval.", "eval_", "evaluate.", "evaluate_", "infer.", "inference.",
                                "predict.", "predict_", "demo."});
}

bool is_example_path(std::string_view path) {
  for (size_t at = 0; at < path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string_view part = path.substr(at, end - at);
    if (is_one_of(part, {"example", "examples", "docs", "doc", "demo", "demos", "tools", "scripts",
                         "notebooks", "tutorials", "samples"}))
      return true;
    at = end + 1;
  }
  return is_test_path(path);
}

bool is_trial_path(std::string_view path) {
  const std::string text = lower(path);
  return path.starts_with('.') || is_test_path(path) ||
         contains_any(text, {"debug", "test", "ci/", "bench", "profil"});
}

bool is_test_macro(std::string_view name) {
  return is_one_of(name, {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TEST_CASE", "SCENARIO",
                          "DOCTEST_TEST_CASE", "TEST_CASE_FIXTURE", "TEST_CASE_TEMPLATE",
                          "BOOST_AUTO_TEST_CASE", "BENCHMARK", "BENCHMARK_F"});
}

bool is_test_path(std::string_view path) {
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string_view part = path.substr(at, end - at);
    bool last = end == path.size();
    std::string_view stem = part.substr(0, part.rfind('.'));
    while (!stem.empty() && std::isdigit(static_cast<unsigned char>(stem.back())) != 0)
      stem.remove_suffix(1);  // test1.cpp
    if (last && has_word(stem, {"test", "tests", "unittest", "benchmark"})) return true;
    if (!last && is_one_of(part, {"test", "tests", "testing", "unittests", "unit_tests",
                                  "benchmark", "benchmarks", "docs"})) {
      return true;
    }
    if (last &&
        (part.starts_with("test_") || part.starts_with("check_") || part.starts_with("bench_") ||
         part.starts_with("benchmark_") || part.find("_test.") != std::string_view::npos ||
         part == "conftest.py" || part == "bench.py" || part == "benchmark.py" ||
         part == "profile.py" || part.starts_with("profile_"))) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace stallscope
