// From tree-sitter's concrete trees to the Ast.
#pragma once

#include <span>

#include "source/syntax/ast.h"
#include "source/syntax/syntax_nodes.h"

namespace stallscope {

/// Adds the statements of `trees`, one behind the other, to an `ast` without nodes, of which the
/// grammar and the source that the trees were made of are set. Without trees nothing is added.
void convert_trees(std::span<const TSTree* const> trees, Ast& ast);

}  // namespace stallscope
