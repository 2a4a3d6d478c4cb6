// `stallscope doctor`: what can be recorded here, and what to do where it cannot.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "cli/command.h"
#include "record/capabilities.h"

namespace stallscope {
namespace {

std::string as_json(const std::vector<Capability>& capabilities, bool works) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Capability& each : capabilities)
    list.push_back({{"name", each.name},
                    {"ability", to_string(each.ability)},
                    {"detail", each.detail},
                    {"remedy", each.remedy.empty() ? nlohmann::ordered_json()
                                                   : nlohmann::ordered_json(each.remedy)},
                    {"required", each.required}});
  const nlohmann::ordered_json json = {
      {"schemaVersion", "1.0"}, {"recordingWorks", works}, {"capabilities", list}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string as_text(const std::vector<Capability>& capabilities, bool works) {
  const bool color = color_allowed(1);
  std::string text;
  for (const Capability& each : capabilities) {
    const char* paint = !color                             ? ""
                        : each.ability == Ability::yes     ? "\033[32m"
                        : each.ability == Ability::limited ? "\033[33m"
                                                           : "\033[31m";
    std::string state(to_string(each.ability));
    state.resize(8, ' ');
    std::string name = each.name;
    name.resize(16, ' ');
    text += paint + state + (color ? "\033[0m" : "") + name + each.detail + "\n";
    if (!each.remedy.empty()) text += std::string(24, ' ') + "-> " + each.remedy + "\n";
  }
  text += works ? "\nRecording works here.\n" : "\nNothing can be recorded here.\n";
  return text;
}

int doctor(const std::string& format) {
  const std::vector<Capability> capabilities = probe_capabilities();
  const bool works = std::ranges::none_of(capabilities, [](const Capability& each) {
    return each.required && each.ability == Ability::no;
  });
  const std::string text =
      format == "json" ? as_json(capabilities, works) : as_text(capabilities, works);
  std::fputs(text.c_str(), stdout);
  return works ? kExitClean : kExitCannot;
}

const RegisterCommand doctor_registration({
    .name = "doctor",
    .summary = "Say what can be recorded on this machine, and what to do where it cannot",
    .examples = "Exit code 0 when recording works at all, 2 when it does not.\n"
                "\n"
                "Examples:\n"
                "  stallscope doctor\n"
                "  stallscope doctor --format json",
    .setup = [](CLI::App& app) -> std::function<int()> {
      auto format = std::make_shared<std::string>("text");
      app.add_option("--format", *format, "text (default) or json")
          ->type_name("FORMAT")
          ->check(CLI::IsMember({"text", "json"}));
      return [format] { return doctor(*format); };
    },
});

}  // namespace
}  // namespace stallscope
