/* A program that uses NVTX in every way the tests need: nvtx_target MODE [N]. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "collect/annotate.h"

static void ranges(int count) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA("work");
    nvtxRangePop();
  }
}

/* Says how far it came in a shared word, so that a test can kill it anywhere. */
static void endless(const char* progress_path) {
  const int fd = open(progress_path, O_RDWR);
  volatile unsigned* progress =
      (volatile unsigned*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  nvtxRangePushA("outer");
  char name[32];
  for (unsigned i = 1;; ++i) {
    snprintf(name, sizeof name, "item, n = %u", i);
    nvtxRangePushA(name);
    nvtxRangePop();
    *progress = i;
  }
}

static nvtxEventAttributes_t attributes_of(const char* name) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  return attributes;
}

static void every_call(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("test domain");
  nvtxDomainHandle_t wide_domain = nvtxDomainCreateW(L"wide domain \u00e9");
  nvtxDomainNameCategoryA(domain, 7, "loading");
  nvtxNameCategoryW(8, L"wide category");
  nvtxNameOsThreadA((uint32_t)getpid(), "named thread");

  nvtxRangePushA("ascii");
  nvtxRangePushW(L"wide \u2713 \U0001F600");
  nvtxMarkA("ascii mark");
  nvtxMarkW(L"wide mark");
  nvtxRangePop();
  nvtxRangePop();

  nvtxEventAttributes_t attributes = attributes_of("with category");
  attributes.category = 7;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = -42;
  nvtxDomainRangePushEx(domain, &attributes);
  attributes = attributes_of("with double");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  attributes.payload.dValue = 0.25;
  nvtxDomainMarkEx(domain, &attributes);
  nvtxDomainRangePop(domain);

  attributes = attributes_of(NULL);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered, key = 1");
  nvtxDomainRangePushEx(domain, &attributes);
  attributes.message.registered = nvtxDomainRegisterStringW(wide_domain, L"registered wide");
  nvtxDomainRangePushEx(wide_domain, &attributes);
  nvtxDomainRangePop(domain); /* domains interleave: not the innermost */
  nvtxDomainRangePop(wide_domain);

  const nvtxRangeId_t first = nvtxRangeStartA("started first");
  const nvtxRangeId_t second = nvtxDomainRangeStartEx(domain, &(nvtxEventAttributes_t){
      .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
      .messageType = NVTX_MESSAGE_TYPE_ASCII, .message.ascii = "started second"});
  nvtxRangeEnd(first);
  nvtxDomainRangeEnd(domain, second);
  nvtxRangePop(); /* nothing is open: must be harmless */
}

typedef struct {
  uint32_t small;
  double real;
  const char* pointed;
  char inlined[12];
  uint16_t values[3];
} payload_t;

static void payloads(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("payloads");
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "small"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "real"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "pointed"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "inlined", NULL, 12},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "values", NULL, 3}};
  nvtxPayloadSchemaAttr_t attr = {0};
  attr.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  attr.name = "payload_t";
  attr.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attr.entries = entries;
  attr.numEntries = sizeof entries / sizeof entries[0];
  attr.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5; /* an id of the program's own */
  const uint64_t schema = nvtxPayloadSchemaRegister(domain, &attr);
  const payload_t payload = {7, 2.5, "far away", "near", {1, 2, 3}};
  const int64_t bare = -9;
  const nvtxPayloadData_t both[] = {{schema, sizeof payload, &payload},
                                    {NVTX_PAYLOAD_ENTRY_TYPE_INT64, sizeof bare, &bare}};
  nvtxEventAttributes_t attributes = attributes_of("batched");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 2;
  attributes.payload.ullValue = (uint64_t)(uintptr_t)both;
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePop(domain);
  attributes = attributes_of("at the end");
  nvtxDomainRangePushEx(domain, &attributes);
  const nvtxPayloadData_t end[] = {{schema, sizeof payload, &payload}};
  nvtxRangePopPayload(domain, end, 1);

  const nvtxPayloadSchemaEntry_t message[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NULL, 16},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "count"}};
  attr.fieldMask &= ~(uint64_t)NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  attr.name = "message";
  attr.entries = message;
  attr.numEntries = 2;
  const uint64_t second = nvtxPayloadSchemaRegister(domain, &attr);
  const struct {
    char text[16];
    int32_t count;
  } named = {"named within", -3};
  const nvtxPayloadData_t one[] = {{second, sizeof named, &named}};
  nvtxMarkPayload(domain, one, 1);
  nvtxRangePushPayload(domain, one, 1);
  nvtxDomainRangePop(domain);
  nvtxRangeEndPayload(domain, nvtxRangeStartPayload(domain, one, 1), end, 1);
}

