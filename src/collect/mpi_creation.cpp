// Communicators as they are made and freed: their identity comes from the order
// of creation, which is the same on all their ranks.
#include "collect/mpi_announce.h"

using stallscope::mpi::Function;
using stallscope::mpi::Handle;

namespace {

// A handle that MPI wrote or is to change: an int or a pointer.
Handle read_handle(const Handle* place) {
  Handle handle = 0;
  __builtin_memcpy(&handle, place,
                   stallscope::mpi::handles_are_ints() ? sizeof(int) : sizeof handle);
  return handle;
}

void note(const Handle* made) {
  // MPI_COMM_NULL: asking for its size would be an error that ends the program.
  if (made != nullptr && !stallscope::mpi::is_null_communicator(read_handle(made)))
    stallscope::mpi::note_created(read_handle(made));
}

}  // namespace

// clang-format off
// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are lists
#define MAKES(name, parameters, arguments)                                   \
  STALLSCOPE_MPI_EXPORT int MPI_##name parameters;                           \
  STALLSCOPE_MPI_EXPORT int MPI_##name parameters {                          \
    static Function<int parameters> real("PMPI_" #name);                     \
    const int result = real arguments;                                       \
    if (result == 0 && stallscope_enabled() != 0) note(made);                \
    return result;                                                           \
  }
MAKES(Comm_dup, (Handle comm, Handle* made), (comm, made))
MAKES(Comm_dup_with_info, (Handle comm, Handle info, Handle* made), (comm, info, made))
MAKES(Comm_split, (Handle comm, int colour, int key, Handle* made), (comm, colour, key, made))
MAKES(Comm_split_type, (Handle comm, int type, int key, Handle info, Handle* made), (comm, type, key, info, made))
MAKES(Comm_create, (Handle comm, Handle group, Handle* made), (comm, group, made))
MAKES(Comm_create_group, (Handle comm, Handle group, int tag, Handle* made), (comm, group, tag, made))
// NOLINTEND(bugprone-macro-parentheses)
// clang-format on

STALLSCOPE_MPI_EXPORT int MPI_Comm_free(Handle* communicator);
STALLSCOPE_MPI_EXPORT int MPI_Comm_free(Handle* communicator) {
  static Function<int(Handle*)> real("PMPI_Comm_free");
  if (communicator != nullptr) stallscope::mpi::note_freed(read_handle(communicator));
  return real(communicator);
}
