/* A program as the CUDA driver sees it: loads the injected library named by
 * CUDA_INJECTION64_PATH, then does the "device work" of a script.
 *
 *   mock_cupti_app SCRIPT [fork | profiler | exit | kill | exec | memory | signal | threads]
 *
 * With `fork`, a child plays the script once more after the parent has begun.
 * With `profiler`, it asks for CUPTI, as a profiler of its own would get it, and
 * plays the script once more. With `exit`, `kill` and `exec` it ends by _exit, by
 * SIGKILL, or as a new program that plays the script too. With `memory` it plays the
 * script once more when no memory can be had any longer, with `signal` it waits for
 * a signal that it blocks, and with `threads` the calls of two threads go on while
 * the process ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mock_cupti.h"

static void* play_for_ever(void* script) {
  for (;;) mock_cupti_play(script);
  return NULL;
}

/* Nothing more can be mapped: only small pieces that the heap has are left, for the mock. */
static void use_up_memory(void) {
  enum { kPieces = 64, kPiece = 16 * 1024 };
  void* pieces[kPieces];
  for (int i = 0; i < kPieces; ++i) pieces[i] = malloc(kPiece);
  struct rlimit limit = {0, 0};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = 1;
  setrlimit(RLIMIT_AS, &limit);
  while (malloc(kPiece) != NULL) {
  }
  for (int i = 0; i < kPieces; i += 2) free(pieces[i]);
}

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
  if (argc > 2 && strcmp(argv[2], "memory") == 0) {
    use_up_memory();
    if (mock_cupti_play(script) != 0) return 8;
  }
  if (argc > 2 && strcmp(argv[2], "signal") == 0) {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &awaited, NULL);
    kill(getpid(), SIGUSR1);
    int came = 0;
    if (sigwait(&awaited, &came) != 0 || came != SIGUSR1) return 9;
  }
  if (argc > 2 && strcmp(argv[2], "profiler") == 0) {
    void (*release)(void) = NULL;
    *(void**)&release = dlsym(dlopen(path, RTLD_NOW), "stallscope_release_gpu");
    if (release == NULL) return 6;
    release();
    if (mock_cupti_subscribers() != 0) return 7;
    mock_cupti_play(script);
  }
  if (argc > 2 && strcmp(argv[2], "exit") == 0) _exit(3);
  if (argc > 2 && strcmp(argv[2], "kill") == 0) raise(SIGKILL);
  if (argc > 2 && strcmp(argv[2], "exec") == 0) execl(argv[0], argv[0], argv[1], (char*)NULL);
  if (argc > 2 && strcmp(argv[2], "threads") == 0) {
    pthread_t thread;
    for (int i = 0; i < 2; ++i) pthread_create(&thread, NULL, play_for_ever, script);
    usleep(5000);
  }
  puts("done");
  return 0;
}
