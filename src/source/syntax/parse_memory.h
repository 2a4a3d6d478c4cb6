/* Memory of one parse: taken from large blocks without locks, given back all at
 * once. A third of the time tree-sitter takes goes into malloc, free and atomic
 * reference counts; nothing of a parse is ever seen by another thread, so its
 * sources are built with this file included first (cmake/TreeSitter.cmake).
 */
#ifndef STALLSCOPE_SOURCE_PARSE_MEMORY_H
#define STALLSCOPE_SOURCE_PARSE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kParseMemoryClasses = 65 }; /* freed pieces of up to 64 words are used again */

struct ParseMemory {
  char* next;
  char* end;
  void* freed[kParseMemoryClasses]; /* per size in words: a list through their first word */
};

extern __thread struct ParseMemory parse_memory __attribute__((tls_model("initial-exec")));
/* A block with room for `bytes` becomes the current one. Ends the program when there is none. */
void parse_memory_grow(size_t bytes);

static inline size_t* parse_memory_words(void* piece) {
  return (size_t*)piece - 1; /* its size stands before it */
}

static inline void* parse_malloc(size_t size) {
  size_t words = (size + 7) / 8 + (size == 0);
  struct ParseMemory* memory = &parse_memory;
  if (words < kParseMemoryClasses && memory->freed[words]) {
    void* piece = memory->freed[words];
    memory->freed[words] = *(void**)piece;
    return piece;
  }
  if ((size_t)(memory->end - memory->next) < 8 * (words + 1)) parse_memory_grow(8 * (words + 1));
  size_t* piece = (size_t*)memory->next;
  memory->next += 8 * (words + 1);
  *piece = words;
  return piece + 1;
}

static inline void parse_free(void* piece) {
  if (!piece) return;
  size_t words = *parse_memory_words(piece);
  if (words >= kParseMemoryClasses) return;
  *(void**)piece = parse_memory.freed[words];
  parse_memory.freed[words] = piece;
}

static inline void* parse_calloc(size_t count, size_t size) {
  return memset(parse_malloc(count * size), 0, count * size);
}

static inline void* parse_realloc(void* piece, size_t size) {
  if (!piece) return parse_malloc(size);
  size_t words = *parse_memory_words(piece);
  if (8 * words >= size) return piece;
  void* larger = parse_malloc(size);
  memcpy(larger, piece, 8 * words);
  parse_free(piece);
  return larger;
}

#ifdef __cplusplus
}

namespace stallscope {

/// While it lives, this thread may parse; when it ends, every tree and parser is gone.
class ParseMemoryScope {
 public:
  ParseMemoryScope() = default;
  ~ParseMemoryScope();
  ParseMemoryScope(const ParseMemoryScope&) = delete;
  ParseMemoryScope& operator=(const ParseMemoryScope&) = delete;
};

}  // namespace stallscope
#else

#define ts_malloc parse_malloc
#define ts_calloc parse_calloc
#define ts_realloc parse_realloc
#define ts_free parse_free

/* tree-sitter's atomic.h, for one thread. */
#define TREE_SITTER_ATOMIC_H_
static inline size_t atomic_load(const volatile size_t* p) {
  return *p;
}
static inline uint32_t atomic_inc(volatile uint32_t* p) {
  return *p += 1;
}
static inline uint32_t atomic_dec(volatile uint32_t* p) {
  return *p -= 1;
}
#endif
#endif
