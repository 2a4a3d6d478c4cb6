// Whose a profile is that a program saved of itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace stallscope {

/// Ranks of the processes that left a segment in `recording_folder`, by process; -1 = none.
std::map<int64_t, int32_t> recorded_processes(const std::string& recording_folder);

/// The process that a profile called `name` belongs to, by the process number in its name (as
/// PyTorch's own handlers write it), the rank that `text` states ("distributedInfo"), the process
/// numbers of its events, or the rank in its name ("rank3"). 0 when none of them says.
/// `text`: the begin of the file, empty for a compressed one.
int64_t owner_of_profile(std::string_view name, std::string_view text,
                         const std::map<int64_t, int32_t>& recorded);

}  // namespace stallscope
