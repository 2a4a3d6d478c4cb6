// `stallscope completions SHELL`: completion scripts, made from the same table as --help.
#include <cstdio>
#include <memory>
#include <string>

#include "base/shell.h"
#include "cli/command.h"

namespace stallscope {
namespace {

struct CommandWords {
  std::string name, summary;
  std::vector<std::pair<std::string, std::string>> options;  ///< "--name", description
};

std::vector<CommandWords> command_words() {
  CommandLine line;
  build_command_line(line);
  std::vector<CommandWords> words;
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    CommandWords entry{std::string(command.name), std::string(command.summary), {}};
    const CLI::App* sub = line.app->get_subcommand(entry.name);
    for (const CLI::Option* option : visible_options(*sub))
      for (const std::string& name : option->get_lnames())
        entry.options.emplace_back("--" + name, option->get_description());
    words.push_back(std::move(entry));
  }
  return words;
}

std::string bash_script() {
  std::string names, cases;
  for (const CommandWords& command : command_words()) {
    names += command.name + " ";
    cases += "    " + command.name + ") words='";
    for (const auto& [option, description] : command.options) cases += option + " ";
    cases += "' ;;\n";
  }
  return "_stallscope() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} words='' i\n"
         "  COMPREPLY=()\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    [ \"${COMP_WORDS[i]}\" = -- ] && { compopt -o default; return; }\n"
         "  done\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         names +
         "--help --version' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n" +
         cases +
         "  esac\n"
         "  case $current in\n"
         "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
         "    *) compopt -o default ;;\n"
         "  esac\n"
         "}\n"
         "complete -F _stallscope stallscope\n";
}

std::string zsh_script() {
  std::string names, cases;
  for (const CommandWords& command : command_words()) {
    names += "    '" + command.name + ":" + shell_escaped(command.summary) + "'\n";
    cases += "    " + command.name + ") options=(";
    for (const auto& [option, description] : command.options) cases += option + " ";
    cases += ") ;;\n";
  }
  return "#compdef stallscope\n"
         "local -a names options\n"
         "names=(\n" +
         names +
         ")\n"
         "if ((CURRENT == 2)); then\n"
         "  _describe command names\n"
         "else\n"
         "  case $words[2] in\n" +
         cases +
         "  esac\n"
         "  if [[ $PREFIX == -* ]]; then compadd -- $options; else _files; fi\n"
         "fi\n";
}

std::string fish_script() {
  std::string out = "complete -c stallscope -f -n __fish_use_subcommand -l version\n";
  for (const CommandWords& command : command_words()) {
    out += "complete -c stallscope -f -n __fish_use_subcommand -a " + command.name + " -d '" +
           shell_escaped(command.summary) + "'\n";
    for (const auto& [option, description] : command.options)
      out += "complete -c stallscope -n '__fish_seen_subcommand_from " + command.name + "' -l " +
             option.substr(2) + " -d '" + shell_escaped(description) + "'\n";
  }
  return out;
}

const RegisterCommand completions_registration({
    .name = "completions",
    .summary = "Print a completion script",
    .examples = "Examples:\n  source <(stallscope completions bash)",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto shell = std::make_shared<std::string>();
      app.add_option("shell", *shell, "bash, zsh or fish")
          ->required()
          ->check(CLI::IsMember({"bash", "zsh", "fish"}));
      return [shell] {
        const std::string script = *shell == "bash"  ? bash_script()
                                   : *shell == "zsh" ? zsh_script()
                                                     : fish_script();
        std::fputs(script.c_str(), stdout);
        return static_cast<int>(kExitClean);
      };
    },
    .hidden = true,
});

}  // namespace
}  // namespace stallscope
