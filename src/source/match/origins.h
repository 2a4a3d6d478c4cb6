// Origins: what a place is about beside its own line: where what it needs was made, which is to be
// mended, and where the expression or the statement that it stands in begins.
#pragma once

#include <vector>

#include "source/match/matcher.h"

namespace stallscope {

/// What made the host tensors that the call or expression `id` is about, or what `bindings` name in
/// it: `torch.randperm(n)` of `order = torch.randperm(n)` above `x[order]`.
std::vector<NodeId> origins_of(const FileView& file, NodeId id, const Bindings& bindings);

/// The last line of a call's callee, where newer Pythons report the call; else the first line.
uint32_t anchor_of(const Ast& ast, NodeId id);

/// Notes the lines of `nodes` as what a candidate is about beside its own.
void add_lines(const Ast& ast, const std::vector<NodeId>& nodes, Candidate& to);

/// The line of the statement that formats a value of a text over several lines, or 0:
/// print(
///     f"{loss}")
uint32_t line_of_printing(const Ast& ast, NodeId id);

/// The outermost expression of x.a().b(): one host block is one finding.
NodeId chain_of(const Ast& ast, NodeId id);

}  // namespace stallscope
