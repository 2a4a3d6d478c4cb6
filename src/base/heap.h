// How this process's heap grows.
#pragma once

namespace stallscope {

constexpr int kHeapStep = 16 << 20;          ///< bytes that the heap grows by
constexpr int kLargestHeapBlock = 32 << 20;  ///< larger ones are a mapping of their own

/// Lets the heap grow in large steps, and keep what is freed: of work that allocates much, on many
/// threads, a fortieth of the time goes else into system calls and page faults. For programs that
/// end with their work.
void keep_heap();

}  // namespace stallscope
