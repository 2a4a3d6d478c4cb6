// The registry that formats enter by existing.
#include <algorithm>

#include "report/report.h"

namespace stallscope {
namespace {

std::vector<Format>& format_registry() {
  static std::vector<Format> formats;
  return formats;
}

}  // namespace

RegisterFormat::RegisterFormat(const Format& format) {
  format_registry().push_back(format);
}

const Format* find_format(std::string_view name) {
  for (const Format& format : format_registry())
    if (format.name == name) return &format;
  return nullptr;
}

std::vector<Format> formats() {
  std::vector<Format> sorted = format_registry();
  std::ranges::sort(sorted, {}, &Format::name);
  return sorted;
}

}  // namespace stallscope
