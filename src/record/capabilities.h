// What can be recorded on this machine, why not, and what to do about it.
#pragma once

#include <string>
#include <vector>

namespace stallscope {

enum class Ability : uint8_t { yes, limited, no };
std::string_view to_string(Ability ability);

struct Capability {
  std::string name;  ///< "nvtx", "mpi", "cuda-driver", ...
  Ability ability = Ability::no;
  std::string detail;     ///< what was found, one sentence
  std::string remedy;     ///< empty when nothing needs to be done
  bool required = false;  ///< without it nothing can be recorded at all
};

/// In a fixed order. Starts no program and loads nothing into this process.
std::vector<Capability> probe_capabilities();

}  // namespace stallscope
