// What names of variables, classes and functions tell, where one name alone is asked about.
#include <algorithm>

#include "base/text.h"
#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {

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
  // i_mask, n_mask: one of many, or how many
  return is_one_of(name,
                   {"mask", "masks", "valid", "is_valid", "masked_tokens", "masked_indices"}) ||
         ((name.ends_with("_mask") || name.ends_with("_masks")) &&
          !starts_with_any(name, {"i_", "n_", "num_"})) ||
         name.ends_with("_filter");
}

bool is_scheduler_table(std::string_view name) {
  return is_one_of(name, {"alphas_cumprod", "betas", "alphas", "sigmas", "timesteps"});
}

bool is_count_name(std::string_view name) {
  const std::string text = lower(name);
  return starts_with_any(text, {"num_", "n_", "max_", "min_"}) ||
         std::ranges::any_of(
             std::initializer_list<std::string_view>{"_length", "_len", "_size", "_dim", "_count",
                                                     "_num", "_number"},
             [&](std::string_view ending) { return text.ends_with(ending); }) ||
         is_one_of(text, {"length", "size", "dim", "ndim", "rank", "world_size"});
}

bool is_loader_name(std::string_view name) {
  if (name == "dl" || name.ends_with(".dl")) return true;
  return contains_any(
             name, {"loader", "train_dl", "val_dl", "dataiter", "data_iter", "batches",
                    "train_iter", "batch_iter", "dl_iter", "iterator", "_dl", "train_set_iter"}) &&
         !contains_any(name, {"module", "model"});
}

bool yields_batches(std::string_view text) {
  return is_loader_name(text) ||
         is_one_of(last_component(text), {"data", "train_data", "training_data"});
}

bool is_offsets_name(std::string_view name) {
  return starts_with_any(name, {"cu_seqlens", "cu_seq_lens", "cu_seqlen"});
}

bool is_dataset_name(std::string_view name) {
  return has_word(lower(name), {"dataset", "trainset", "valset", "testset"});
}

bool is_batch_class_name(std::string_view name) {
  return contains_any(name, {"batch", "sample", "inputs", "imagelist", "boxlist"}) &&
         !contains_any(name, {"sampler", "upsample", "downsample", "resample", "norm"});
}

bool moves_own_batch(std::string_view class_name, std::string_view method) {
  return is_batch_class_name(class_name) &&
         (moves_data(method) || is_one_of(method, {"to", "To", "cuda"}));
}

bool is_batch_name(std::string_view name) {
  return has_word(
      lower(name),
      {"batch",   "batches", "batched", "data",  "datas",   "mbatch", "minibatch", "microbatch",
       "inputs",  "images",  "imgs",    "image", "targets", "target", "labels",    "label",
       "samples", "wavs",    "wav",     "audio", "texts",   "text",   "captions",  "videos",
       "frames",  "tokens",  "mels",    "noisy", "examples"});
}

bool is_batch_getter(std::string_view name) {
  const std::string text = lower(name);
  return has_word(text, {"get", "sample", "next", "load", "make", "fetch"}) &&
         has_word(text, {"batch", "minibatch", "microbatch"});
}

bool is_environment_name(std::string_view name) {
  const std::string text = lower(name);
  return has_word(text, {"action", "actions", "obs", "observation", "observations", "dones"}) &&
         !contains_any(name, {"space", "dim", "logprob", "log_prob", "loss"}) &&
         // action_count, num_actions, action_std: a number about them
         !has_word(text,
                   {"count", "counts", "num",     "n",    "size", "len",          "mean",    "std",
                    "norm",  "kl",     "entropy", "rate", "acc",  "accuracy",     "error",   "grad",
                    "diff",  "mse",    "l1",      "l2",   "dist", "distribution", "distance"});
}

bool is_simulator_name(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return has_word(text, {"env", "envs", "venv", "vecenv", "environment", "environments"}) &&
         !has_word(text, {"eval", "test", "val", "optimizer"});
}

