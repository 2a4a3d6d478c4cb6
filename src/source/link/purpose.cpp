#include "source/link/purpose.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "source/link/programs.h"
#include "source/names/mentions.h"
#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

constexpr std::array<std::string_view, 29> kTraining = {"backward",
                                                        "zero_grad",
                                                        "optim",
                                                        "optimizer",
                                                        "optimizers",
                                                        "Optimizer",
                                                        "optax",
                                                        "training_step",
                                                        "Trainer",
                                                        "trainer",
                                                        "value_and_grad",
                                                        "grad",
                                                        "GradScaler",
                                                        "lightning",
                                                        "pytorch_lightning",
                                                        "mmengine",
                                                        "mmcv",
                                                        "mmdet",
                                                        "accelerate",
                                                        "deepspeed",
                                                        "loss",
                                                        "losses",
                                                        "criterion",
                                                        "cross_entropy",
                                                        "train_one_epoch",
                                                        "fit",
                                                        "CrossEntropyLoss",
                                                        "mse_loss",
                                                        "MSELoss"};

std::vector<uint32_t> hashes_of(std::span<const std::string_view> words) {
  std::vector<uint32_t> out;
  for (const std::string_view word : words) out.push_back(name_hash(word));
  return out;
}

/// What is imported from a library is not mentioned; what is done with it has one of these names. A
/// configuration or a script of the shell says them of anything.
bool trains(const FileFacts& file) {
  if (file.language != "python") return false;
  constexpr uint32_t kSteps = kStepEvidence | kEntryPoint | kHook;
  if (std::ranges::any_of(file.functions,
                          [](const FunctionFacts& f) { return (f.flags & kSteps) != 0; }))
    return true;
  static const std::vector<uint32_t> words = hashes_of(kTraining);
  return std::ranges::any_of(words, [&](uint32_t word) { return mentions(file.mentions, word); });
}

/// What a program that uses a device says somewhere, or a framework that moves its models for it.
constexpr std::array<std::string_view, 32> kDevices = {"cuda",        "device",
                                                       "devices",     "gpu",
                                                       "gpus",        "npu",
                                                       "xpu",         "mps",
                                                       "xla",         "hpu",
                                                       "Device",      "DEVICE",
                                                       "rank",        "local_rank",
                                                       "distributed", "nccl",
                                                       "accelerate",  "Accelerator",
                                                       "accelerator", "accelerators",
                                                       "lightning",   "Trainer",
                                                       "trainer",     "fabric",
                                                       "Fabric",      "Runner",
                                                       "ignite",      "fastai",
                                                       "deepspeed",   "LightningModule",
                                                       "DDP",         "DistributedDataParallel"};

bool names_device(const FileFacts& file) {
  static const std::vector<uint32_t> words = hashes_of(kDevices);
  return std::ranges::any_of(words, [&](uint32_t word) { return mentions(file.mentions, word); });
}

/// Whether a file of Python imports what chooses the device by itself.
bool has_device_chosen(const FileFacts& file) {
  return std::ranges::any_of(file.imports, [](const auto& bound_from) {
    return bound_from.second.find("distributed") != std::string::npos ||
           is_one_of(first_component(bound_from.second),
                     {"jax",        "flax",         "haiku",      "optax",
                      "lightning",  "transformers", "accelerate", "pytorch_lightning",
                      "ignite",     "fastai",       "deepspeed",  "megatron",
                      "nemo",       "composer",     "colossalai", "detectron2",
                      "mmengine",   "mmcv",         "mmdet",      "mmseg",
                      "trl",        "unsloth",      "keras",      "skorch",
                      "catalyst",   "monai",        "fairseq",    "speechbrain",
                      "espnet2",    "allennlp",     "flair",      "sentence_transformers",
                      "torchtitan", "torchtune",    "nanotron",   "verl",
                      "openrlhf",   "torch_xla",    "horovod",    "stable_baselines3",
                      "rl_games",   "rsl_rl",       "skrl",       "torchrec"});
  });
}

/// Whether a file is made of cases, by what it imports or derives from.
bool has_cases(const FileFacts& file) {
  const auto tests = [](std::string_view path) {
    return contains_any(path, {"unittest", "pytest", "absltest", "testing", "testcase"});
  };
  return std::ranges::any_of(file.imports, [&](const auto& i) { return tests(i.second); }) ||
         std::ranges::any_of(file.classes, [&](const ClassFacts& c) {
           return std::ranges::any_of(c.bases, tests);
         });
}

