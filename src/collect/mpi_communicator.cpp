#include "collect/mpi_communicator.h"

#include "collect/memory.h"

namespace stallscope::mpi {
namespace {

constexpr uint32_t kMaxCommunicators = 1024;
constexpr uint32_t kMaxKnownMembers = 1024;
constexpr int kMaxMembersRead = 4096;

struct Entry {
  Handle handle;
  Communicator communicator;
  uint64_t sequence;
  bool used;
};
/// How often a communicator of the same members was made: tells duplicates apart.
struct Members {
  uint64_t hash;
  uint32_t made;
};

collect::SpinLock g_lock;
Entry g_entries[kMaxCommunicators];
uint32_t g_entry_count = 0;
Members g_members[kMaxKnownMembers];
uint32_t g_members_count = 0;

Function<int(Handle, int*)> g_comm_size("PMPI_Comm_size");
Function<int(Handle, int*)> g_comm_test_inter("PMPI_Comm_test_inter");
Function<int(Handle, Handle*)> g_comm_group("PMPI_Comm_group");
Function<int(Handle, int, const int*, Handle, int*)> g_translate("PMPI_Group_translate_ranks");
Function<int(Handle*)> g_group_free("PMPI_Group_free");

uint64_t mix(uint64_t hash, uint64_t value) {
  const auto product = static_cast<unsigned __int128>(hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// A number from the members' ranks in MPI_COMM_WORLD: the same on each of them.
uint64_t hash_members(Handle communicator, int size) {
  uint64_t hash = mix(0x4d5049, static_cast<uint64_t>(size));
  Handle group = 0, world_group = 0;
  if (g_comm_group(communicator, &group) != 0) return hash;
  if (g_comm_group(world(), &world_group) == 0) {
    const int count = size < kMaxMembersRead ? size : kMaxMembersRead;
    constexpr int kBatch = 64;
    for (int first = 0; first < count; first += kBatch) {
      int ranks[kBatch], in_world[kBatch];
      const int batch = count - first < kBatch ? count - first : kBatch;
      for (int i = 0; i < batch; ++i) ranks[i] = first + i;
      if (g_translate(group, batch, ranks, world_group, in_world) != 0) break;
      for (int i = 0; i < batch; ++i) hash = mix(hash, static_cast<uint64_t>(in_world[i]) + 1);
    }
    g_group_free(&world_group);
  }
  g_group_free(&group);
  return hash;
}

// With the lock held.
uint32_t count_made(uint64_t hash) {
  for (uint32_t i = 0; i < g_members_count; ++i)
    if (g_members[i].hash == hash) return g_members[i].made++;
  if (g_members_count < kMaxKnownMembers) g_members[g_members_count++] = {hash, 1};
  return 0;
}

Entry* find(Handle handle) {
  for (uint32_t i = 0; i < g_entry_count; ++i)
    if (g_entries[i].used && g_entries[i].handle == handle) return &g_entries[i];
  return nullptr;
}

Entry* add(Handle communicator) {
  int size = 0, inter = 0;
  if (g_comm_size(communicator, &size) != 0) return nullptr;
  // The members of the other side are not in the local group: no common identity.
  const bool known = g_comm_test_inter(communicator, &inter) == 0 && inter == 0;
  const uint64_t hash = known ? hash_members(communicator, size) : 0;
  const collect::Locked locked(g_lock);
  if (!locked) return nullptr;
  Entry* entry = find(handle_value(communicator));
  for (uint32_t i = 0; entry == nullptr && i < g_entry_count; ++i)
    if (!g_entries[i].used) entry = &g_entries[i];
  if (entry == nullptr && g_entry_count < kMaxCommunicators) entry = &g_entries[g_entry_count++];
  if (entry == nullptr) return nullptr;
  *entry = {handle_value(communicator),
            {known ? mix(hash, count_made(hash) + 1ULL) >> 1 : 0, static_cast<uint32_t>(size)},
            0,
            true};
  return entry;
}

Entry* known_or_added(Handle communicator) {
  Entry* entry = nullptr;
  {
    const collect::Locked locked(g_lock);
    if (locked) entry = find(handle_value(communicator));
  }
  return entry != nullptr ? entry : add(communicator);
}

}  // namespace

Communicator describe(Handle communicator) {
  const Entry* entry = known_or_added(communicator);
  return entry == nullptr ? Communicator{} : entry->communicator;
}

uint64_t next_sequence(Handle communicator) {
  Entry* entry = known_or_added(communicator);
  return entry == nullptr ? 0 : __atomic_add_fetch(&entry->sequence, 1, __ATOMIC_RELAXED);
}

void note_created(Handle communicator) {
  add(communicator);
}

void note_freed(Handle communicator) {
  const collect::Locked locked(g_lock);
  if (!locked) return;
  if (Entry* entry = find(handle_value(communicator))) entry->used = false;
}

}  // namespace stallscope::mpi
