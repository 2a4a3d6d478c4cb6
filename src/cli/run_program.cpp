#include "cli/run_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"

namespace stallscope {

int run_program(const std::vector<std::string>& words, ProgramOutput output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    const int sink =
        output == ProgramOutput::errors_only ? open("/dev/null", O_WRONLY) : STDERR_FILENO;
    dup2(sink, STDOUT_FILENO);
    execv(arguments[0], arguments.data());
    _exit(kExitCannot);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) < 0) return kExitCannot;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace stallscope
