// Entry point: finds the subcommand, prints help and errors in one place.
#include <algorithm>
#include <cstdio>

#include "cli/command.h"

namespace stallscope {
namespace {

std::vector<Command>& registry() {
  static std::vector<Command> commands;
  return commands;
}

}  // namespace

RegisterCommand::RegisterCommand(const Command& command) {
  registry().push_back(command);
}

std::vector<Command> commands() {
  std::vector<Command> sorted = registry();
  std::ranges::sort(sorted, {}, &Command::name);
  return sorted;
}

}  // namespace stallscope

int main(int argc, char** argv) {
  using namespace stallscope;
  CLI::App app("Find what stalls a GPU training job, down to the source line.", "stallscope");
  app.set_version_flag("--version", "stallscope " STALLSCOPE_VERSION);
  app.require_subcommand(1);
  std::function<int()> chosen;
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->footer(std::string(command.examples));
    std::function<int()> run = command.setup(*sub);
    sub->callback([&chosen, run] { chosen = run; });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitClean : kExitCannot;
  }
  return chosen ? chosen() : kExitClean;
}
