// Named values: what a file gives names, wherever it stands: defaults, arguments, keys, options of
// a command line. They tell whether anything in a project turns an option on.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "source/extract/conditional_names.h"
#include "source/facts/facts.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// How a text writes values: Python has annotations and names of other values, YAML, JSON and shell
/// scripts have bare words, documents show command lines.
enum class Notation : uint8_t { python, settings, document };

/// Appends what `text` gives names: `fuse=True`, `"fuse": true`, `fuse: bool = False`,
/// `add_argument("--fuse", action="store_true")`, `cfg.get("fuse", False)`, `--fuse`. Comments and
/// documentation count too: what they show is turned on somewhere. What `conditional` names has a
/// value only with the option that it waits for.
void add_named_values(std::string_view text, Notation notation, std::vector<NamedValue>& out,
                      std::span<const ConditionalName> conditional = {});

/// Appends the names that code binds otherwise, as `NamedValue::Kind::other`: in loops, by parts of
/// tuples, as functions.
void add_bound_names(const Ast& ast, std::vector<NamedValue>& out);

/// Sorts them and leaves each once; of a name that may be anything, that alone.
void keep_once(std::vector<NamedValue>& values);

}  // namespace stallscope
