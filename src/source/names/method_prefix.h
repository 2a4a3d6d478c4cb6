// getattr(self, "loss_" + name): methods that are called by names put together.
#pragma once

#include <string_view>

#include "source/syntax/ast.h"

namespace stallscope {

/// What the names that a call of getattr() asks `self` for begin with, if that says enough.
std::string_view method_prefix(const Ast& ast, NodeId call);

}  // namespace stallscope
