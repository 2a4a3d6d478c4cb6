#include "trace/slowdown_reasons.h"

#include <utility>

namespace stallscope {

std::string slowdown_reasons(uint64_t bits) {
  constexpr std::pair<uint64_t, const char*> kReasons[] = {{0x4, "power cap"},
                                                           {0x8, "hardware slowdown"},
                                                           {0x10, "clocks of a sync group"},
                                                           {0x20, "thermal slowdown"},
                                                           {0x40, "hardware thermal slowdown"},
                                                           {0x80, "power brake"}};
  std::string text;
  for (const auto& [bit, name] : kReasons)
    if ((bits & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace stallscope
