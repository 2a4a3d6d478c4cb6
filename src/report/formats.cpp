// The registry that formats enter by existing.
#include <algorithm>

#include "report/report.h"

namespace stallscope {
namespace {

std::vector<Format>& registry() {
  static std::vector<Format> formats;
  return formats;
}

}  // namespace

RegisterFormat::RegisterFormat(const Format& format) {
  registry().push_back(format);
}

const Format* find_format(std::string_view name) {
  for (const Format& format : registry())
    if (format.name == name) return &format;
  return nullptr;
}

std::vector<Format> formats() {
  std::vector<Format> sorted = registry();
  std::ranges::sort(sorted, {}, &Format::name);
  return sorted;
}

}  // namespace stallscope
