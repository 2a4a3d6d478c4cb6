// What the path of a file tells about it.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

/// inference of inferencev2, data of data3
std::string_view without_version(std::string_view word) {
  const size_t digits = word.find_last_not_of("0123456789") + 1;
  if (digits == word.size() || digits == 0) return word;
  return word.substr(0, word[digits - 1] == 'v' ? digits - 1 : digits);
}

/// Whether a folder of `path`, or its file without the ending, has one of the words.
template <size_t N>
bool path_has_word(std::string_view path, const std::array<std::string_view, N>& words) {
  const size_t dot = path.rfind('.'), slash = path.rfind('/');
  const bool ending = dot != path.npos && (slash == path.npos || dot > slash);
  const std::string text = lower(ending ? path.substr(0, dot) : path);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of("/_-.", at), text.size());
    if (std::ranges::find(words, without_version(std::string_view(text).substr(at, end - at))) !=
        words.end())
      return true;
    at = end + 1;
  }
  return false;
}

/// Shows, serves, converts or prepares data: no part of training, nor of evaluation in it.
constexpr std::array<std::string_view, 72> kBesideWords = {
    "play",       "calculator",  "calculators",   "translate",  "beam",          "infer",
    "serve",      "viewer",      "hub",           "vis",        "viz",           "visualization",
    "visualizer", "visualizers", "visualize",     "plot",       "plots",         "plotting",
    "plotter",    "demo",        "demos",         "tokenizer",  "tokenizers",    "tokenization",
    "dataset",    "datasets",    "data",          "dataloader", "dataloading",   "processor",
    "processing", "sampler",     "samplers",      "preprocess", "preprocessing", "convert",
    "converter",  "converters",  "conversion",    "export",     "exporters",     "onnx",
    "inference",  "generate",    "generation",    "cli",        "deploy",        "deployment",
    "serving",    "server",      "api",           "webui",      "gui",           "app",
    "gradio",     "serialize",   "serialization", "notebooks",  "docs",          "install",
    "setup",      "download",    "debug",         "tutorials",  "postprocess",   "postprocessing",
    "merge",      "tensorrt",    "pipeline",      "pipelines",  "trt",           "openvino"};
/// Of these, where batches are made and moved.
constexpr std::array<std::string_view, 10> kDataWords = {
    "dataset", "datasets",  "data",       "dataloader", "dataloading",
    "sampler", "processor", "processing", "preprocess", "preprocessing"};
/// Of these, what is made of a trained model's output.
constexpr std::array<std::string_view, 16> kInferenceWords = {
    "inference",  "postprocess", "postprocessing", "preprocessing", "deployment",
    "serve",      "serving",     "tensorrt",       "onnx",          "scoring",
    "evaluation", "evaluator",   "evaluators",     "evals",         "trt",
    "openvino"};
constexpr std::array<std::string_view, 11> kAfterWords = {
    "checkpoint", "checkpoints", "checkpointing", "eval",    "evals",  "evaluation",
    "evaluators", "evaluator",   "commands",      "scripts", "predict"};

}  // namespace

bool is_batch_mover(std::string_view path, std::string_view function) {
  return is_data_path(path) && moves_data(function);
}

bool is_beside_path(std::string_view path) {
  // vis_head.py, data_loss.py: what it is a part of says more than what it is about.
  const size_t name = path.rfind('/') + 1;
  const std::string_view file = path.substr(name, path.rfind('.') - name);
  const std::string_view part = file.substr(file.rfind('_') + 1);
  if (part.size() < file.size() &&
      is_one_of(part, {"head", "heads", "loss", "losses", "layer", "layers", "backbone", "net"}))
    path = path.substr(0, name);
  // {{cookiecutter.name}}/model.py: a template of a project.
  return path_has_word(path, kBesideWords) || path.ends_with("/sampling.py") ||
         path.find("{{") != std::string_view::npos;
}

bool is_transform_path(std::string_view path) {
  constexpr std::array<std::string_view, 4> kWords = {"transform", "transforms", "augmentation",
                                                      "augmentations"};
  // layers/transform/reshape.cu: transforms of a model
  const size_t name = path.rfind('/') + 1;
  const size_t folder = name < 2 ? 0 : path.rfind('/', name - 2) + 1;
  return path_has_word(path.substr(path.ends_with(".py") ? folder : name), kWords);
}

bool is_spare_path(std::string_view path) {
  const std::string text = lower(path.substr(0, path.rfind('.')));
  const size_t name = text.rfind('/') + 1;
  const std::string_view folders = std::string_view(text).substr(0, name);
  const std::string_view stem = std::string_view(text).substr(name);
  constexpr std::array<std::string_view, 5> kFolders = {"deprecated", "obsolete", "backup",
                                                        "unused", "legacy"};
  constexpr std::array<std::string_view, 5> kEndings = {"_copy", "_old", "_bak", "_backup",
                                                        "_deprecated"};
  return contains_any(stem, {" copy", "(copy", "(old"}) ||
         std::ranges::any_of(kEndings, [&](auto ending) { return stem.ends_with(ending); }) ||
         path_has_word(folders, kFolders);
}

