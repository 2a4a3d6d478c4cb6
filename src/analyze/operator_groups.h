// What kind of work a kernel does, by its name and the operator that launched it:
// the rows in which one trainer's step is compared with another's.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stallscope {

enum class OperatorGroup : uint8_t {
  product,    ///< matrix products and what prepares their operands
  attention,  ///< scores, softmax and their products, where one kernel does them
  norm,       ///< normalisation, activation, residual and other element-wise work
  loss,       ///< softmax and loss over the vocabulary
  optimizer,
  embedding,
  unmatched,  ///< none of these by its name
};
inline constexpr size_t kOperatorGroups = 7;

/// "matrix products", "attention", ...
std::string_view to_string(OperatorGroup group);

/// The group of a kernel named `kernel`, launched by the operator `op` (may be empty).
OperatorGroup operator_group(std::string_view kernel, std::string_view op);

}  // namespace stallscope