/// Whether it has a loop of training itself.
bool has_steps(const FileFacts& file) {
  return std::ranges::any_of(
      file.loops, [](const LoopFacts& loop) { return loop.backward || loop.optimizer_step; });
}

/// Whether a file is called train_test.py or the like, and is no test but for that.
bool is_named_for_both(std::string_view path) {
  const size_t name = path.rfind('/') + 1;
  const std::string_view file = path.substr(name);
  return (file.starts_with("train_") || file.starts_with("train.")) && file.ends_with("test.py") &&
         !is_test_path(std::string(path.substr(0, name)) + "train.py");
}

/// Whether a function is decorated with torch.no_grad() or torch.inference_mode().
bool predicts(const FileFacts& file) {
  return !is_test_file(file) &&
         std::ranges::any_of(file.functions, [](const FunctionFacts& function) {
           return (function.flags & kWithoutGrad) != 0;
         });
}

/// Whether files are a program of Python that trains and names no device.
bool stays_on_host(const CallGraph& graph, std::span<const uint32_t> program) {
  static const uint32_t main = name_hash("__main__");
  const auto any = [&](const auto& holds) {
    return std::ranges::any_of(program, [&](uint32_t f) { return holds(*graph.files()[f]); });
  };
  return any(trains) && any([](const FileFacts& file) {
           return std::ranges::binary_search(file.mentions, main) && !is_test_file(file);
         }) &&
         !any([](const FileFacts& file) {
           return file.is_compiled() || has_device_chosen(file) || names_device(file);
         });
}

/// Whether a program takes its steps itself and names no device: no library of others moves what it
/// trains.
bool trains_alone(const FileFacts& file) {
  return file.language == "python" && has_steps(file) && !names_device(file);
}

/// Whether a file moves anything, perhaps only to another type, or says in a text on what it works.
bool moves(const FileFacts& file) {
  static const std::array<uint32_t, 4> words = {name_hash("to"), name_hash("dev"),
                                                name_hash("set_default_tensor_type"),
                                                name_hash("set_default_device")};
  return std::ranges::any_of(words, [&](uint32_t word) { return mentions(file.mentions, word); });
}

}  // namespace

bool only_infers(const CallGraph& graph) {
  const auto& files = graph.files();
  return std::ranges::none_of(
             files, [](const auto& file) { return file->is_compiled() || trains(*file); }) &&
         std::ranges::any_of(files, [](const auto& file) { return predicts(*file); });
}

bool names_no_device(const CallGraph& graph) {
  constexpr std::array<std::string_view, 7> kOthers = {"cuda", "CUDA", "kCUDA", "Cuda",
                                                       "gpu",  "kMPS", "kXPU"};
  constexpr std::array<std::string_view, 4> kAny = {"device", "Device", "DeviceType", "to_device"};
  static const std::vector<uint32_t> others = hashes_of(kOthers), any = hashes_of(kAny);
  static const uint32_t main = name_hash("main"), torch = name_hash("torch"),
                        cpu = name_hash("kCPU");
  bool program = false, uses_torch = false, any_named = false, cpu_named = false;
  for (const auto& file : graph.files()) {
    if (!file->is_compiled()) continue;
    const auto uses = [&](uint32_t word) { return mentions(file->used_words, word); };
    // What was not read may name one.
    if (file->language == "cuda" || (file->used_words.empty() && !file->note.empty()) ||
        std::ranges::any_of(others, uses))
      return false;
    any_named |= std::ranges::any_of(any, uses);
    cpu_named |= uses(cpu);
    program |= uses(main) && !is_test_file(*file);
    uses_torch |= uses(torch);
  }
  return program && uses_torch && (!any_named || cpu_named);
}

