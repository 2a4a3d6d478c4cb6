// Mentions: the names that a file uses, whatever for. A method that no file names is never called,
// unless a framework does so.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "source/ast.h"
#include "source/call_graph.h"

namespace stallscope {

/// What stands for a name in FileFacts::mentions.
uint32_t name_hash(std::string_view name);

/// Hashes of the names, attributes and name-like strings that a file uses, beside where it defines
/// them; sorted. A string that ends in '_' stands for the names that are put together from it.
std::vector<uint32_t> mentions_of(const Ast& ast);
/// The same of a file that is not parsed: every word in it.
std::vector<uint32_t> mentions_of(std::string_view text);

/// Whether nothing in the project can call `id`: no file names it, or only what is not called
/// itself does, and no class that it is of comes from outside, apart from torch's modules.
bool is_never_called(const CallGraph& graph, FunctionId id);

}  // namespace stallscope
