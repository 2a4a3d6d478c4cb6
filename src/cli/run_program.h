// Another program run to its end.
#pragma once

#include <string>
#include <vector>

namespace stallscope {

enum class ProgramOutput { to_errors, errors_only };

/// Runs words[0] with the others as arguments; its output goes to stderr (or nowhere), so that
/// stdout holds this command's result alone. Returns its exit code as the shell shows it,
/// kExitCannot when it did not start.
int run_program(const std::vector<std::string>& words,
                ProgramOutput output = ProgramOutput::to_errors);

}  // namespace stallscope
