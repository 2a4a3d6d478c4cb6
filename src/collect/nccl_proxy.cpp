#include "collect/nccl_proxy.h"

#include <string.h>

#include "collect/clock.h"
#include "collect/definitions.h"
#include "collect/event_record.h"
#include "collect/nccl_abi.h"
#include "collect/text.h"

namespace stallscope::nccl {

using namespace collect;

bool begin_proxy(uint64_t type, void* parent, OpenEvent& event) {
  const char* const name = type == kProxyOp         ? "NCCL proxy operation"
                           : type == kProxyStep     ? "NCCL proxy step"
                           : type == kNetworkPlugin ? "NCCL network plugin"
                           : type == kKernelChannel ? "NCCL kernel on its channel"
                                                    : nullptr;
  if (name == nullptr) return false;
  OpenEvent of;
  if (find_event(parent, of)) {
    event.record = of.record;
    event.channel = of.channel;
    // What is known of the whole does not hold for a part of it.
    event.record.bytes = event.record.elements = 0;
    if (of.type == kCollective) event.record.peer = -1;
  }
  event.type = type;
  event.parent = parent;
  event.name = name;
  event.record.start_ticks = ticks();
  return true;
}

void end_proxy(const OpenEvent& event) {
  if (this_thread() == nullptr) return;
  const CollectiveRecord& of = event.record;
  EventRecord written(EventKind::range, static_cast<uint8_t>(RangeKind::annotation));
  written.name = text_number(event.name);
  written.set_ticks(of.start_ticks, ticks());
  if (event.channel >= 0) {
    char channel[32];
    TextBuilder(channel, sizeof channel).add(", channel = ").add_number(event.channel);
    written.add_text(kKeyArgs, text_number(channel));
  }
  if (of.bytes != 0) written.add(kKeyBytes, static_cast<int64_t>(of.bytes));
  if (of.group != 0) written.add_text(kKeyGroup, group_number(of.group));
  if (of.has_sequence) written.add(kKeySequence, static_cast<int64_t>(of.sequence));
  if (of.peer >= 0) written.add(kKeyPeer, of.peer);
  written.add_text(kKeyCollective, text_number(of.function));
  written.write();
}

}  // namespace stallscope::nccl
