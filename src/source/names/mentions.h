// Mentions: the names that a file uses, whatever for. What no file names is never called, unless a
// framework does so.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "source/facts/facts.h"
#include "source/names/names.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// What stands in FileFacts::mentions for a name that may be a function's, a class's or a module's:
/// `update`, `engine.update`, "update".
uint32_t name_hash(std::string_view name);
/// And for one that may be a method's: `self.update`, `engine.update`, "update".
constexpr uint32_t as_method(uint32_t name) {
  return name ^ 0x9e3779b9u;
}
/// And for one that a package offers to others: imported by its `__init__.py`, named in `__all__`.
constexpr uint32_t as_export(uint32_t name) {
  return name ^ 0x85ebca6bu;
}
/// Whether a file uses a name in any way.
bool mentions(const std::vector<uint32_t>& mentioned, uint32_t name);
/// What hands each of its copies of a model a part of the batch, on the copy's device.
inline constexpr std::string_view kScatters = "DataParallel";
/// What stands in mentions where it is called or gets another name: isinstance(m, DataParallel)
/// asks.
inline constexpr std::string_view kScattersHere = "DataParallel()";

/// What stands in mentions for all of a module's functions.
uint32_t all_of_module(std::string_view name);

/// One of 64 bits for a name: a set of names in a word, where a chance hit does no harm.
inline uint64_t name_bit(std::string_view name) {
  return uint64_t{1} << (name_hash(name) % 64);
}

/// What stands for an option's name: cfg.LOSS.TYPE may be read as config["type"].
uint32_t option_hash(std::string_view name);

/// What stands for a literal, whichever quotes a text has, and whether a number has a point.
uint32_t literal_hash(std::string_view literal);

/// Hashes of the names, attributes and name-like strings that a file uses, beside where it defines
/// them; sorted. A string that ends in '_' stands for the names that are put together from it.
/// What a class calls itself is none, nor what a file imports and does not use or names in its own
/// tests only; what a package's file imports is an export. Fills ClassFacts::users.
std::vector<uint32_t> mentions_of(const Ast& ast, const Names& names, bool package,
                                  std::vector<ClassFacts>& classes);
/// The same of a file that is not parsed: every word in it.
std::vector<uint32_t> mentions_of(std::string_view text);

}  // namespace stallscope
