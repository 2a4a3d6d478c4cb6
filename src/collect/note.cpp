#include "collect/note.h"

#include <string.h>

#include "collect/definitions.h"

namespace stallscope::collect {

void note(const char* sentence) {
  segment::Record head{};
  head.kind = segment::RecordKind::note;
  head.name = intern(sentence, strlen(sentence));
  define(head, nullptr, 0, 0);
}

}  // namespace stallscope::collect
