#include "collect/modules.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "collect/clock.h"
#include "collect/definitions.h"

namespace stallscope::collect {
namespace {

// What was defined already, by load address and path; in memory a child keeps,
// since the log it refers to is kept too.
constexpr uint32_t kMaxModules = 4096;
struct Known {
  uint64_t begin, end;  ///< of the code
  uint32_t name;
  UnwindObject tables;
};
Known g_known[kMaxModules];
uint32_t g_known_count = 0;
unsigned long long g_seen_loads = 0;
unsigned long long g_seen_unloads = 0;
uint32_t g_unload_count = 0;

void find_build_id(const uint8_t* note, size_t bytes, segment::Module& module) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    memcpy(&head, note, sizeof head);
    const size_t name = (head.n_namesz + 3U) & ~3U;
    const size_t content = (head.n_descsz + 3U) & ~3U;
    if (sizeof head + name + content > bytes) return;
    const uint8_t* text = note + sizeof head;
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(text, "GNU", 4) == 0 &&
        head.n_descsz <= sizeof module.build_id) {
      module.build_id_bytes = static_cast<uint8_t>(head.n_descsz);
      memcpy(module.build_id, text + name, head.n_descsz);
      return;
    }
    note += sizeof head + name + content;
    bytes -= sizeof head + name + content;
  }
}

bool known_already(uint64_t begin, uint32_t name) {
  for (uint32_t i = g_known_count; i > 0; --i)
    if (g_known[i - 1].begin == begin) return g_known[i - 1].name == name;
  return false;
}

int note_object(dl_phdr_info* object, size_t, void* argument) {
  const char* path = object->dlpi_name;
  char program[1024];
  if (path == nullptr || path[0] == '\0') {
    if (*static_cast<uint32_t*>(argument) != 0) return 0;  // the vDSO on some systems
    const ssize_t bytes = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (bytes <= 0) return 0;
    program[bytes] = '\0';
    path = program;
  }
  ++*static_cast<uint32_t*>(argument);
  segment::Module module{};
  module.text_begin = ~0ULL;
  UnwindObject tables;
  tables.begin = ~0ULL;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const uint64_t address = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) {
      if (address < tables.begin) tables.begin = address;
      if (address + part.p_memsz > tables.end) tables.end = address + part.p_memsz;
      if ((part.p_flags & PF_X) == 0) continue;
      if (address < module.text_begin) module.text_begin = address;
      if (address + part.p_memsz > module.text_end) module.text_end = address + part.p_memsz;
    } else if (part.p_type == PT_GNU_EH_FRAME) {
      tables.header = address;
    } else if (part.p_type == PT_NOTE) {
      find_build_id(reinterpret_cast<const uint8_t*>(address), part.p_memsz, module);
    }
  }
  const uint32_t name = intern(path, strlen(path));
  if (module.text_end == 0 || known_already(module.text_begin, name)) return 0;
  module.ticks = ticks();
  segment::Record head{};
  head.kind = segment::RecordKind::module;
  head.name = name;
  head.start = object->dlpi_addr;
  if (define(head, &module, sizeof module, 0) && g_known_count < kMaxModules) {
    g_known[g_known_count] = {module.text_begin, module.text_end, name, tables};
    __atomic_store_n(&g_known_count, g_known_count + 1, __ATOMIC_RELEASE);
  }
  return 0;
}

int read_counters(dl_phdr_info* object, size_t bytes, void* changed) {
  if (bytes < offsetof(dl_phdr_info, dlpi_subs) + sizeof object->dlpi_subs) return 1;
  *static_cast<bool*>(changed) =
      object->dlpi_adds != g_seen_loads || object->dlpi_subs != g_seen_unloads;
  if (object->dlpi_subs != g_seen_unloads) __atomic_add_fetch(&g_unload_count, 1, __ATOMIC_RELEASE);
  g_seen_loads = object->dlpi_adds;
  g_seen_unloads = object->dlpi_subs;
  return 1;
}

}  // namespace

void note_modules(Session& session) {
  const Locked locked(session.module_lock);
  if (!locked) return;
  __atomic_store_n(&session.modules_stale, 0, __ATOMIC_RELAXED);
  bool changed = true;
  dl_iterate_phdr(read_counters, &changed);
  if (!changed) return;
  uint32_t seen = 0;
  dl_iterate_phdr(note_object, &seen);
}

UnwindObject object_at(uint64_t address) {
  // The latest first: an address may have been another object's before.
  for (uint32_t i = __atomic_load_n(&g_known_count, __ATOMIC_ACQUIRE); i > 0; --i)
    if (address >= g_known[i - 1].begin && address < g_known[i - 1].end)
      return g_known[i - 1].tables;
  return {};
}

uint32_t unload_count() {
  return __atomic_load_n(&g_unload_count, __ATOMIC_ACQUIRE);
}

}  // namespace stallscope::collect
