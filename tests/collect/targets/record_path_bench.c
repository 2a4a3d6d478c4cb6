/* What one recorded range costs, push and pop, in rdtsc reads measured in the
 * same run. Run it with the injected library, recording into memory:
 *   STALLSCOPE_OUT=/dev/shm/x STALLSCOPE_MAX_BYTES=33554432 \
 *   NVTX_INJECTION64_PATH=.../libstallscope-collect.so bench_record_path */
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdio.h>
#include <x86intrin.h>

enum { kRanges = 20000, kRounds = 40 };

static double smaller(double best, unsigned long long begin) {
  const double cost = (double)(__rdtsc() - begin) / kRanges;
  return cost < best ? cost : best;
}

static pthread_barrier_t start_line;

/* The same ranges on one thread or several at once; the fewest ticks of one round. */
static void* push_and_pop(void* result) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    pthread_barrier_wait(&start_line);
    const unsigned long long begin = __rdtsc();
    for (int i = 0; i < kRanges; ++i) {
      nvtxRangePushA("forward pass");
      nvtxRangePop();
    }
    best = smaller(best, begin);
  }
  *(double*)result = best;
  return NULL;
}

static double slowest_of_threads(int count) {
  pthread_t threads[8];
  double ticks[8], slowest = 0;
  pthread_barrier_init(&start_line, NULL, (unsigned)count);
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, push_and_pop, &ticks[i]);
  for (int i = 0; i < count; ++i) {
    pthread_join(threads[i], NULL);
    if (ticks[i] > slowest) slowest = ticks[i];
  }
  pthread_barrier_destroy(&start_line);
  return slowest;
}

int main(void) {
  static char names[kRanges][32];
  nvtxDomainHandle_t domain = nvtxDomainCreateA("bench");
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "forward");
  double read = 1e9, registered = 1e9, ascii = 1e9, unique = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kRanges; ++i)
      snprintf(names[i], sizeof names[i], "aten::mul, op_id = %d", round * kRanges + i);
    unsigned long long begin = __rdtsc(), sum = 0;
    for (int i = 0; i < kRanges; ++i) sum += __rdtsc();
    __asm__ volatile("" : : "r"(sum));
    read = smaller(read, begin);
    begin = __rdtsc();
    for (int i = 0; i < kRanges; ++i) {
      nvtxDomainRangePushEx(domain, &attributes);
      nvtxDomainRangePop(domain);
    }
    registered = smaller(registered, begin);
    begin = __rdtsc();
    for (int i = 0; i < kRanges; ++i) {
      nvtxRangePushA("forward pass");
      nvtxRangePop();
    }
    ascii = smaller(ascii, begin);
    begin = __rdtsc();
    for (int i = 0; i < kRanges; ++i) {
      nvtxRangePushA(names[i]);
      nvtxRangePop();
    }
    unique = smaller(unique, begin);
  }
  /* Where a thread's stack and chunks happen to lie moves its cost by half: the best of a few. */
  double alone = 1e9, both = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double one = slowest_of_threads(1), two = slowest_of_threads(2);
    alone = one < alone ? one : alone;
    both = two < both ? two : both;
  }
  printf(
      "{\"rdtscTicks\": %.1f, \"registeredReads\": %.2f, \"asciiReads\": %.2f, \"uniqueReads\": %.2f, "
      "\"twoThreads\": %.2f}\n",
      read, registered / read, ascii / read, unique / read, 2 * alone / both);
  return 0;
}
