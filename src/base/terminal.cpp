#include "base/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace stallscope {
namespace {

bool g_color_disabled = false;
bool g_quiet = false;

bool variable_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::strcmp(term, "dumb") == 0;
}

}  // namespace

void disable_color() {
  g_color_disabled = true;
}

bool color_allowed(int descriptor) {
  return !g_color_disabled && !variable_set("NO_COLOR") && !dumb_terminal() &&
         ::isatty(descriptor) == 1;
}

void set_quiet(bool quiet) {
  g_quiet = quiet;
}

void print_message(std::string_view text) {
  if (!g_quiet)
    std::fprintf(stderr, "stallscope: %.*s\n", static_cast<int>(text.size()), text.data());
}

void print_error(const Error& error) {
  const char* before = color_allowed(STDERR_FILENO) ? "\033[31m" : "";
  const char* after = *before != '\0' ? "\033[0m" : "";
  std::fprintf(stderr, "stallscope: %serror:%s %s\n", before, after, error.to_string().c_str());
}

Progress::Progress() : terminal_(!g_quiet && ::isatty(STDERR_FILENO) == 1 && !dumb_terminal()) {}

Progress::~Progress() {
  clear();
}

void Progress::update(std::string_view what, double fraction) {
  if (!terminal_) return;
  std::string line(what);
  if (fraction >= 0) line += " " + std::to_string(static_cast<int>(fraction * 100)) + " %";
  if (line == last_) return;
  last_ = line;
  std::fprintf(stderr, "\r\033[Kstallscope: %s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
  last_.clear();
}

}  // namespace stallscope
