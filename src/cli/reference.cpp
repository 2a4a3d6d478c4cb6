#include "cli/reference.h"

#include "base/install_tree.h"
#include "base/temporary_folder.h"
#include "base/terminal.h"
#include "cli/run_program.h"
#include "cli/run_shape.h"

namespace stallscope {
namespace {

// What --shape names, completed by the command line, or where that lacks a size by the operators,
// which saw what ran.
Result<RunShape> shape_of_run(const Report& report, const std::string& named,
                              std::span<const std::string> inputs) {
  Result<RunShape> shape = parse_shape(named);
  if (!shape) return shape;
  const RunShape command = shape_in_command(report.run.command);
  RunShape all = *shape;
  all.insert(command.begin(), command.end());
  if (!missing_sizes(all).empty()) {
    all = *shape;
    for (const RunShape& known : {shape_in_operators(inputs), command})
      all.insert(known.begin(), known.end());
  }
  return all;
}

Error shape_not_known(const std::string& missing) {
  return Error{.message = "the shape of this run is not known: nothing tells its " + missing,
               .remedy = "name it with --shape model=bert,layers=4,hidden=768,batch=8,seq=128"};
}

// oneDNN does so from AVX-512 on.
bool multiplies_bf16() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0;
}

// What the reference can multiply in too, here; of another precision the comparison says so.
void add_precision(const Report& report, RunShape& shape) {
  const auto precision = report.environment.find("products.precision");
  if (precision != report.environment.end() &&
      (precision->second == "fp32" || (precision->second == "bf16" && multiplies_bf16())))
    shape.emplace("precision", precision->second);
}

}  // namespace

void add_reference_options(CLI::App& app, ReferenceOptions& options) {
  app.add_option("--reference", options.what,
                 "Set the reference trainer beside the run: auto trains it now, or a "
                 "reference.json that stallscope bench wrote")
      ->type_name("auto|FILE|off")
      ->capture_default_str();
  app.add_option(
         "--shape", options.shape,
         "The run's shape, e.g. model=bert,layers=4,hidden=768,batch=8,seq=128,precision=bf16 "
         "(what it leaves out: from the run's command line, or from its operators where their "
         "shapes were recorded)")
      ->type_name("KEY=VALUE,...");
}

Status add_reference(Report& report, const ReferenceOptions& options,
                     std::span<const std::string> inputs) {
  if (options.what == "off") return ok_status();
  RunShape shape;
  if (std::string why = gpu_refusal(report); why.empty()) {
    Result<RunShape> known = shape_of_run(report, options.shape, inputs);
    if (!known) return known.error();
    shape = std::move(*known);
  } else if (options.what == "auto") {
    report.reference = {.source = "auto", .description = "not trained", .refused = std::move(why)};
    return ok_status();
  }
  auto compare = [&](const std::string& file) -> Status {
    Result<ReferenceComparison> it = compare_with_reference(report, shape, file);
    if (!it) return it.error();
    report.reference = std::move(*it);
    return ok_status();
  };
  if (options.what != "auto") return compare(options.what);

  if (const std::string missing = missing_sizes(shape); !missing.empty())
    return shape_not_known(missing);
  add_precision(report, shape);
  const TemporaryFolder scratch("reference");
  const std::string& folder = scratch.path();
  if (folder.empty()) return Error{.message = "no temporary folder can be made"};
  std::vector<std::string> words{executable_path(), "bench", "-o", folder + "/run"};
  for (std::string& word : bench_options_of(shape)) words.push_back(std::move(word));
  const std::string text = shape_text(shape);
  print_message("training the reference: " + text);
  if (run_program(words, ProgramOutput::errors_only) != 0)
    return Error{.message = "the reference could not be trained at " + text};
  const Status status = compare(folder + "/run/reference.json");
  if (status && report.reference) report.reference->source = "stallscope bench, " + text;
  return status;
}

}  // namespace stallscope
