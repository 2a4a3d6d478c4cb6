// Threads of the recorder's own in the target.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

namespace stallscope::collect {

/// Starts a thread that nobody waits for, with a stack of `stack_bytes` (0 = as the program has
/// them). It takes none of the target's signals: one that is blocked everywhere else, for
/// sigwait() say, would end the program here. False when there can be no more threads.
inline bool start_background(void* (*body)(void*), void* argument, size_t stack_bytes) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes > 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, body, argument) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace stallscope::collect
