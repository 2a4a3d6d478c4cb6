// Large blocks of memory begin on a huge page and ask for huge pages. A trace
// of 10 M events fills some 850 MB of columns once; at 4 KiB a page, the kernel
// spends a quarter of the whole report on page faults.
#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "base/sanitized.h"

#ifndef STALLSCOPE_SANITIZED  // sanitizers bring an allocator of their own

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kLarge = 4 * kHugePage;  // below, rounding up would waste too much

void* allocate(std::size_t size) {
  if (size < kLarge) return std::malloc(size != 0 ? size : 1);
  const std::size_t rounded = (size + kHugePage - 1) & ~(kHugePage - 1);
  void* block = rounded >= size ? std::aligned_alloc(kHugePage, rounded) : nullptr;
  if (block != nullptr) ::madvise(block, rounded, MADV_HUGEPAGE);  // advice: failing is no error
  return block;
}

}  // namespace

void* operator new(std::size_t size) {
  for (;;) {
    if (void* block = allocate(size)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}

#endif
