#include "source/link/purpose.h"

#include <algorithm>
#include <array>
#include <vector>

#include "source/names/mentions.h"
#include "source/names/roles.h"

namespace stallscope {
namespace {

constexpr std::array<std::string_view, 30> kTraining = {"backward",
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
                                                        "requires_grad_",
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

/// What is imported from a library is not mentioned; what is done with it has one of these names.
bool trains(const FileFacts& file) {
  constexpr uint32_t kSteps = kStepEvidence | kEntryPoint | kHook;
  if (std::ranges::any_of(file.functions,
                          [](const FunctionFacts& f) { return (f.flags & kSteps) != 0; }))
    return true;
  static const std::vector<uint32_t> words = [] {
    std::vector<uint32_t> out;
    for (const std::string_view word : kTraining) out.push_back(name_hash(word));
    return out;
  }();
  return std::ranges::any_of(words, [&](uint32_t word) { return mentions(file.mentions, word); });
}

/// Whether a function is decorated with torch.no_grad() or torch.inference_mode().
bool predicts(const FileFacts& file) {
  return !is_test_path(file.path) &&
         std::ranges::any_of(file.functions, [](const FunctionFacts& function) {
           return (function.flags & kWithoutGrad) != 0;
         });
}

}  // namespace

bool only_infers(const CallGraph& graph) {
  const auto& files = graph.files();
  return std::ranges::none_of(
             files, [](const auto& file) { return file->is_compiled() || trains(*file); }) &&
         std::ranges::any_of(files, [](const auto& file) { return predicts(*file); });
}

bool scatters_batches(const CallGraph& graph) {
  static const uint32_t scatters = name_hash(kScatters);
  return std::ranges::any_of(graph.files(),
                             [](const auto& file) { return mentions(file->mentions, scatters); });
}

}  // namespace stallscope
