#include "rule/wording.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/cpp_names.h"

namespace stallscope {
namespace {

std::string count_text(const Distribution& count, bool whole_trace) {
  if (count.steps == 0 || count.total <= 0) return {};
  if (whole_trace)
    return count.total == 1 ? "once in the whole run"
                            : fmt::format("{:.0f} times in the whole run", count.total);
  const double per_step = count.per_step();
  if (count.steps_affected < count.steps)
    return fmt::format("{:.0f} times in {} of {} steps", count.total, count.steps_affected,
                       count.steps);
  if (std::abs(per_step - 1) < 0.005) return "once per step";
  const bool whole = std::abs(per_step - std::round(per_step)) < 0.005;
  return fmt::format(fmt::runtime(whole ? "{:.0f} times per step" : "{:.1f} times per step"),
                     per_step);
}

// What the observation's kind is about, as the beginning of a sentence.
const std::map<std::string, std::string, std::less<>>& openings() {
  static const std::map<std::string, std::string, std::less<>> kOpenings = {
      {"host-sync", "The host waits for the device in"},
      {"pageable-copy", "Pageable memory is copied by"},
      {"copy", "Memory is copied by"},
      {"kernel", "The device runs"},
      {"repeated-kernels", "The same constant is built again by"},
      {"memset", "Device memory is cleared by"},
      {"collective", "The ranks communicate in"},
      {"collective-burst", "Small collectives follow one another:"},
      {"collective-wait", "Ranks wait for a late one in"},
      {"slow-link", "Messages take longer than between other ranks in"},
      {"straggler", "This rank is slower than the others:"},
      {"host-gap", "The device idles while the host runs"},
      {"input-wait", "The step waits for its batch in"},
      {"allocation", "Memory is taken or given back in"},
      {"launch-bound", "The device waits for launches:"},
      {"compile", "Code is compiled or loaded in"},
      {"python-hot-function", "Python time goes to"},
      {"host-work", "Host time goes to"},
      {"lock-wait", "The step waits for Python's lock while another thread runs"},
      {"node", "The program is held up by"},
      {"overhead", "The profiler itself takes time:"},
      {"garbage-collection", "Python's garbage collector runs in"},
  };
  return kOpenings;
}

std::string share(double ns, Ns step_ns) {
  return step_ns > 0 ? " (" + format_fraction(ns / static_cast<double>(step_ns)) + " of it)" : "";
}

// What is known of calls over a tree: its size, the cost of a leaf, and how both grow.
std::string tree_text(const Observation& o) {
  const auto number = [&o](const char* name) {
    const auto it = o.numbers.find(name);
    return it == o.numbers.end() ? std::nullopt : std::optional<double>(it->second);
  };
  const std::optional<double> leaves = number("leaves"), per_leaf = number("ns_per_leaf"),
                              call = number("call_ns"), growth = number("growth");
  if (!leaves || !per_leaf || !call) return {};
  const std::optional<double> largest = number("leaves_max");
  std::string text = fmt::format(
      "; a call goes through {:.0f} leaves{} at {:.2f} us per leaf, so one call that "
      "makes all changes would cost about {}; n changes cost n times the leaves",
      *leaves, largest ? fmt::format(" (at most {:.0f})", *largest) : "", *per_leaf / 1000,
      format_duration(*call));
  return text + (growth ? fmt::format(" (a call's time grows with the leaves to the power {:.2f}, "
                                      "by the sizes in this run)",
                                      *growth)
                        : " (one size in this run: how a call's time grows with it is unknown)");
}

}  // namespace

std::string short_name(std::string_view name) {
  constexpr size_t kLongest = 60;
  std::string text = without_namespaces(name);
  if (text.size() <= kLongest) return text;
  size_t end = kLongest - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "\xE2\x80\xA6";
}

std::string describe(const Observation& o, Ns step_ns) {
  const auto opening = openings().find(o.kind);
  std::string text = opening == openings().end() ? "Seen in the run:" : opening->second;
  text += " " + (o.subject.empty() ? o.kind : short_name(o.subject));
  if (o.one_time_ns > 0 && o.count.total <= 0) {
    text += ", " + format_duration(static_cast<double>(o.one_time_ns)) + " once";
    if (const auto calls = o.numbers.find("one_time_calls"); calls != o.numbers.end())
      text += fmt::format(" in {:.0f} calls", calls->second);
    return text + ", before the first steady step" + tree_text(o) + ".";
  }
  const bool whole_trace = is_of_whole_trace(o);
  const char* unit = whole_trace ? " in the whole run" : " per step";
  if (const std::string count = count_text(o.count, whole_trace); !count.empty())
    text += ", " + count;
  const bool by_machine = o.kind == "node" || o.kind == "straggler";
  if (!o.cause.empty())
    text += by_machine ? " because " + o.cause : ", waiting for " + short_name(o.cause);
  if (const auto most = o.texts.find("most_of_it"); most != o.texts.end())
    text += ", most of it " + short_name(most->second);
  if (o.kind == "slow-link" && o.numbers.contains("message_ns") && o.numbers.contains("usual_ns"))
    text += "; one takes " + format_duration(o.numbers.at("message_ns")) + " here and " +
            format_duration(o.numbers.at("usual_ns")) + " elsewhere";
  const double blocked = o.blocked_ns.per_step(), idle = o.idle_ns.per_step();
  const char* held = o.kind == "python-hot-function" || o.kind == "host-work"
                         ? "; it takes "
                         : "; the host is blocked ";
  if (blocked > 0) text += held + format_duration(blocked) + unit;
  if (idle > 0) text += "; the device idles " + format_duration(idle) + unit + share(idle, step_ns);
  if (const auto it = o.numbers.find("exposed_ns"); it != o.numbers.end() && it->second > 0)
    text += "; " + format_duration(it->second) + unit + " is not hidden behind other work" +
            share(it->second, step_ns);
  if (const auto it = o.numbers.find("excess_ns"); it != o.numbers.end()) {
    text += "; its own work takes " + format_duration(it->second) + " per step longer than usual" +
            share(it->second, step_ns);
    if (const auto most = o.texts.find("dominant_class"); most != o.texts.end())
      text += ", most of it " + most->second;
  }
  text += tree_text(o) + ".";
  // A trainer's loop is one line of the user's own; which of the library's lines says more.
  const auto line = o.texts.find("library_line");
  const auto part = o.numbers.find("library_share");
  if (line != o.texts.end() && part != o.numbers.end())
    text += (part->second > 0.995 ? " All" : fmt::format(" {:.0f} %", 100 * part->second)) +
            " of this comes through " + line->second + ".";
  return text;
}

std::string describe_all(const Totals& all, const Observation& described, Ns step_ns) {
  const bool costs = all.blocked_ns > 0 || all.idle_ns > 0;
  if (!costs || all.count < described.count.per_step() + 0.05) return {};
  const bool whole = std::abs(all.count - std::round(all.count)) < 0.05;
  std::string text =
      fmt::format(" All of its kind there: {:.{}f} times {}", all.count, whole ? 0 : 1,
                  is_of_whole_trace(described) ? "in the run" : "per step");
  if (all.blocked_ns > 0) text += "; the host is blocked " + format_duration(all.blocked_ns);
  if (all.idle_ns > 0)
    text += "; the device idles " + format_duration(all.idle_ns) + share(all.idle_ns, step_ns);
  return text + ".";
}

}  // namespace stallscope
