// Kept values: what a branch makes anew only where what was kept does not fit any more.
#pragma once

#include "source/syntax/ast.h"

namespace stallscope {

/// `if n != self.length: self.length = n ...`, and with `negated` the rest behind
/// `if n == self.length ...`: whether what `body` makes lasts until it has to differ.
bool brings_up_to_date(const Ast& ast, NodeId condition, NodeId body, bool negated);

/// Whether a branch of an `if` keeps what it makes for the next time: as above, by a method of its
/// own, or where it was missing. `negated`: the branch is the `else`.
bool keeps_value(const Ast& ast, NodeId condition, NodeId branch, bool negated);

/// Whether a branch of C++ runs the first time alone: `if (!data_) { cudaMalloc(&data_, n); ... }`,
/// `static bool made; if (!made) { made = true; ... }`.
bool runs_first_time(const Ast& ast, NodeId condition, NodeId branch, bool negated);

}  // namespace stallscope
