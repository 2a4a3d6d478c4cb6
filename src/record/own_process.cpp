#include "record/own_process.h"

#include <fcntl.h>
#include <unistd.h>

namespace stallscope {

OwnProcess::OwnProcess() {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  for (size_t i = 0; i < kWriteSignals.size(); ++i)
    ::sigaction(kWriteSignals[i], &ignore, &actions_[i]);
  ::getrlimit(RLIMIT_NOFILE, &descriptors_);
  struct rlimit most = descriptors_;
  most.rlim_cur = most.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &most);
}

const OwnProcess& OwnProcess::prepare() {
  static const OwnProcess prepared;
  return prepared;
}

void OwnProcess::undo() const {
  for (size_t i = 0; i < kWriteSignals.size(); ++i)
    ::sigaction(kWriteSignals[i], &actions_[i], nullptr);
  ::setrlimit(RLIMIT_NOFILE, &descriptors_);
}

int open_to_keep(const std::string& path) {
  // What the recorder's threads have open for a moment each, and what perf_event_open() takes.
  constexpr rlim_t kSpare = 96;
  struct rlimit limit = {};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  // The lowest free number is given away first.
  if (fd < 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      static_cast<rlim_t>(fd) + kSpare < limit.rlim_cur)
    return fd;
  ::close(fd);
  return -1;
}

}  // namespace stallscope
