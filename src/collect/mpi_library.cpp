#include "collect/mpi_library.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

namespace stallscope::mpi {
namespace {

void* g_library = nullptr;
void* g_open_mpi_world = nullptr;

// RTLD_NEXT would not find a library that came by dlopen with RTLD_LOCAL, as
// mpi4py loads it: ask every loaded object whose name may be an MPI library's.
int try_object(dl_phdr_info* object, size_t, void* result) {
  const char* path = object->dlpi_name;
  if (path == nullptr || strstr(path, "libmpi") == nullptr) return 0;
  void* library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  if (dlsym(library, "PMPI_Send") != nullptr) {
    *static_cast<void**>(result) = library;
    return 1;
  }
  dlclose(library);
  return 0;
}

// An object of the library's. A program may hold its own copy (a copy
// relocation), which is then the one that counts; it is found first.
void* find_object(void* library, const char* name) {
  void* copy = dlsym(RTLD_DEFAULT, name);
  return copy != nullptr ? copy : dlsym(library, name);
}

void* library() {
  void* known = __atomic_load_n(&g_library, __ATOMIC_ACQUIRE);
  if (known != nullptr) return known;
  dl_iterate_phdr(try_object, static_cast<void*>(&known));
  if (known == nullptr && dlsym(RTLD_DEFAULT, "PMPI_Send") != nullptr)
    known = dlopen(nullptr, RTLD_LAZY);  // linked statically into the program
  if (known == nullptr) return nullptr;
  g_open_mpi_world = find_object(known, "ompi_mpi_comm_world");
  __atomic_store_n(&g_library, known, __ATOMIC_RELEASE);
  return known;
}

}  // namespace

void* find_function(const char* name) {
  void* from = library();
  if (from == nullptr) return nullptr;
  if (void* found = dlsym(from, name)) return found;
  // A caller that finds our large-count form thinks the library has it. Older
  // libraries do not: the plain form takes the same arguments, since an int is
  // passed in the place of a 64-bit count.
  const size_t length = strlen(name);
  char plain[64];
  if (length < 3 || length >= sizeof plain || strcmp(name + length - 2, "_c") != 0) return nullptr;
  memcpy(plain, name, length - 2);
  plain[length - 2] = '\0';
  return dlsym(from, plain);
}

bool handles_are_ints() {
  library();
  return g_open_mpi_world == nullptr;
}

bool is_null_communicator(Handle communicator) {
  constexpr Handle kMpichNull = 0x04000000;  // the MPICH ABI's MPI_COMM_NULL
  if (handles_are_ints()) return handle_value(communicator) == kMpichNull;
  return reinterpret_cast<void*>(communicator) == find_object(library(), "ompi_mpi_comm_null");
}

Handle handle_value(Handle handle) {
  return handles_are_ints() ? static_cast<uint32_t>(handle) : handle;
}

Handle world() {
  constexpr Handle kMpichWorld = 0x44000000;  // the MPICH ABI's MPI_COMM_WORLD
  library();
  return g_open_mpi_world != nullptr ? reinterpret_cast<Handle>(g_open_mpi_world) : kMpichWorld;
}

}  // namespace stallscope::mpi
