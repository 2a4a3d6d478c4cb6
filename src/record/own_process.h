// What the recorder changes about its own process, for good, and children get as it was.
#pragma once

#include <sys/resource.h>

#include <array>
#include <csignal>
#include <string>

namespace stallscope {

/// A write that fails (a closed pipe, a limit of file sizes) is an error and no longer ends the
/// recorder, with all that it has yet to gather; and as many files may be open as the system
/// allows: one or two are kept per sampled thread, of which a node full of loader workers has many.
class OwnProcess {
 public:
  /// Changes it at the first call.
  static const OwnProcess& prepare();
  /// In a child, before exec.
  void undo() const;

 private:
  OwnProcess();
  static constexpr std::array kWriteSignals = {SIGPIPE, SIGXFSZ};
  std::array<struct sigaction, kWriteSignals.size()> actions_ = {};
  struct rlimit descriptors_ = {};
};

/// Opens a file to read that stays open. -1 also where only the room is left that files need which
/// are opened and closed again: without it nothing could be written, or found out, any more.
int open_to_keep(const std::string& path);

}  // namespace stallscope
