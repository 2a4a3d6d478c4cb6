#include "collect/cupti_graphs.h"

#include <string.h>

#include "collect/clock.h"
#include "collect/definitions.h"
#include "collect/event_record.h"
#include "collect/memory.h"
#include "collect/stack.h"
#include "collect/text.h"

namespace stallscope::collect {
namespace {

// Stacks by node. Nodes are numbered once and never again, so a program that goes on making graphs
// fills any table: a full one becomes the old one, and what is still asked for moves on.
constexpr uint32_t kSlots = 1 << 17;
constexpr uint32_t kFull = kSlots / 4 * 3;
struct Slot {
  uint64_t node;  ///< its number plus 1; 0 = empty
  uint64_t stack;
};
SpinLock g_lock;
Slot* g_young = nullptr;
Slot* g_old = nullptr;
uint32_t g_used = 0;

Slot& slot_of(Slot* table, uint64_t key) {
  auto index = static_cast<uint32_t>(key * 0x9e3779b97f4a7c15ULL >> 40) % kSlots;
  while (table[index].node != 0 && table[index].node != key) index = (index + 1) % kSlots;
  return table[index];
}

// Both with the lock held.
uint32_t find(uint64_t key) {
  if (g_young == nullptr) return 0;
  const Slot& slot = slot_of(g_young, key);
  if (slot.node == key) return static_cast<uint32_t>(slot.stack);
  const Slot& old = slot_of(g_old, key);
  return old.node == key ? static_cast<uint32_t>(old.stack) : 0;
}

void keep(uint64_t key, uint32_t stack) {
  if (g_young == nullptr) {
    g_young = static_cast<Slot*>(map_private(kSlots * sizeof(Slot)));
    g_old = static_cast<Slot*>(map_private(kSlots * sizeof(Slot)));
    if (g_young == nullptr || g_old == nullptr) {
      g_young = nullptr;
      return;
    }
  }
  if (g_used == kFull) {
    Slot* const oldest = g_old;
    memset(oldest, 0, kSlots * sizeof(Slot));
    g_old = g_young;
    g_young = oldest;
    g_used = 0;
  }
  Slot& slot = slot_of(g_young, key);
  if (slot.node == 0) ++g_used;
  slot = {key, stack};
}

const char* node_name(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return "CUDA graph kernel node";
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return "CUDA graph copy node";
    case CU_GRAPH_NODE_TYPE_MEMSET:
      return "CUDA graph memset node";
    default:
      return nullptr;  // runs nothing on the device
  }
}

// With whole graphs this is all that is known of a node; where nodes are recorded one by one it
// tells when each was captured: beside the collective, say, that it runs.
void announce_node(uint32_t graph, const CUpti_GraphData& data, uint64_t node, uint64_t original,
                   uint32_t stack) {
  const char* const name = node_name(data.nodeType);
  if (name == nullptr) return;
  EventRecord event(EventKind::marker, 0);
  event.set_ticks(ticks(), 0);
  event.name = text_number(name);
  event.stack = stack;
  event.add(kKeyGraph, graph);
  event.add(kKeyGraphNode, static_cast<int64_t>(node));
  if (original != 0) event.add(kKeyExternalId, static_cast<int64_t>(original));
  event.write();
}

void on_node(const CuptiLibrary& cupti, const CUpti_GraphData& data, bool cloned) {
  uint64_t node = 0, original = 0;
  if (cupti.graph_node_id(data.node, &node) != CUPTI_SUCCESS) return;
  uint32_t graph = 0, stack = 0;
  cupti.graph_id(data.graph, &graph);
  if (cloned && cupti.graph_node_id(data.originalNode, &original) == CUPTI_SUCCESS)
    stack = capture_stack(original);
  if (!cloned) {
    // Instantiation may report a clone as created too: what captured it stands.
    if (capture_stack(node) != 0) return;
    if (Thread* const thread = this_thread(); thread != nullptr && thread->in_recorder == 0)
      stack = take_stack(*thread, kStackLaunch);
  }
  if (stack != 0) {
    Locked lock(g_lock);
    if (lock) keep(node + 1, stack);
  }
  announce_node(graph, data, node, cloned ? original : 0, stack);
}

// Runs of an executable graph may carry its own number or that of the graph it was made from.
void on_executable(const CuptiLibrary& cupti, const CUpti_GraphData& data) {
  uint32_t executable = 0, graph = 0;
  if (cupti.graph_exec_id(data.graphExec, &executable) != CUPTI_SUCCESS ||
      cupti.graph_id(data.graph, &graph) != CUPTI_SUCCESS)
    return;
  EventRecord event(EventKind::marker, 0);
  event.set_ticks(ticks(), 0);
  event.name = text_number("CUDA graph instantiated");
  event.add(kKeyGraph, executable);
  event.add(kKeyExternalId, graph);
  event.write();
}

}  // namespace

bool trace_graphs(const CuptiLibrary& cupti, CUpti_SubscriberHandle subscriber) {
  if (cupti.graph_node_id == nullptr || cupti.graph_id == nullptr || cupti.graph_exec_id == nullptr)
    return false;
  for (const CUpti_CallbackId what :
       {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
        CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED})
    if (cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, what) != CUPTI_SUCCESS)
      return false;
  return true;
}

void on_graph(const CuptiLibrary& cupti, CUpti_CallbackId what,
              const CUpti_ResourceData& resource) {
  const auto* data = static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  if (data == nullptr) return;
  if (what == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED) return on_executable(cupti, *data);
  on_node(cupti, *data, what == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
}

uint32_t capture_stack(uint64_t node_id) {
  Locked lock(g_lock);
  if (!lock) return 0;
  const uint32_t stack = find(node_id + 1);
  // Still in use: it moves to the young table, so that it outlives the old one.
  if (stack != 0 && slot_of(g_young, node_id + 1).node == 0 && g_used < kFull)
    keep(node_id + 1, stack);
  return stack;
}

}  // namespace stallscope::collect