bool is_storage_path(std::string_view path) {
  constexpr std::array<std::string_view, 4> kWords = {"io", "save", "serialize", "serialization"};
  return path_has_word(path, kWords);
}

bool is_inference_path(std::string_view path) {
  return path_has_word(path, kInferenceWords);
}

bool is_for_trained_model(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return path.starts_with("inference/") || path.find("/inference/") != std::string_view::npos ||
         is_one_of(file, {"export.py", "decode.py"});
}

bool is_data_path(std::string_view path) {
  return path_has_word(path, kDataWords);
}

bool is_host_side_path(std::string_view path) {
  return is_beside_path(path) || path_has_word(path, kAfterWords);
}

bool is_evaluation_script(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  // data of people who play
  if (file.starts_with("play_data")) return false;
  // generate_distances.cu makes something else
  if (starts_with_any(file, {"generate_", "reconstruct."}) && !file.ends_with(".py") &&
      !file.ends_with(".ipynb"))
    return false;
  return starts_with_any(file, {"eval.", "eval_", "evaluate.", "evaluate_", "infer.", "inference.",
                                "infer_", "inference_", "predict.", "predict_", "demo.", "gen_img",
                                "generate.", "generate_", "reconstruct.", "play.", "play_"});
}

bool is_evaluation_place(std::string_view path) {
  const std::string_view folder = path.substr(0, path.rfind('/') + 1);
  return is_evaluation_script(path) ||
         contains_any("/" + std::string(folder),
                      {"/eval/", "/evaluation/", "/evaluations/", "/analysis/"});
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
  const std::string_view file = std::string_view(text).substr(text.rfind('/') + 1);
  // run_infer_ddp.sh
  const bool evaluates =
      has_word(file.substr(0, file.find('.')),
               {"eval", "evaluate", "infer", "inference", "predict", "generate", "demo"}) &&
      !contains_any(file, {"train", "tune"});
  return evaluates || path.starts_with('.') || is_test_path(path) ||
         contains_any(text, {"debug", "test", "ci/", "bench", "profil"});
}

bool is_test_macro(std::string_view name) {
  return is_one_of(name, {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TEST_CASE", "SCENARIO",
                          "DOCTEST_TEST_CASE", "TEST_CASE_FIXTURE", "TEST_CASE_TEMPLATE",
                          "BOOST_AUTO_TEST_CASE", "BENCHMARK", "BENCHMARK_F"});
}

namespace {

/// benchmark/ppo/train.py, benchmark/trainer/loop.py, debug/train.py: programs that train.
bool trains_by_path(std::string_view below) {
  const std::string_view file = below.substr(below.rfind('/') + 1);
  if (contains_any(file, {"bench", "profil", "timing", "speed"})) return false;
  for (size_t at = 0; at < below.size(); at = std::min(below.find('/', at), below.size() - 1) + 1) {
    if (below.substr(at).starts_with("train")) return true;
  }
  return false;
}

/// clientTest.cpp, MatrixTests.cu
bool ends_as_test(std::string_view stem) {
  if (stem.ends_with("Tests")) stem.remove_suffix(1);
  if (!stem.ends_with("Test") || stem.size() == 4) return false;
  const char before = stem[stem.size() - 5];
  return before >= 'a' && before <= 'z';
}

}  // namespace

bool is_test_path(std::string_view path) {
  for (size_t at = 0; at <= path.size();) {
    size_t end = std::min(path.find('/', at), path.size());
    std::string_view part = path.substr(at, end - at);
    bool last = end == path.size();
    std::string_view stem = part.substr(0, part.rfind('.'));
    while (!stem.empty() && std::isdigit(static_cast<unsigned char>(stem.back())) != 0)
      stem.remove_suffix(1);  // test1.cpp
    if (last && has_word(stem, {"test", "tests", "unittest", "benchmark", "bench", "smoke",
                                "assert", "canary", "parity", "selftest", "gradcheck", "testing"}))
      return true;
    if (last && ends_as_test(stem)) return true;
    if (!last && is_one_of(part, {"test", "tests", "testing", "unittests", "unit_tests", "docs"}))
      return true;
    if (!last &&
        is_one_of(part,
                  {"benchmark", "benchmarks", "debug", "diagnostics", "profiler", "profiling"}) &&
        !trains_by_path(path.substr(end + 1)))
      return true;
    const bool camel =
        part.starts_with("test") && part.size() > 4 && part[4] >= 'A' && part[4] <= 'Z';
    if (last && (camel || part.starts_with("test_") || part.starts_with("check_") ||
                 part.starts_with("bench_") || part.starts_with("benchmark_") ||
                 part.find("_test.") != std::string_view::npos || part == "conftest.py" ||
                 part == "bench.py" || part == "benchmark.py" || part == "profile.py" ||
                 part.starts_with("profile_"))) {
      return true;
    }
    at = end + 1;
  }
  return false;
}

}  // namespace stallscope
