// Assignments that only run where an option is on: they turn nothing on by themselves.
#pragma once

#include <cstdint>
#include <vector>

#include "source/guards/switches.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// An assignment that runs only where an option is on: `if args.ema: self.ema = Average(net)`.
struct ConditionalName {
  uint32_t at = 0;      ///< first byte of the name that is assigned
  uint32_t option = 0;  ///< as NamedValue::name
};

/// Those of a file, in order.
std::vector<ConditionalName> conditional_names(const Ast& ast, const Switches& switches);

}  // namespace stallscope
