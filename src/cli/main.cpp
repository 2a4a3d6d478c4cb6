// Entry point: parses the command line, prints help and errors in one place.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/terminal.h"
#include "cli/command.h"

namespace stallscope {
namespace {

bool is_command(const std::string& name) {
  return std::ranges::any_of(commands(), [&](const Command& c) { return c.name == name; });
}

/// The command that was chosen, or its own: rules, rules new. `app` itself when none was.
const CLI::App& parsed_command(const CLI::App& app) {
  const std::vector<CLI::App*> chosen =
      const_cast<CLI::App&>(app).get_subcommands();  // CLI11 2.1 has no const overload
  return chosen.empty() ? app : parsed_command(*chosen.front());
}

/// What CLI11 refused, as a message of ours.
Error explain(const CLI::App& app, const CLI::ParseError& error,
              const std::vector<std::string>& arguments) {
  const CLI::App& where = parsed_command(app);
  const std::vector<std::string> extras = app.remaining(true);
  // A misspelt option also shows as a missing required one: name the misspelling.
  for (const std::string& extra : extras) {
    if (extra == "--") break;  // what follows is the program's
    if (extra.size() < 2 || extra[0] != '-') continue;
    Error unknown = unknown_option(where, extra);
    const bool separated = std::ranges::find(arguments, "--") != arguments.end();
    if (where.get_name() == "run" && !separated)
      unknown.remedy = "put -- before the command to run, so that its options are its own";
    return unknown;
  }
  // rules tst: a command of its own, misspelt
  if (&where != &app && !where.get_subcommands({}).empty() && !extras.empty())
    return unknown_subcommand(where, extras.front());
  return Error{.message = error.what(), .remedy = "see `" + full_name(where) + " --help`"};
}

int run_main(int argc, char** argv) {
  CommandLine line;
  build_command_line(line);
  CLI::App& app = *line.app;
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::fputs(app.help().c_str(), stderr);
    return kExitCannot;
  }
  if (arguments[0] == "help") {  // `stallscope help run` reads as `stallscope run --help`
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  if (!arguments[0].starts_with('-') && !is_command(arguments[0]))
    return fail(unknown_command(arguments[0]));
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return fail(explain(app, error, arguments));
  }
  const int code = line.chosen ? line.chosen() : kExitClean;
  // A full disk shows only when the last of it is written.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return fail({.message = "the standard output could not be written",
                 .remedy = "free some space, or write elsewhere"});
  return code;
}

}  // namespace
}  // namespace stallscope

int main(int argc, char** argv) {
  try {
    return stallscope::run_main(argc, argv);
  } catch (const std::exception& error) {
    stallscope::print_error({.message = std::string("internal error: ") + error.what(),
                             .remedy = "please report this with the command line"});
    return stallscope::kExitCannot;
  }
}
