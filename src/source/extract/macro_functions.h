// Macros of C++ that wait: `#define CHECK_SYNC() check(cudaDeviceSynchronize())`. To the link such
// a macro is a short function that its users answer for.
#pragma once

#include <string_view>

#include "source/facts/facts.h"
#include "source/match/ruleset.h"

namespace stallscope {

/// Whether a macro, or a call of one, may wait by its name: CHECK_SYNC, cudaCheckError,
/// KERNEL_CALL.
bool may_be_waiting_macro(std::string_view name);

/// Adds the macros that `text` defines under such names to the functions of its file, and to its
/// candidates what those wait for that do so whatever was asked for when the program was built.
void add_macro_functions(std::string_view text, const RuleSet& rules, uint32_t languages,
                         FileFacts& facts);

}  // namespace stallscope
