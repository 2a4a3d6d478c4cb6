// A subcommand: one file each, registering itself with its options and help.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stallscope {

/// Exit codes of every command.
enum ExitCode : int { kExitClean = 0, kExitFindings = 1, kExitCannot = 2, kExitInterrupted = 130 };

struct Command {
  std::string_view name;
  std::string_view summary;   ///< one line
  std::string_view examples;  ///< shown at the end of --help
  /// Adds options to `app` and returns what to run when it is chosen; the result is the exit code.
  std::function<int()> (*setup)(CLI::App& app) = nullptr;
};

struct RegisterCommand {
  explicit RegisterCommand(const Command& command);
};

std::vector<Command> commands();

}  // namespace stallscope
