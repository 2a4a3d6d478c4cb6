// `stallscope bench`: the reference trainer at a shape, recorded like any program.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/install_tree.h"
#include "base/units.h"
#include "cli/command.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct BenchFlags {
  std::string model = "gpt", precision = "fp32", format = "text", output;
  uint64_t layers = 4, hidden = 768, heads = 0, batch = 8, sequence = 128, vocabulary = 0,
           ranks = 1, steps = 8;
};

int cannot(const std::string& message) {
  std::fprintf(stderr, "stallscope: %s\n", message.c_str());
  return kExitCannot;
}

// The exit code of a program whose output goes to stderr, so that stdout holds the result alone.
int run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execv(arguments[0], arguments.data());
    _exit(kExitCannot);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) < 0) return kExitCannot;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<std::string> trainer_command(const fs::path& trainer, const BenchFlags& flags) {
  std::vector<std::string> words{trainer.string(), "--model", flags.model};
  auto add = [&](const char* name, uint64_t value) {
    if (value != 0) words.insert(words.end(), {name, std::to_string(value)});
  };
  add("--layers", flags.layers);
  add("--hidden", flags.hidden);
  add("--heads", flags.heads);
  add("--batch", flags.batch);
  add("--seq", flags.sequence);
  add("--vocabulary", flags.vocabulary);
  add("--tp", flags.ranks);
  add("--steps", flags.steps);
  return words;
}

Json result_of(const Json& report, const BenchFlags& flags) {
  const Json& step = report["summary"]["stepTimeNs"];
  const double median = step.is_object() ? step["median"].get<double>() : 0;
  const double tokens = static_cast<double>(flags.batch * flags.sequence);
  Json breakdown;
  if (!report["ranks"].empty()) breakdown = report["ranks"][0]["breakdown"];
  return {{"schemaVersion", "1.0"},
          {"model", flags.model},
          {"layers", flags.layers},
          {"hidden", flags.hidden},
          {"batch", flags.batch},
          {"sequence", flags.sequence},
          {"tensorParallel", flags.ranks},
          {"precision", flags.precision},
          {"steps", flags.steps},
          {"stepsUsed", report["summary"]["stepsUsed"]},
          {"stepTimeNs", step},
          {"tokensPerSecond", median > 0 ? Json(tokens / (median / 1e9)) : Json()},
          {"breakdown", breakdown}};
}

void print_text(const Json& result) {
  const Json& step = result["stepTimeNs"];
  if (!step.is_object()) return;
  std::printf("%s per step (%s to %s), %.0f tokens/s\n",
              format_duration(step["median"].get<double>()).c_str(),
              format_duration(step["low"].get<double>()).c_str(),
              format_duration(step["high"].get<double>()).c_str(),
              result["tokensPerSecond"].get<double>());
  for (const Json& row : result["breakdown"])
    std::printf("  %-24s %8s\n", row["class"].get<std::string>().c_str(),
                format_fraction(row["fraction"].get<double>()).c_str());
}

int bench(const BenchFlags& flags) {
  if (flags.precision != "fp32")
    return cannot("precision " + flags.precision + " is not available: use --precision fp32");
  const std::string tool = executable_path();
  const fs::path trainer = fs::path(tool).parent_path() / "stallscope-trainer";
  if (!fs::exists(trainer)) return cannot("the trainer is missing: " + trainer.string());

  std::string folder = flags.output;
  const bool temporary = folder.empty();
  if (temporary) {
    folder = (fs::temp_directory_path() / "stallscope-bench-XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) return cannot("no temporary folder can be made");
  }
  std::vector<std::string> words{tool, "run", "-q", "--force", "-o", folder, "--"};
  for (const std::string& word : trainer_command(trainer, flags)) words.push_back(word);
  int code = run_program(words);
  if (code == kExitClean) {
    std::ifstream file(fs::path(folder) / "report.json");
    const Json report = Json::parse(file, nullptr, false);
    if (report.is_discarded()) {
      code = cannot("the recording gave no report");
    } else {
      const Json result = result_of(report, flags);
      if (flags.format == "json") {
        std::printf("%s\n", result.dump(2).c_str());
      } else {
        print_text(result);
      }
    }
  }
  std::error_code ignored;
  if (temporary) fs::remove_all(folder, ignored);
  return code;
}

const RegisterCommand registration({
    .name = "bench",
    .summary = "Train a model of a given shape with the reference trainer, recorded",
    .examples = "stallscope bench --model gpt --layers 4 --hidden 768 --batch 8 --seq 128\n"
                "stallscope bench --model bert --tp 2 --format json",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto flags = std::make_shared<BenchFlags>();
      app.add_option("--model", flags->model, "gpt, bert or clt")
          ->check(CLI::IsMember({"gpt", "bert", "clt"}));
      const auto positive = CLI::Range(uint64_t{1}, uint64_t{1} << 32);
      app.add_option("--layers", flags->layers, "Layers")->check(positive);
      app.add_option("--hidden", flags->hidden, "Width of the residual stream")->check(positive);
      app.add_option("--heads", flags->heads, "Attention heads (default: hidden / 64)")
          ->check(positive);
      app.add_option("--batch", flags->batch, "Sequences per step")->check(positive);
      app.add_option("--seq", flags->sequence, "Tokens per sequence")->check(positive);
      app.add_option("--vocabulary", flags->vocabulary, "Vocabulary (default: the model's own)")
          ->check(positive);
      app.add_option("--tp", flags->ranks, "Tensor-parallel ranks")->check(positive);
      app.add_option("--precision", flags->precision, "fp32")
          ->check(CLI::IsMember({"fp32", "bf16"}));
      app.add_option("--steps", flags->steps, "Steps to train")->check(positive);
      app.add_option("--format", flags->format, "text or json")
          ->check(CLI::IsMember({"text", "json"}));
      app.add_option("-o,--output", flags->output, "Keep the recording and its report here");
      return [flags] { return bench(*flags); };
    },
});

}  // namespace
}  // namespace stallscope
