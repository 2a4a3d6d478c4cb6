// Programs: which files of Python belong together, by folders and imports.
#pragma once

#include <cstdint>
#include <vector>

#include "source/link/call_graph.h"

namespace stallscope {

/// The files of Python of each program of a project: files of one folder, and what they import. Of
/// files that an import may mean, the nearest in the tree are meant. A script or a configuration
/// belongs to every program it may run: those of its folder, of folders below it, and of the
/// folder that holds its own.
std::vector<std::vector<uint32_t>> programs_of(const CallGraph& graph);

}  // namespace stallscope
