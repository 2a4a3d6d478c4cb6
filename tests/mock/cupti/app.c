/* A program as the CUDA driver sees it: loads the injected library named by
 * CUDA_INJECTION64_PATH, then does the "device work" of a script.
 *
 *   mock_cupti_app SCRIPT [fork | profiler]
 *
 * With `fork`, a child plays the script once more after the parent has begun.
 * With `profiler`, it asks for CUPTI, as a profiler of its own would get it, and
 * plays the script once more. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mock_cupti.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  FILE* file = fopen(argv[1], "r");
  if (file == NULL) return 2;
  static char script[1 << 20];
  script[fread(script, 1, sizeof script - 1, file)] = '\0';
  fclose(file);

  const char* path = getenv("CUDA_INJECTION64_PATH");
  if (path != NULL) {
    void* library = dlopen(path, RTLD_NOW);
    int (*initialize)(void) = NULL;
    if (library != NULL) *(void**)&initialize = dlsym(library, "InitializeInjection");
    if (initialize == NULL || initialize() != 1) return 3;
  }
  const int wrong_line = mock_cupti_play(script);
  if (wrong_line != 0) {
    fprintf(stderr, "script line %d is wrong\n", wrong_line);
    return 4;
  }
  if (argc > 2 && strcmp(argv[2], "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      mock_cupti_play(script);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return 5;
  }
  if (argc > 2 && strcmp(argv[2], "profiler") == 0) {
    void (*release)(void) = NULL;
    *(void**)&release = dlsym(dlopen(path, RTLD_NOW), "stallscope_release_gpu");
    if (release == NULL) return 6;
    release();
    if (mock_cupti_subscribers() != 0) return 7;
    mock_cupti_play(script);
  }
  puts("done");
  return 0;
}
