/* The border between the trainer and the module built against one MPI: plain C, so that
 * the module needs nothing of the trainer and the trainer nothing of MPI. */
#ifndef STALLSCOPE_COMM_MPI_PLUGIN_H
#define STALLSCOPE_COMM_MPI_PLUGIN_H

#include <stddef.h>

/* The group of all processes; split makes others. */
#define STALLSCOPE_MPI_WORLD 0

/* Every function returns 0 or an MPI error code. Counts of bytes are per rank. */
struct stallscope_mpi_plugin {
  int (*start)(int* rank, int* size);
  int (*stop)(void);
  /* The processes of `group` that give the same colour. */
  int (*split)(int group, int colour, int* made, int* rank, int* size);
  int (*release)(int group);
  int (*barrier)(int group);
  int (*broadcast)(int group, void* data, size_t bytes, int root);
  int (*all_gather)(int group, const void* in, void* out, size_t bytes);
  int (*all_to_all)(int group, const void* in, void* out, size_t bytes);
  void (*error_text)(int code, char* text, size_t room);
};

#define STALLSCOPE_MPI_PLUGIN_SYMBOL "stallscope_mpi_plugin_entry"

#endif
