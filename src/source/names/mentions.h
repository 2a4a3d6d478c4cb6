// Mentions: the names that a file uses, whatever for. What no file names is never called, unless a
// framework does so.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "source/names/names.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// What stands for a name in FileFacts::mentions.
uint32_t name_hash(std::string_view name);
/// What hands each of its copies of a model a part of the batch, on the copy's device.
inline constexpr std::string_view kScatters = "DataParallel";

/// What stands in mentions for all of a module's functions.
uint32_t all_of_module(std::string_view name);

/// One of 64 bits for a name: a set of names in a word, where a chance hit does no harm.
inline uint64_t name_bit(std::string_view name) {
  return uint64_t{1} << (name_hash(name) % 64);
}

/// What stands for a literal, whichever quotes a text has.
uint32_t literal_hash(std::string_view literal);

/// Hashes of the names, attributes and name-like strings that a file uses, beside where it defines
/// them; sorted. A string that ends in '_' stands for the names that are put together from it.
std::vector<uint32_t> mentions_of(const Ast& ast, const Names& names);
/// The same of a file that is not parsed: every word in it.
std::vector<uint32_t> mentions_of(std::string_view text);

}  // namespace stallscope
