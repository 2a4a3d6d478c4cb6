// The MPI backend: opens the module built against the MPI that started this
// program. Reductions exchange the parts and add them in rank order here, since
// MPI leaves the order of MPI_Allreduce to the implementation.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "comm/communicator.h"
#include "comm/mpi/plugin.h"
#include "comm/reduce.h"

namespace stallscope::comm {
namespace {

// The launcher tells by its environment which MPI it belongs to.
const char* flavour() {
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr) return "openmpi";
  if (std::getenv("PMI_RANK") != nullptr || std::getenv("PMIX_RANK") != nullptr) return "mpich";
  return nullptr;
}

class Mpi final : public Communicator {
 public:
  Mpi(const stallscope_mpi_plugin& plugin, std::string name, int group, int rank, int size)
      : Communicator(std::move(name), rank, size), plugin_(plugin), group_(group) {}
  ~Mpi() override { group_ == STALLSCOPE_MPI_WORLD ? plugin_.stop() : plugin_.release(group_); }

  Status barrier() override { return check(plugin_.barrier(group_), Collective::barrier); }

  Result<std::unique_ptr<Communicator>> split(int colour) override {
    int made = 0, rank = 0, size = 1;
    if (const int code = plugin_.split(group_, colour, &made, &rank, &size); code != 0)
      return Error{.message = "this group cannot be split in MPI: " + text_of(code)};
    return std::unique_ptr<Communicator>(std::make_unique<Mpi>(
        plugin_, group() + "-" + std::to_string(made) + "-" + std::to_string(colour), made, rank,
        size));
  }

 protected:
  Status do_all_reduce(void* data, size_t count, DataType type, ReduceOp op) override {
    const auto ranks = static_cast<size_t>(size());
    const size_t part = (count + ranks - 1) / ranks;
    const size_t bytes = part * size_of(type);
    std::vector<unsigned char> padded(bytes * ranks), reduced(bytes);
    std::memcpy(padded.data(), data, count * size_of(type));
    if (Status s = do_reduce_scatter(padded.data(), reduced.data(), part, type, op); !s.ok())
      return s;
    if (Status s = do_all_gather(reduced.data(), padded.data(), bytes); !s.ok()) return s;
    std::memcpy(data, padded.data(), count * size_of(type));
    return ok_status();
  }

  Status do_reduce_scatter(const void* in, void* out, size_t count, DataType type,
                           ReduceOp op) override {
    const size_t bytes = count * size_of(type);
    std::vector<unsigned char> parts(bytes * static_cast<size_t>(size()));
    const int code = plugin_.all_to_all(group_, in, parts.data(), bytes);
    if (Status s = check(code, Collective::reduce_scatter); !s.ok()) return s;
    std::memcpy(out, parts.data(), bytes);
    for (int r = 1; r < size(); ++r)
      reduce_into(out, out, parts.data() + static_cast<size_t>(r) * bytes, count, type, op);
    return ok_status();
  }

  Status do_all_gather(const void* in, void* out, size_t bytes) override {
    return check(plugin_.all_gather(group_, in, out, bytes), Collective::all_gather);
  }

  Status do_broadcast(void* data, size_t bytes, int root) override {
    return check(plugin_.broadcast(group_, data, bytes, root), Collective::broadcast);
  }

 private:
  Status check(int code, Collective collective) const {
    if (code == 0) return ok_status();
    return Error{.message =
                     std::string(to_string(collective)) + " failed in MPI: " + text_of(code)};
  }
  std::string text_of(int code) const {
    char text[256];
    plugin_.error_text(code, text, sizeof text);
    return text;
  }

  const stallscope_mpi_plugin& plugin_;
  int group_;
};

// The module lies beside the program's libraries, in the build tree and when installed.
void* open_module(const std::string& name) {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& folder :
       {program / "lib", program / "../lib", program / "../lib/stallscope", program}) {
    if (void* module = dlopen((folder / name).c_str(), RTLD_NOW | RTLD_GLOBAL)) return module;
  }
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<Communicator>> make_mpi() {
  const char* mpi = flavour();
  if (mpi == nullptr) {
    return Error{.message = "this program was not started by an MPI launcher",
                 .remedy = "start it with mpirun, or use shared memory"};
  }
  const std::string name = std::string("stallscope_comm_") + mpi + ".so";
  void* module = open_module(name);
  if (module == nullptr) {
    return Error{.message = name + " cannot be opened: this build has no support for " + mpi,
                 .remedy = "install its development package and build again"};
  }
  const auto* plugin =
      static_cast<const stallscope_mpi_plugin*>(dlsym(module, STALLSCOPE_MPI_PLUGIN_SYMBOL));
  if (plugin == nullptr) return Error{.message = name + " is not a module of this trainer"};
  int rank = 0, size = 1;
  if (const int code = plugin->start(&rank, &size); code != 0) {
    char text[256];
    plugin->error_text(code, text, sizeof text);
    return Error{.message = std::string("MPI did not start: ") + text};
  }
  return std::unique_ptr<Communicator>(
      std::make_unique<Mpi>(*plugin, "mpi-world", STALLSCOPE_MPI_WORLD, rank, size));
}

}  // namespace stallscope::comm
