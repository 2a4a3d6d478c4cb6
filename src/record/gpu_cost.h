// What recording device events costs on this machine, as somebody measured it here.
#pragma once

#include <string>
#include <string_view>

namespace stallscope {

/// A clause on the cost of `--gpu LEVEL`: what the last scripts/gpu-check.sh on this machine found
/// (it leaves "LEVEL CLAUSE" lines in ~/.cache/stallscope/gpu-cost), or that nobody measured it.
std::string gpu_cost(std::string_view level);

}  // namespace stallscope
