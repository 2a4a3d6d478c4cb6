// Functions of C++ that a file offers to Python.
#pragma once

#include <string>
#include <vector>

#include "source/syntax/ast.h"

namespace stallscope {

/// m.def("forward", &forward<float>), m.impl("forward", TORCH_FN(forward)): adds the names of what
/// Python calls by `call`, if it is such a call, to `bound`.
void add_bound(const Ast& ast, NodeId call, std::vector<std::string>& bound);

}  // namespace stallscope
