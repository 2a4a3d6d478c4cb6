// Lints folders of a project without a cache: what cmake/ProfiledSource.cmake counts.
#include <cstdio>
#include <string>
#include <vector>

#include "cli/source_analysis.h"
#include "rule/load.h"

int main(int argc, char** argv) {
  using namespace stallscope;
  const auto rules = load_bundled_rules();
  if (!rules) return std::fprintf(stderr, "train_lint: %s\n", rules.error().message.c_str()), 1;
  for (const std::string& folder : std::vector<std::string>(argv + 1, argv + argc)) {
    SourceAnalysisOptions options;
    options.project.root = folder;
    options.cache = SourceCache::none;
    options.libclang = "off";
    const auto source = analyze_source({folder}, rules.value(), options);
    if (!source) return std::fprintf(stderr, "train_lint: %s\n", source.error().message.c_str()), 1;
    std::printf("train_lint: %s: %zu facts\n", folder.c_str(), source->facts.size());
  }
}
