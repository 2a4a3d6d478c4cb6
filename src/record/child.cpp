#include "record/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "record/clock.h"
#include "record/own_process.h"

namespace stallscope {
namespace {

constexpr std::array kEnding = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
constexpr std::array kForwarded = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/// Takes the signals we handle out of normal delivery and puts them back at the end.
class SignalScope {
 public:
  SignalScope() {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int signal : kForwarded) ::sigaddset(&wanted, signal);
    ::sigaddset(&wanted, SIGCHLD);
    // An inherited SIG_IGN on SIGCHLD would make the kernel drop the child's status.
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &plain, &old_child_);
    ::pthread_sigmask(SIG_BLOCK, &wanted, &old_mask_);
    descriptor_ = ::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~SignalScope() {
    if (descriptor_ >= 0) ::close(descriptor_);
    ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
    ::sigaction(SIGCHLD, &old_child_, nullptr);
  }
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
  /// In the child, before exec: as if we had never been there.
  void restore() const {
    ::sigaction(SIGCHLD, &old_child_, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  }
  int descriptor() const { return descriptor_; }

 private:
  sigset_t old_mask_ = {};
  struct sigaction old_child_ = {};
  int descriptor_ = -1;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

Error cannot_start(const std::string& program, int code) {
  Error error{.message = "cannot start '" + program + "': " + std::strerror(code)};
  if (code == ENOENT)
    error.remedy = "check the name; everything after -- is the command to run";
  else if (code == EACCES)
    error.remedy = "check that it is an executable file";
  return error;
}

/// Forks and executes. The pipe closes by itself on success and carries errno on failure.
Result<pid_t> start(const ChildCommand& command, const SignalScope& signals,
                    const OwnProcess& own) {
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return cannot_start(command.arguments[0], errno);
  const std::vector<char*> arguments = pointers(command.arguments);
  const std::vector<char*> environment = pointers(command.environment);
  const pid_t child = ::fork();
  if (child == 0) {
    signals.restore();
    own.undo();
    ::execvpe(arguments[0], arguments.data(), environment.data());
    const int code = errno;
    [[maybe_unused]] const ssize_t put = ::write(report[1], &code, sizeof code);
    ::_exit(127);
  }
  const int fork_error = errno;
  ::close(report[1]);
  int code = 0;
  ssize_t got = 0;
  if (child > 0) do {
      got = ::read(report[0], &code, sizeof code);
    } while (got < 0 && errno == EINTR);
  ::close(report[0]);
  if (child < 0) return cannot_start(command.arguments[0], fork_error);
  if (got != sizeof code) return child;
  ::waitpid(child, nullptr, 0);
  return cannot_start(command.arguments[0], code);
}

/// Handles the signals that are waiting; they are passed on while `child` is positive.
void drain_signals(int descriptor, pid_t child, ChildEnd& end) {
  struct signalfd_siginfo info = {};
  while (::read(descriptor, &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD) continue;
    if (std::ranges::find(kEnding, signal) != kEnding.end()) end.interrupted = true;
    // The terminal (SI_KERNEL) signals its whole foreground group, the child with it.
    if (child > 0 && info.ssi_code != SI_KERNEL) ::kill(child, signal);
  }
}

Ns to_ns(const struct timeval& time) {
  return static_cast<Ns>(time.tv_sec) * 1'000'000'000 + static_cast<Ns>(time.tv_usec) * 1000;
}

/// True once the child has ended; fills `end`.
bool reap(pid_t child, ChildEnd& end) {
  int status = 0;
  struct rusage usage = {};
  if (::wait4(child, &status, WNOHANG, &usage) != child) return false;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.core_dumped = WCOREDUMP(status);
  } else {
    end.exit_code = WEXITSTATUS(status);
  }
  end.cpu_time = to_ns(usage.ru_utime) + to_ns(usage.ru_stime);
  return true;
}

}  // namespace

Result<ChildEnd> run_child(const ChildCommand& command, const ChildTick& tick,
                           const std::function<void(pid_t)>& on_start) {
  const SignalScope signals;
  if (signals.descriptor() < 0) return cannot_start(command.arguments[0], errno);
  const Ns started = clock_now(CLOCK_MONOTONIC);
  const Result<pid_t> child = start(command, signals, OwnProcess::prepare());
  if (!child) return child.error();
  if (on_start) on_start(*child);
  ChildEnd end;
  Ns next_tick = tick.interval > 0 ? started + tick.interval : 0;
  while (!reap(*child, end)) {
    struct pollfd wait = {signals.descriptor(), POLLIN, 0};
    int timeout = -1;
    if (next_tick > 0)
      timeout = static_cast<int>(std::max<Ns>(
          0, (next_tick - clock_now(CLOCK_MONOTONIC) + kMillisecond - 1) / kMillisecond));
    ::poll(&wait, 1, timeout);
    drain_signals(signals.descriptor(), *child, end);
    if (next_tick > 0 && clock_now(CLOCK_MONOTONIC) >= next_tick) {
      tick.call(*child, clock_now(CLOCK_MONOTONIC) - started);
      next_tick = clock_now(CLOCK_MONOTONIC) + tick.interval;
    }
  }
  end.duration = clock_now(CLOCK_MONOTONIC) - started;
  drain_signals(signals.descriptor(), -1, end);
  return end;
}

}  // namespace stallscope
