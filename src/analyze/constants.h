// Constants: which kernels build, from nothing, what every step needs again.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "analyze/places.h"

namespace stallscope {

/// What a kernel has to do with a constant.
struct ConstantPart {
  std::string_view built;  ///< "triu", "arange", "fill" ...; empty when it builds none
  /// Element-wise mathematics of one operand: on a line that builds a constant, part of building
  /// it.
  bool derived = false;
};

/// How much a name says about what a line builds: a mask is made of a fill and a triangle, a table
/// of an arange and its powers. Lower is more telling.
size_t constant_rank(std::string_view built);

/// Looks kernels up by name and by the operators of their site, each one once.
class ConstantNames {
 public:
  ConstantPart of(std::string_view kernel, StringId kernel_id, const Site& site, SiteId site_id);

 private:
  std::unordered_map<uint32_t, ConstantPart> by_name_, by_site_;
};

}  // namespace stallscope
