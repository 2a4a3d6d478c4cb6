#include "report/annotated.h"

#include <algorithm>
#include <charconv>

namespace stallscope {
namespace {

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(", ", begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return names;
}

}  // namespace

std::optional<Annotated> annotated_of(const std::map<std::string, std::string>& environment) {
  const auto text = [&](const char* name) {
    const auto found = environment.find(std::string(kAnnotatedPrefix) + name);
    return found == environment.end() ? std::string() : found->second;
  };
  const auto number = [&](const char* name) {
    const std::string digits = text(name);
    uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
  };
  if (text("calls").empty()) return std::nullopt;
  Annotated annotated;
  annotated.marked = split(text("marked"));
  annotated.left_out = split(text("left_out"));
  annotated.calls = number("calls");
  annotated.own_ns = static_cast<double>(number("own_us")) * 1000;
  return annotated;
}

}  // namespace stallscope
