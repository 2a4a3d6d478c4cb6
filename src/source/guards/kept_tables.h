// Kept tables: what is made for a key that a table does not have yet.
#pragma once

#include "source/syntax/ast.h"

namespace stallscope {

/// `if key not in table: table[key] = make()`, and in C++ `if (it == table.end())` or
/// `if (!table.count(key))`: whether `branch` makes what a table that outlives the call lacks, once
/// for each key. `negated`: the branch runs where the condition does not hold; what stands behind
/// `if key in table: return table[key]` is such a branch too.
bool fills_table(const Ast& ast, NodeId condition, NodeId branch, bool negated);

}  // namespace stallscope
