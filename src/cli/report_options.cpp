#include "cli/report_options.h"

#include <filesystem>

#include "base/terminal.h"

namespace stallscope {

void add_pipeline_options(CLI::App& app, PipelineOptions& options) {
  app.add_option("--step-range", options.analyze.step_range,
                 "Name of the range that is one step (default: found by itself)")
      ->type_name("NAME");
  app.add_option("--ranks", options.ranks, "Only these ranks, e.g. 0,3")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--source", options.source.what,
                 "Source to analyse with the run: auto (the program's own), off, or a folder")
      ->type_name("auto|off|DIR")
      ->capture_default_str();
  app.add_option_function<std::vector<std::string>>(
         "--path-map",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const size_t sign = text.find('=');
             if (sign == 0 || sign == std::string::npos)
               throw CLI::ValidationError("--path-map", "'" + text + "' is no OLD=NEW");
             options.source.path_map.emplace_back(text.substr(0, sign), text.substr(sign + 1));
           }
         },
         "Folder of the run's paths and what it is here, e.g. /workspace=. (repeatable)")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
  app.add_option("--libclang", options.source.libclang,
                 "Types of the C++ that ran or may stall, in at most " +
                     std::to_string(kMostTimeForTypes.count()) +
                     " s: auto, off or the library's path")
      ->type_name("auto|off|PATH")
      ->capture_default_str();
  app.add_option("--rules", options.rule_folders, "Further folder of rule files (repeatable)")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("--max-inflated", options.max_inflated_bytes,
                 "Refuse traces that inflate beyond this, e.g. 200GB (default 64GB)")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(false));
}

void print_where(const std::string& folder) {
  std::error_code error;
  const std::string html =
      std::filesystem::weakly_canonical(folder + "/report.html", error).string();
  print_message("report: " + html + "  (open it in a browser: xdg-open " + folder +
                "/report.html)");
}

}  // namespace stallscope
