// Named values: what a file gives names, wherever it stands: defaults, arguments, keys, options of
// a command line. They tell whether anything in a project turns an option on.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "source/facts/facts.h"
#include "source/guards/switches.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// How a text writes values: Python has annotations and names of other values, YAML, JSON and shell
/// scripts have bare words, documents show command lines.
enum class Notation : uint8_t { python, settings, document };

/// An assignment that runs only where an option is on: `if args.ema: self.ema = Average(net)`.
struct ConditionalName {
  uint32_t at = 0;      ///< first byte of the name that is assigned
  uint32_t option = 0;  ///< as NamedValue::name
};

/// Those of a file, in order.
std::vector<ConditionalName> conditional_names(const Ast& ast, const Switches& switches);

/// Appends what `text` gives names: `fuse=True`, `"fuse": true`, `fuse: bool = False`,
/// `add_argument("--fuse", action="store_true")`, `cfg.get("fuse", False)`, `--fuse`. Comments and
/// documentation count too: what they show is turned on somewhere.
void add_named_values(std::string_view text, Notation notation, std::vector<NamedValue>& out,
                      std::span<const ConditionalName> conditional = {});

/// Appends the names that code binds otherwise, as `NamedValue::Kind::other`: in loops, by parts of
/// tuples, as functions.
void add_bound_names(const Ast& ast, std::vector<NamedValue>& out);

/// Sorts them and leaves each once; of a name that may be anything, that alone.
void keep_once(std::vector<NamedValue>& values);

}  // namespace stallscope