static void annotations(void) {
  const uint32_t id = stallscope_next_correlation();
  stallscope_api_begin("cudaLaunchKernel", (stallscope_api){.call = STALLSCOPE_API_LAUNCH,
                                                            .device = 1, .stream = 7,
                                                            .correlation = id});
  stallscope_end();
  stallscope_kernel_begin("gemm", (stallscope_kernel){.device = 1, .stream = 7,
                                                      .correlation = id, .modelled = 1});
  stallscope_end();
  stallscope_copy_begin("copy", (stallscope_copy){.device = 1, .stream = 8, .correlation = id + 1,
                                                  .copy = STALLSCOPE_COPY_DEVICE_TO_HOST,
                                                  .source_memory = STALLSCOPE_MEMORY_DEVICE,
                                                  .target_memory = STALLSCOPE_MEMORY_PAGEABLE,
                                                  .bytes = 5000000000ULL});
  stallscope_end();
  stallscope_memset_begin("set", (stallscope_memset){.device = 1, .stream = 8, .bytes = 64});
  stallscope_end();
  stallscope_sync_begin("sync", (stallscope_sync){.device = 1, .sync = STALLSCOPE_SYNC_STREAM,
                                                  .stream = 7});
  stallscope_end();
  stallscope_event_record("event", (stallscope_stream_event){.device = 1, .stream = 7, .event = 3});
  stallscope_stream_wait_begin("wait", (stallscope_stream_event){
      .device = 1, .stream = 8, .event = 3, .event_record = 11});
  stallscope_end();
  stallscope_collective_begin("ncclAllReduce", (stallscope_collective){
      .op = STALLSCOPE_COLLECTIVE_ALL_REDUCE, .dtype = STALLSCOPE_DTYPE_F32, .device = -1,
      .bytes = 4096, .elements = 1024, .group = 99, .sequence = 5, .world_size = 2, .peer = -1});
  stallscope_end();
  stallscope_allocation("cudaMalloc", (stallscope_alloc){.device = 1, .address = 0x1000,
                                                         .bytes = 256, .total_bytes = 512});
  stallscope_wait_begin("queue", (stallscope_wait){.waker_tid = 77});
  stallscope_end();
  stallscope_counter("loss", 1.5);
  stallscope_api_memory_begin("cudaMemcpy", (stallscope_api_memory){
      .api = {.call = STALLSCOPE_API_COPY_BLOCKING, .device = 1, .stream = 7}, .bytes = 16,
      .source_memory = STALLSCOPE_MEMORY_DEVICE, .target_memory = STALLSCOPE_MEMORY_PAGEABLE});
  stallscope_end();
}

static void* short_thread(void* argument) {
  (void)argument;
  nvtxRangePushA("in thread");
  nvtxRangePop();
  return NULL;
}

static void threads(int count) {
  for (int i = 0; i < count; i += 8) {
    pthread_t group[8];
    for (int k = 0; k < 8; ++k) pthread_create(&group[k], NULL, short_thread, NULL);
    for (int k = 0; k < 8; ++k) pthread_join(group[k], NULL);
  }
}

static void children(int count) {
  nvtxRangePushA("in parent");
  for (int i = 0; i < count; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      nvtxRangePushA("in child");
      nvtxRangePop();
      nvtxRangePop(); /* the parent's range: not ours to end */
      nvtxRangePushA("left open in child");
      _exit(0);
    }
    waitpid(pid, NULL, 0);
  }
  nvtxRangePop();
}

static void deep(int depth) {
  for (int i = 0; i < depth; ++i) nvtxRangePushA("level");
  for (int i = 0; i < depth; ++i) nvtxRangePop();
  ranges(10);
}

static void unique(int count) {
  char name[64];
  for (int i = 0; i < count; ++i) {
    snprintf(name, sizeof name, "aten::mul, op_id = %d", i);
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

static void close_all(int count) {
  ranges(10);
  for (int fd = 0; fd < 1024; ++fd) close(fd);
  /* The program's own files now get the numbers that the recorder may have had. */
  const int mine = open("own-file", O_RDWR | O_CREAT | O_TRUNC, 0600);
  ranges(count);
  if (write(mine, "mine", 4) != 4) _exit(9);
}

static __attribute__((noinline)) void blocked(void) {
  stallscope_api_begin("cudaDeviceSynchronize",
                       (stallscope_api){.call = STALLSCOPE_API_DEVICE_SYNC, .device = 0});
  stallscope_end();
  __asm__ volatile("");
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? atoi(argv[2]) : 0;
  if (strcmp(mode, "ranges") == 0) ranges(count);
  if (strcmp(mode, "unique") == 0) unique(count);
  if (strcmp(mode, "every-call") == 0) every_call();
  if (strcmp(mode, "payloads") == 0) payloads();
  if (strcmp(mode, "annotations") == 0) annotations();
  if (strcmp(mode, "threads") == 0) threads(count);
  if (strcmp(mode, "children") == 0) children(count);
  if (strcmp(mode, "deep") == 0) deep(count);
  if (strcmp(mode, "close-all") == 0) close_all(count);
  if (strcmp(mode, "endless") == 0) endless(argv[2]);
  if (strcmp(mode, "stacks") == 0) {
    blocked(); /* line A */
    blocked(); /* line B */
  }
  if (strcmp(mode, "segfault") == 0) {
    nvtxRangePushA("before the fault");
    ranges(count);
    raise(SIGSEGV);
  }
  if (strcmp(mode, "exec") == 0) {
    ranges(3);
    execl(argv[0], argv[0], "ranges", "5", (char*)NULL);
  }
  if (strcmp(mode, "file-limit") == 0) {
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    ranges(count);
  }
  if (strcmp(mode, "capture") == 0) {
    ranges(5);
    nvtxRangePushA("window");
    ranges(3);
    nvtxRangePop();
    ranges(5);
  }
  puts("output of the program");
  return 0;
}
