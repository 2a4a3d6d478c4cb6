// Whose method a call of C++ runs, by the name of what holds the objects.
#pragma once

#include <string>

#include "source/syntax/ast.h"

namespace stallscope {

/// "layers_" of this->layers_[i] and of what a loop takes from it, "solver" of a.solver().
std::string object_name(const Ast& ast, NodeId object);

}  // namespace stallscope
