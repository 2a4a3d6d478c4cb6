// Calls that macros hide. Structure sees `SYNC();`; libclang knows that it
// expands to cudaDeviceSynchronize(), which is put beside it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "source/facts/type_facts.h"
#include "source/match/ruleset.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// Calls `each(name, what stands behind it, where that begins)` for every #define.
void for_each_macro(std::string_view text,
                    const std::function<void(std::string_view, std::string_view, size_t)>& each);

/// Macros defined in `text` whose body names a call that a rule is about.
std::vector<std::string> hiding_macros(std::string_view text, const RuleSet& rules);

/// Whether `text` uses one of `macros` beside defining it.
bool uses_any(std::string_view text, const std::vector<std::string>& macros);

/// Adds the hidden calls that a rule is about, each before the statement that uses its macro.
/// Names in them point into `types`.
void insert_hidden_calls(Ast& ast, const ClangTypes& types, const RuleSet& rules);

}  // namespace stallscope
