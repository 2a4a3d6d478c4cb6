/* MPI behind a table of functions; built once per MPI found, opened at run time. */
#include "comm/mpi/plugin.h"

#include <mpi.h>
#include <stdio.h>

/* MPI counts are ints: larger messages go in pieces of this many bytes. */
#define PIECE ((size_t)1 << 30)

static MPI_Comm world = MPI_COMM_NULL;
static int world_size = 1;
static int started_here = 0;

static int start(int* rank, int* size) {
  int initialized = 0;
  int code = MPI_Initialized(&initialized);
  if (code == MPI_SUCCESS && !initialized) {
    int provided = 0;
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    started_here = code == MPI_SUCCESS;
    if (code == MPI_SUCCESS && provided < MPI_THREAD_SERIALIZED) code = MPI_ERR_OTHER;
  }
  if (code == MPI_SUCCESS) code = MPI_Comm_dup(MPI_COMM_WORLD, &world);
  if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(world, rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(world, size);
  world_size = *size;
  return code;
}

static int stop(void) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return MPI_SUCCESS;
  if (world != MPI_COMM_NULL) MPI_Comm_free(&world);
  return started_here ? MPI_Finalize() : MPI_SUCCESS;
}

static int barrier(void) {
  return MPI_Barrier(world);
}

static int broadcast(void* data, size_t bytes, int root) {
  char* at = data;
  while (bytes > 0) {
    const size_t n = bytes < PIECE ? bytes : PIECE;
    const int code = MPI_Bcast(at, (int)n, MPI_BYTE, root, world);
    if (code != MPI_SUCCESS) return code;
    at += n;
    bytes -= n;
  }
  return MPI_SUCCESS;
}

/* A contiguous block type keeps the count at 1 however large the block is. */
static int with_block(size_t bytes, const void* in, void* out, int all_to_all) {
  MPI_Datatype block;
  int code;
  if (bytes == 0) return MPI_SUCCESS;
  if (bytes > PIECE) return MPI_ERR_COUNT;
  code = MPI_Type_contiguous((int)bytes, MPI_BYTE, &block);
  if (code == MPI_SUCCESS) code = MPI_Type_commit(&block);
  if (code != MPI_SUCCESS) return code;
  code = all_to_all ? MPI_Alltoall(in, 1, block, out, 1, block, world)
                    : MPI_Allgather(in, 1, block, out, 1, block, world);
  MPI_Type_free(&block);
  return code;
}

static int all_gather(const void* in, void* out, size_t bytes) {
  return with_block(bytes, in, out, 0);
}

static int all_to_all(const void* in, void* out, size_t bytes) {
  return with_block(bytes, in, out, 1);
}

static void error_text(int code, char* text, size_t room) {
  char buffer[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, buffer, &length) != MPI_SUCCESS) length = 0;
  snprintf(text, room, "%.*s", length, buffer);
}

__attribute__((visibility("default")))
const struct stallscope_mpi_plugin stallscope_mpi_plugin_entry = {
    start, stop, barrier, broadcast, all_gather, all_to_all, error_text};
