// Outline: the functions, classes and loops of one file, and which of them
// holds each node.
#pragma once

#include <vector>

#include "source/facts/facts.h"
#include "source/names/names.h"
#include "source/syntax/ast.h"

namespace stallscope {

struct Outline {
  std::vector<NodeId> functions;      ///< node of FileFacts::functions[i]; 0 = the module
  std::vector<NodeId> classes;        ///< node of FileFacts::classes[i]
  std::vector<NodeId> loops;          ///< node of FileFacts::loops[i]
  std::vector<uint32_t> function_of;  ///< per node
  std::vector<uint32_t> loop_of;      ///< per node: innermost loop whose body holds it, or kNone
  std::vector<uint32_t> class_of;     ///< per function: index of its class, or kNone
};

/// Fills functions, classes and loops of `facts`.
Outline outline_of(const Ast& ast, const Names& names, FileFacts& facts);

}  // namespace stallscope
