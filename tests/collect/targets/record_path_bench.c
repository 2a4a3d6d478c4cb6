/* What one recorded range costs, push and pop, in rdtsc reads measured in the
 * same run. Run it with the injected library, recording into memory:
 *   STALLSCOPE_OUT=/dev/shm/x STALLSCOPE_MAX_BYTES=33554432 \
 *   NVTX_INJECTION64_PATH=.../libstallscope-collect.so bench_record_path */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <x86intrin.h>

enum { kRanges = 20000, kRounds = 40 };

static double smaller(double best, unsigned long long begin) {
  const double cost = (double)(__rdtsc() - begin) / kRanges;
  return cost < best ? cost : best;
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
  printf("{\"rdtscTicks\": %.1f, \"registeredReads\": %.2f, \"asciiReads\": %.2f, \"uniqueReads\": %.2f}\n",
         read, registered / read, ascii / read, unique / read);
  return 0;
}
