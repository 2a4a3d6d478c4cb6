// A subcommand: one file each, registering itself with its options and help.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stallscope {

/// Exit codes of every command.
enum ExitCode : int { kExitClean = 0, kExitFindings = 1, kExitCannot = 2, kExitInterrupted = 130 };

/// Prints what went wrong: kExitCannot.
int fail(const Error& error);

struct Command {
  std::string_view name;
  std::string_view summary;   ///< one line
  std::string_view examples;  ///< shown at the end of --help
  /// Adds options to `app` and returns what to run when it is chosen; the result is the exit code.
  std::function<int()> (*setup)(CLI::App& app) = nullptr;
  bool hidden = false;  ///< works, but is left out of the list of commands
};

struct RegisterCommand {
  explicit RegisterCommand(const Command& command);
};

/// All registered commands, by name.
std::vector<Command> commands();

/// The whole command line, built from the table of commands. Help, the man
/// page and the shell completions are all made from this one object.
struct CommandLine {
  std::unique_ptr<CLI::App> app;
  std::function<int()> chosen;  ///< what the parsed command does
};
/// Fills `line` in place, because the callbacks keep pointing into it.
void build_command_line(CommandLine& line);

/// "stallscope rules new"
std::string full_name(const CLI::App& app);

/// What to say about a word that is no command, no command of `app`, or no
/// option of `app`, with what was probably meant.
Error unknown_command(const std::string& word);
Error unknown_subcommand(const CLI::App& app, const std::string& word);
Error unknown_option(const CLI::App& app, const std::string& word);

/// Lets 0 and finite numbers above it pass.
CLI::Validator zero_or_more();

/// The visible options of a command, in the order they were added.
std::vector<const CLI::Option*> visible_options(const CLI::App& app);

}  // namespace stallscope
