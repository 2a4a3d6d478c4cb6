#include "collect/collective_record.h"

#include <string.h>

#include "collect/clock.h"
#include "collect/definitions.h"
#include "collect/event_record.h"
#include "collect/stack.h"
#include "collect/text.h"

namespace stallscope {

using namespace collect;

uint32_t group_number(uint64_t group) {
  char text[20] = "0x";
  for (int digit = 0; digit < 16; ++digit)
    text[2 + digit] = "0123456789abcdef"[(group >> (60 - 4 * digit)) & 15];
  text[18] = '\0';
  return intern(text, 18);
}

void begin_collective(CollectiveRecord& record) {
  record.start_ticks = ticks();
}

void end_collective(const CollectiveRecord& record) {
  Thread* const thread = this_thread();
  if (thread == nullptr) return;
  char name[64];
  TextBuilder(name, sizeof name)
      .add("nccl")
      .add(record.function != nullptr ? record.function : "Collective");
  // An api call: it enqueues. The collective itself is the kernel it launches.
  EventRecord event(EventKind::api, static_cast<uint8_t>(ApiCall::collective));
  event.name = intern(name, strlen(name));
  event.set_ticks(record.start_ticks, ticks());
  event.stack = take_stack(*thread, kStackLaunch);
  event.add(kKeyAsync, 1);
  if (record.bytes != 0) event.add(kKeyBytes, static_cast<int64_t>(record.bytes));
  if (record.elements != 0) event.add(kKeyElements, static_cast<int64_t>(record.elements));
  event.add_text(kKeyDataType, text_number(record.data_type));
  if (record.group != 0) event.add_text(kKeyGroup, group_number(record.group));
  if (record.has_sequence) event.add(kKeySequence, static_cast<int64_t>(record.sequence));
  if (record.ranks != 0) event.add(kKeyWorldSize, record.ranks);
  if (record.peer >= 0) event.add(kKeyPeer, record.peer);
  if (record.channels != 0) event.add(kKeyChannels, record.channels);
  event.add_text(kKeyAlgorithm, text_number(record.algorithm));
  event.add_text(kKeyProtocol, text_number(record.protocol));
  event.write();
}

}  // namespace stallscope
