/* The border between the trainer and the module built against one MPI: plain C, so that
 * the module needs nothing of the trainer and the trainer nothing of MPI. */
#ifndef STALLSCOPE_COMM_MPI_PLUGIN_H
#define STALLSCOPE_COMM_MPI_PLUGIN_H

#include <stddef.h>

/* Every function returns 0 or an MPI error code. Counts of bytes are per rank. */
struct stallscope_mpi_plugin {
  int (*start)(int* rank, int* size);
  int (*stop)(void);
  int (*barrier)(void);
  int (*broadcast)(void* data, size_t bytes, int root);
  int (*all_gather)(const void* in, void* out, size_t bytes);
  int (*all_to_all)(const void* in, void* out, size_t bytes);
  void (*error_text)(int code, char* text, size_t room);
};

#define STALLSCOPE_MPI_PLUGIN_SYMBOL "stallscope_mpi_plugin_entry"

#endif
