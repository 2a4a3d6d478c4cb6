/* MPI behind a table of functions; built once per MPI found, opened at run time. */
#include "comm/mpi/plugin.h"

#include <mpi.h>
#include <stdio.h>

/* MPI counts are ints: larger messages go in pieces of this many bytes. */
#define PIECE ((size_t)1 << 30)

/* More than a grid of ranks is made of. */
#define MOST_GROUPS 16

static MPI_Comm groups[MOST_GROUPS];
static int made_groups = 0;
static int started_here = 0;

static int members(MPI_Comm group, int* rank, int* size) {
  int code = MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(group, rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(group, size);
  return code;
}

static int start(int* rank, int* size) {
  int initialized = 0;
  int code = MPI_Initialized(&initialized);
  if (code == MPI_SUCCESS && !initialized) {
    int provided = 0;
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    started_here = code == MPI_SUCCESS;
    /* Streams call it beside each other. */
    if (code == MPI_SUCCESS && provided < MPI_THREAD_MULTIPLE) code = MPI_ERR_OTHER;
  }
  if (code == MPI_SUCCESS) code = MPI_Comm_dup(MPI_COMM_WORLD, &groups[STALLSCOPE_MPI_WORLD]);
  if (code == MPI_SUCCESS) code = members(groups[STALLSCOPE_MPI_WORLD], rank, size);
  made_groups = STALLSCOPE_MPI_WORLD + 1;
  return code;
}

static int split(int group, int colour, int* made, int* rank, int* size) {
  int code;
  if (made_groups == MOST_GROUPS) return MPI_ERR_COMM;
  *made = made_groups++;
  code = MPI_Comm_split(groups[group], colour, 0, &groups[*made]);
  return code == MPI_SUCCESS ? members(groups[*made], rank, size) : code;
}

static int release(int group) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized ? MPI_SUCCESS : MPI_Comm_free(&groups[group]);
}

static int stop(void) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return MPI_SUCCESS;
  MPI_Comm_free(&groups[STALLSCOPE_MPI_WORLD]);
  return started_here ? MPI_Finalize() : MPI_SUCCESS;
}

static int barrier(int group) {
  return MPI_Barrier(groups[group]);
}

static int broadcast(int group, void* data, size_t bytes, int root) {
  char* at = data;
  while (bytes > 0) {
    const size_t n = bytes < PIECE ? bytes : PIECE;
    const int code = MPI_Bcast(at, (int)n, MPI_BYTE, root, groups[group]);
    if (code != MPI_SUCCESS) return code;
    at += n;
    bytes -= n;
  }
  return MPI_SUCCESS;
}

/* A contiguous block type keeps the count at 1 however large the block is. */
static int with_block(int group, size_t bytes, const void* in, void* out, int all_to_all) {
  const MPI_Comm ranks = groups[group];
  MPI_Datatype block;
  int code;
  if (bytes == 0) return MPI_SUCCESS;
  if (bytes > PIECE) return MPI_ERR_COUNT;
  code = MPI_Type_contiguous((int)bytes, MPI_BYTE, &block);
  if (code == MPI_SUCCESS) code = MPI_Type_commit(&block);
  if (code != MPI_SUCCESS) return code;
  code = all_to_all ? MPI_Alltoall(in, 1, block, out, 1, block, ranks)
                    : MPI_Allgather(in, 1, block, out, 1, block, ranks);
  MPI_Type_free(&block);
  return code;
}

static int all_gather(int group, const void* in, void* out, size_t bytes) {
  return with_block(group, bytes, in, out, 0);
}

static int all_to_all(int group, const void* in, void* out, size_t bytes) {
  return with_block(group, bytes, in, out, 1);
}

static void error_text(int code, char* text, size_t room) {
  char buffer[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, buffer, &length) != MPI_SUCCESS) length = 0;
  snprintf(text, room, "%.*s", length, buffer);
}

__attribute__((visibility("default")))
const struct stallscope_mpi_plugin stallscope_mpi_plugin_entry = {
    start, stop, split, release, barrier, broadcast, all_gather, all_to_all, error_text};
