// Origins: where what a place is about was made, if that is another line of its function: the one
// to mend.
#pragma once

#include <vector>

#include "source/match/matcher.h"

namespace stallscope {

/// What made the host tensors that the call or expression `id` is about, or what `bindings` name in
/// it: `torch.randperm(n)` of `order = torch.randperm(n)` above `x[order]`.
std::vector<NodeId> origins_of(const FileView& file, NodeId id, const Bindings& bindings);

}  // namespace stallscope
