// The MPI library that the program runs on: found among the loaded objects, its
// PMPI_ functions called with handles of unknown type.
#pragma once

#include <stdint.h>

namespace stallscope::mpi {

/// MPI_Comm, MPI_Datatype, ...: an int in MPICH and its kin, a pointer in Open MPI.
using Handle = uintptr_t;

/// A PMPI_ function by name; nullptr when no MPI library is loaded.
void* find_function(const char* name);

/// A function of the MPI library, looked up at its first call.
template <typename Signature>
class Function;
template <typename... Arguments>
class Function<int(Arguments...)> {
 public:
  explicit constexpr Function(const char* name) : name_(name) {}
  int operator()(Arguments... arguments) {
    void* found = __atomic_load_n(&found_, __ATOMIC_ACQUIRE);
    if (found == nullptr) {
      found = find_function(name_);
      if (found == nullptr) return kNoLibrary;
      __atomic_store_n(&found_, found, __ATOMIC_RELEASE);
    }
    return reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
  }

 private:
  static constexpr int kNoLibrary =
      16;  // MPI_ERR_OTHER in Open MPI; any non-zero value is an error
  const char* name_;
  void* found_ = nullptr;
};

/// True when the loaded library's handles are ints.
bool handles_are_ints();
bool is_null_communicator(Handle communicator);

/// A handle as a number that is equal for equal handles: an int's upper half is undefined.
Handle handle_value(Handle handle);

/// MPI_COMM_WORLD of the loaded library.
Handle world();

}  // namespace stallscope::mpi
