// What may be written to the terminal: colour, progress, messages.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stallscope {

/// --no-color: no colour from here on, whatever the terminal can do.
void disable_color();

/// True when text written to `descriptor` may carry colour: it is a terminal,
/// NO_COLOR is unset, TERM is not "dumb" and --no-color was not given.
bool color_allowed(int descriptor);

/// -q: messages and progress are left out; errors stay.
void set_quiet(bool quiet);

/// One line on stderr, with the tool's name in front.
void print_message(std::string_view text);
void print_error(const Error& error);

/// A line on stderr that is rewritten in place on a terminal and never shown
/// elsewhere. Cleared by the destructor.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Shows `what`, with a percentage when `fraction` is not negative.
  void update(std::string_view what, double fraction = -1);
  void clear();

 private:
  bool shown_ = false;
  bool terminal_;
  std::string last_;
};

}  // namespace stallscope
