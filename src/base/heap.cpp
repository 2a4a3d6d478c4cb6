#include "base/heap.h"

#include <malloc.h>

namespace stallscope {

void keep_heap() {
  (void)mallopt(M_MMAP_THRESHOLD, kLargestHeapBlock);
  (void)mallopt(M_TRIM_THRESHOLD, 1 << 30);
  (void)mallopt(M_TOP_PAD, kHeapStep);
}

}  // namespace stallscope
