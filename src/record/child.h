// The recorded program as a child process: started with the terminal untouched,
// signals passed on, its end reported as it was.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace stallscope {

struct ChildEnd {
  std::optional<int> exit_code;
  std::optional<int> signal;  ///< the signal that ended it
  bool core_dumped = false;
  bool interrupted = false;  ///< a signal reached us that asked the run to end
  Ns duration = 0;           ///< wall time
  Ns cpu_time = 0;           ///< user and system time of it and its waited-for children
  /// The exit code as a shell shows it.
  int shell_exit_code() const { return signal ? 128 + *signal : exit_code.value_or(0); }
};

struct ChildCommand {
  std::vector<std::string> arguments;    ///< program first, found on PATH
  std::vector<std::string> environment;  ///< "NAME=value"
};

/// Called about every `interval` while the child runs.
struct ChildTick {
  Ns interval = 0;  ///< 0 = never
  std::function<void(pid_t child, Ns since_start)> call;
};

/// Runs the command to its end. stdin, stdout, stderr, process group and signal
/// dispositions are inherited. SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1 and
/// SIGUSR2 are passed on, unless the terminal has sent them to the child
/// already. An Error means that the program could not be started at all.
/// `started` is called once, when the program runs.
Result<ChildEnd> run_child(const ChildCommand& command, const ChildTick& tick = {},
                           const std::function<void(pid_t)>& started = {});

}  // namespace stallscope