bool only_generates(const CallGraph& graph) {
  constexpr std::array<std::string_view, 11> kText = {
      "logits",   "tokenizer", "Tokenizer", "tokens",     "n_tokens",  "num_tokens",
      "N_tokens", "prompt",    "kv_cache",  "next_token", "detokenize"};
  constexpr std::array<std::string_view, 26> kLearning = {
      "backward",  "Backward", "train",      "Train",    "training",     "Training", "loss",
      "Loss",      "grad",     "grads",      "gradient", "gradients",    "optim",    "optimizer",
      "Optimizer", "adam",     "Adam",       "adamw",    "AdamW",        "sgd",      "SGD",
      "epoch",     "epochs",   "num_epochs", "backprop", "learning_rate"};
  static const std::vector<uint32_t> text = hashes_of(kText), learning = hashes_of(kLearning);
  static const uint32_t main = name_hash("main");
  bool program = false, speaks = false;
  for (const auto& file : graph.files()) {
    const auto uses = [&](uint32_t word) { return mentions(file->used_words, word); };
    if (file->is_compiled() ? std::ranges::any_of(learning, uses) : trains(*file)) return false;
    if (!file->is_compiled()) continue;
    program |= uses(main) && !is_test_file(*file);
    speaks |= std::ranges::any_of(text, uses);
  }
  return program && speaks;
}

std::vector<bool> stay_on_host(const CallGraph& graph) {
  const auto& files = graph.files();
  std::vector<uint32_t> all(files.size());
  std::iota(all.begin(), all.end(), 0u);
  if (stays_on_host(graph, all)) return std::vector<bool>(files.size(), true);
  std::vector<bool> out(files.size());
  // That is seldom so: where a program trains.
  if (std::ranges::none_of(files, [](const auto& file) { return trains_alone(*file); })) return out;
  for (const std::vector<uint32_t>& program : programs_of(graph)) {
    if (std::ranges::none_of(program, [&](uint32_t f) { return trains_alone(*files[f]); }) ||
        std::ranges::any_of(program, [&](uint32_t f) { return moves(*files[f]); }) ||
        !stays_on_host(graph, program))
      continue;
    for (const uint32_t file : program) out[file] = files[file]->language == "python";
  }
  return out;
}

bool chooses_default_device(const CallGraph& graph) {
  static const uint32_t main = name_hash("__main__");
  bool any = false;
  for (const auto& file : graph.files()) {
    if (file->language != "python" || is_test_file(*file) ||
        !std::ranges::binary_search(file->mentions, main))
      continue;
    const bool chooses = std::ranges::any_of(file->functions, [](const FunctionFacts& function) {
      return (function.flags & kSetsDevice) != 0;
    });
    if (!chooses && trains(*file)) return false;
    any |= chooses;
  }
  return any;
}

bool is_about_training(const FileFacts& file) {
  static const std::vector<uint32_t> words = {name_hash("train"), name_hash("training"),
                                              name_hash("learn"), name_hash("launch")};
  return trains(file) ||
         std::ranges::any_of(words, [&](uint32_t word) { return mentions(file.mentions, word); });
}

bool deploys(const FileFacts& file) {
  return std::ranges::any_of(file.imports, [](const auto& bound_from) {
    return is_deployment_library(first_component(bound_from.second));
  });
}

bool uses_jax(const FileFacts& file) {
  return std::ranges::any_of(file.imports, [](const auto& import) {
    return is_one_of(first_component(import.second), {"jax", "flax", "haiku", "equinox"});
  });
}

bool infers_only(const FileFacts& file) {
  if (!is_inference_path(file.path)) return false;
  return !file.is_compiled() || std::ranges::none_of(file.functions, [](const FunctionFacts& f) {
    return contains_any(f.name, {"backward", "backprop", "gradient"});
  });
}

bool reads_arguments(const FileFacts& file) {
  return std::ranges::any_of(file.imports, [](const auto& bound_from) {
    return is_one_of(first_component(bound_from.second),
                     {"argparse", "tyro", "hydra", "absl", "fire", "click", "simple_parsing"});
  });
}

bool scatters_batches(const CallGraph& graph) {
  static const uint32_t scatters = name_hash(kScattersHere);
  return std::ranges::any_of(graph.files(), [](const auto& file) {
    return mentions(file->mentions, scatters) && !is_test_file(*file);
  });
}

bool is_test_file(const FileFacts& file) {
  return is_test_path(file.path) &&
         (!is_named_for_both(file.path) || !has_steps(file) || has_cases(file));
}

}  // namespace stallscope