bool is_hook_registration(std::string_view name) {
  return name == "register_hook" || name == "register_post_accumulate_grad_hook" ||
         (name.starts_with("register_f") && name.ends_with("_hook")) ||
         // a trainer's own: register_batch_end_hook(log)
         (name.starts_with("register_") && has_word(name, {"batch", "step"}) &&
          has_word(name, {"hook", "callback"}));
}

bool is_learning_call(std::string_view object, std::string_view method) {
  const std::string who = lower(snake_case(object));
  return has_word(who, {"agent",  "agents", "alg",     "algo",   "algorithm", "learner", "trainer",
                        "policy", "ppo",    "sac",     "td3",    "ddpg",      "dqn",     "maddpg",
                        "mappo",  "ippo",   "qmix",    "a2c",    "a3c",       "trpo",    "iql",
                        "cql",    "redq",   "rainbow", "dreamer"}) &&
         has_word(lower(method), {"update", "learn", "optimize", "interaction", "fit"});
}

bool is_wait_name(std::string_view name) {
  return has_word(lower(snake_case(name)), {"sync", "synchronize", "wait", "barrier", "finish"});
}

namespace {

/// Whether a name has none but these words.
bool has_only_words(std::string_view name, std::initializer_list<std::string_view> words) {
  const std::string text = lower(snake_case(name));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('_', at), text.size());
    if (end > at && !is_one_of(std::string_view(text).substr(at, end - at), words)) return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

bool is_wait_only_name(std::string_view name) {
  return is_wait_name(name) &&
         has_only_words(
             name, {"sync",   "synchronize", "wait",       "barrier",     "finish",    "cuda",
                    "gpu",    "device",      "devices",    "torch",       "stream",    "streams",
                    "all",    "maybe",       "cudadevice", "cudastream",  "current",   "xpu",
                    "npu",    "if",          "needed",     "and",         "for",       "queue",
                    "main",   "master",      "default",    "computation", "compution", "compute",
                    "kernel", "kernels",     "work",       "operations",  "ops",       "pending",
                    "idle",   "completion"});
}

bool names_what_it_waits_for(std::string_view name) {
  return is_wait_only_name(name) &&
         has_word(snake_case(name), {"stream", "streams", "queue", "device", "devices", "gpu"});
}

bool is_host_copy_of_tensor(std::string_view name) {
  return name.ends_with("_cpu") &&
         !is_one_of(first_component(name), {"on_cpu", "use_cpu", "is_cpu", "to_cpu", "no_cpu"});
}

bool is_numpy_name(std::string_view name) {
  return name.starts_with("np_") || name.ends_with("_np") || name.ends_with("_numpy");
}

bool is_release_name(std::string_view name) {
  return has_word(lower(snake_case(name)), {"flush", "free", "clear", "clean", "cleanup", "empty",
                                            "release", "reclaim", "gc", "collect"}) &&
         has_only_words(name, {"flush",   "free",    "clear",  "clean",   "cleanup", "empty",
                               "release", "reclaim", "gc",     "collect", "garbage", "memory",
                               "mem",     "cache",   "caches", "cuda",    "gpu",     "vram",
                               "torch",   "device",  "and",    "up",      "all",     "unused"});
}

bool is_read_back_name(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return (has_word(text, {"pull", "download", "d2h", "dtoh", "readback"}) ||
          is_one_of(text, {"item", "cpu", "to_number", "to_scalar"}) ||  // of a tensor
          contains_any(text, {"to_host", "tohost", "device_to_host", "from_device", "from_gpu",
                              "read_back", "gpu_to_cpu", "device2host", "to_cpu", "to_vector",
                              "device_to_vec", "to_stdvector", "to_std_vector", "d_to_h", "dto_h",
                              "tensor_to_vec", "to_pinned_cpu"})) &&
         !has_word(text, {"save", "load", "test", "print", "dump", "async", "init"});
}

bool is_upload_name(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return (has_word(text, {"push", "upload", "h2d", "htod"}) ||
          contains_any(
              text, {"to_device", "todevice", "host_to_device", "from_host", "from_cpu", "to_gpu",
                     "togpu", "to_cuda", "cpu_to_gpu", "host2device", "h_to_d", "hto_d"})) &&
         !has_word(text, {"save", "load", "test", "print", "dump", "async", "init", "back"});
}

bool is_allocation_name(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return (contains_any(text, {"malloc", "allocate"}) || has_word(text, {"alloc"})) &&
         !contains_any(text, {"dealloc", "unalloc", "init", "test"});
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

bool is_verification_name(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return has_word(text, {"verify", "verification", "validate", "validation", "compare",
                         "comparison", "check", "gradcheck"}) &&
         !has_word(text, {"train", "training", "fit", "step", "update", "learn", "loss"});
}

bool is_simulation_step(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return has_word(text, {"step", "timestep", "substep", "advance", "iterate", "evolve", "cycle"}) &&
         !has_word(text,
                   {"get",   "set",    "num",    "n",     "init",      "print", "log",  "size",
                    "test",  "check",  "count",  "max",   "min",       "reset", "load", "save",
                    "write", "output", "report", "bench", "benchmark", "create"});
}

bool names_epoch(std::string_view function) {
  return has_word(lower(snake_case(function)), {"epoch"});
}

bool is_whole_fit(std::string_view name) {
  return has_word(lower(snake_case(name)), {"fit"});
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

bool judges_actions(std::string_view name, const std::vector<std::string>& parameters) {
  const auto says_actions = [](std::string_view text) {
    return has_word(lower(text), {"action", "actions", "act", "acts"});
  };
  const std::string text = lower(snake_case(name));
  return (has_word(text, {"evaluate", "eval"}) && says_actions(text)) ||
         (text == "evaluate" && std::ranges::any_of(parameters, says_actions));
}

bool is_trial_name(std::string_view name) {
  const std::string text = lower(name);
  return has_word(text, {"test", "check", "example", "sanity", "debug"});
}

bool is_timing_class(std::string_view name) {
  return contains_any(name, {"profiler", "benchmark", "tracemalloc", "debug"}) ||
         name.starts_with("Print");
}

bool runs_profiler(std::string_view name) {
  const std::string text = lower(snake_case(name));
  return has_word(text, {"profile", "profiler", "profiling"}) &&
         has_word(text, {"start", "stop", "begin", "end", "enable", "disable"});
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
  return is_one_of(text, {"act", "_act", "act_explore", "act_exploit", "explore", "exploit"}) ||
         (has_word(text, {"action", "actions"}) &&
          has_word(text, {"select", "choose", "get", "take", "sample", "pick", "predict"}));
}

bool is_solver_class(std::string_view name) {
  return contains_any(name, {"solver", "pipeline", "integrator"});
}

bool is_sampler_class(std::string_view name) {
  return contains_any(name, {"ddimsampler", "plmssampler", "dpmsolver", "dpm_solver", "beamsearch",
                             "sequencegenerator"});
}

bool is_deployment_library(std::string_view package) {
  return is_one_of(package, {"tensorrt", "onnxruntime", "coremltools", "gradio", "streamlit",
                             "openvino", "triton_python_backend_utils", "bentoml", "ncnn", "flask",
                             "fastapi", "litserve", "sanic"});
}

bool is_evaluation_class(std::string_view name) {
  if (contains_any(name, {"validator", "evaluator", "saliency", "explainer", "attribution"}))
    return true;
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

bool ends_program(std::string_view name) {
  return is_one_of(name, {"exit", "abort", "terminate"}) ||
         starts_with_any(snake_case(name), {"exit_", "abort_", "shutdown", "shut_down"});
}

bool is_serving_path(std::string_view path) {
  return contains_any(path, {"inference/", "serving/", "tensorrt", "triton_", "deploy/"});
}

}  // namespace stallscope
