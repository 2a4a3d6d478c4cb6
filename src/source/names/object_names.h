// Whose method a call runs, by the name of what holds the objects.
#pragma once

#include <string>

#include "source/syntax/ast.h"

namespace stallscope {

/// "layers_" of this->layers_[i] and of what a loop takes from it, "solver" of a.solver(),
/// "metrics" of m in `for name, m in self.metrics.items()`, "net" of net.module.
std::string object_name(const Ast& ast, NodeId object);

}  // namespace stallscope
