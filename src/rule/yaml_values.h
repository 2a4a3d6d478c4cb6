// Values of YAML that take several lines: block scalars, and others that go on in deeper lines.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stallscope {

struct YamlValue {
  uint32_t first_line = 0, last_line = 0;  ///< 1-based; the first is that of its key or dash
  bool block = false;                      ///< | or >: what stands in it is text
};

/// The values of more than one line, in order. Judged by indents alone: broken text gives what can
/// be seen.
std::vector<YamlValue> yaml_values(std::string_view text);

}  // namespace stallscope
