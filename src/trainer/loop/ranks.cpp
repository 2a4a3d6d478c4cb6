#include "trainer/loop/ranks.h"

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace stallscope::trainer {
namespace {

// The name of the group's shared memory, set by the process that starts the ranks.
constexpr const char* kGroupVariable = "STALLSCOPE_TRAINER_GROUP";

std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
  return arguments;
}

pid_t start_rank(int rank, int size, const std::string& group) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const std::string number = std::to_string(rank);
  environment.push_back("RANK=" + number);
  environment.push_back("LOCAL_RANK=" + number);
  environment.push_back("WORLD_SIZE=" + std::to_string(size));
  environment.push_back("LOCAL_WORLD_SIZE=" + std::to_string(size));
  environment.push_back(std::string(kGroupVariable) + "=" + group);
  std::vector<std::string> arguments = own_arguments();
  std::vector<char*> argv, envp;
  for (std::string& it : arguments) argv.push_back(it.data());
  for (std::string& it : environment) envp.push_back(it.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  pid_t pid = -1;
  const int code = posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr, argv.data(), envp.data());
  if (code != 0) std::fprintf(stderr, "rank %d cannot be started: %s\n", rank, std::strerror(code));
  return code == 0 ? pid : -1;
}

int start_all(int size) {
  const std::string group = "run-" + std::to_string(getpid());
  std::vector<pid_t> ranks;
  for (int r = 0; r < size; ++r) ranks.push_back(start_rank(r, size, group));
  int result = 0;
  for (size_t left =
           static_cast<size_t>(std::ranges::count_if(ranks, [](pid_t p) { return p > 0; }));
       left > 0; --left) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended < 0) break;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (code != 0 && result == 0) {
      result = code;
      std::fprintf(stderr, "rank %td ended with %d\n",
                   std::ranges::find(ranks, ended) - ranks.begin(), code);
    }
  }
  return std::ranges::find(ranks, -1) != ranks.end() ? 1 : result;
}

int integer(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

int run_as(Result<std::unique_ptr<comm::Communicator>> communicator,
           const std::function<int(Rank&)>& body) {
  if (!communicator.ok()) {
    std::fprintf(stderr, "%s\n", communicator.error().to_string().c_str());
    return 1;
  }
  Rank rank{(*communicator)->rank(), (*communicator)->size(), **communicator};
  return body(rank);
}

}  // namespace

Result<std::unique_ptr<Grid>> make_grid(Rank& rank, int tensor, int replicas) {
  if (rank.size != tensor * replicas)
    return Error{.message = std::to_string(tensor) + " tensor-parallel ranks x " +
                            std::to_string(replicas) + " replicas are not the " +
                            std::to_string(rank.size) + " ranks that were started",
                 .remedy = "give --tp and --dp the launcher's number of ranks as their product"};
  const int t = rank.rank % tensor, d = rank.rank / tensor;
  std::unique_ptr<comm::Communicator> own_tensor, own_data;
  comm::Communicator *for_tensor = &rank.communicator, *for_data = &rank.communicator;
  if (replicas == 1) {
    own_data = comm::make_single("replicas");
    for_data = own_data.get();
  } else if (tensor == 1) {
    own_tensor = comm::make_single("shards");
    for_tensor = own_tensor.get();
  } else {
    auto a = rank.communicator.split(d);
    if (!a.ok()) return a.error();
    auto b = rank.communicator.split(t);
    if (!b.ok()) return b.error();
    own_tensor = std::move(*a), own_data = std::move(*b);
    for_tensor = own_tensor.get(), for_data = own_data.get();
  }
  return std::make_unique<Grid>(Grid{.tensor = {t, tensor, *for_tensor},
                                     .data = {d, replicas, *for_data},
                                     .own_tensor = std::move(own_tensor),
                                     .own_data = std::move(own_data)});
}

int run_ranks(int size, const std::function<int(Rank&)>& body) {
  if (const char* group = std::getenv(kGroupVariable)) {
    // A rank does not outlive the process that started it.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return run_as(
        comm::make_shared_memory(
            {.name = group, .rank = integer("RANK", 0), .size = integer("WORLD_SIZE", 1)}),
        body);
  }
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr)
    return run_as(comm::make_mpi(), body);
  if (size == 1) return run_as(comm::make_single(), body);
  return start_all(size);
}

}  // namespace stallscope::trainer
