// `stallscope man`: the manual page, made from the same table as --help.
#include <cstdio>
#include <string>

#include "cli/command.h"

namespace stallscope {
namespace {

/// Text as roff source: backslashes, dashes and leading dots lose their meaning.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if (line_start && (c == '.' || c == '\'')) out += "\\&";
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string options(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* option : visible_options(app)) {
    const std::string value = option->get_expected_max() > 0 && !option->get_type_name().empty() &&
                                      option->get_items_expected_max() > 0
                                  ? " " + option->get_type_name()
                                  : "";
    out += ".TP\n.B " + roff(option->get_name(true, true) + value) + "\n" +
           roff(option->get_description()) + "\n";
  }
  return out;
}

int print_man() {
  CommandLine line;
  build_command_line(line);
  std::string page = ".TH STALLSCOPE 1 \"\" \"stallscope " STALLSCOPE_VERSION
                     "\"\n.SH NAME\nstallscope \\- find what stalls a GPU training job\n"
                     ".SH SYNOPSIS\n.B stallscope\n.I COMMAND\n[OPTIONS]\n.SH DESCRIPTION\n";
  page += roff(line.app->get_description()) + "\n.SH OPTIONS\n" + options(*line.app);
  page += ".SH COMMANDS\n";
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    const CLI::App* sub = line.app->get_subcommand(std::string(command.name));
    page += ".SS " + roff(command.name) + "\n" + roff(command.summary) + "\n" + options(*sub);
    if (!command.examples.empty()) page += ".PP\n.nf\n" + roff(command.examples) + "\n.fi\n";
  }
  page +=
      ".SH EXIT STATUS\n0 clean; 1 findings or failed assertions; 2 the tool could not do it; "
      "130 interrupted. `run` exits as the program does (128 + signal).\n"
      ".SH ENVIRONMENT\nNO_COLOR, TERM: no colour when set, or when dumb. STALLSCOPE_DATA: folder "
      "of the rules and report assets. TMPDIR: where a run is recorded before it is moved.\n";
  std::fputs(page.c_str(), stdout);
  return kExitClean;
}

const RegisterCommand man_registration({
    .name = "man",
    .summary = "Print the manual page",
    .examples = "Examples:\n  stallscope man | man -l -",
    .setup = [](CLI::App&) -> std::function<int()> { return print_man; },
    .hidden = true,
});

}  // namespace
}  // namespace stallscope
