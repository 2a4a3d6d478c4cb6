// Definitions: strings, domains, schemas, stacks, modules. Each is defined once
// per process, kept in a private log, and copied to the file; a forked child
// copies the whole log to a file of its own, so that handles stay valid.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "collect/session.h"

namespace stallscope::collect {

/// Prepares the tables. False when there is no memory.
bool prepare_definitions();

/// Adds a definition to the log and, when a session runs, to the file.
/// False when it is too large or there is no memory.
bool define(const segment::Record& head, const void* body, size_t body_bytes, uint32_t tail);

/// Copies what the file lacks of the log; as much as there is room for.
void flush_definitions(Session& session);

/// The number of a string, defined if new; 0 for "" and when the table is full.
uint32_t intern(const char* text, size_t bytes);

/// The same for a C string; 0 for nullptr too.
inline uint32_t text_number(const char* text) {
  return text == nullptr ? 0 : intern(text, strlen(text));
}

/// A text as a string and a tail that goes with the event.
struct SplitText {
  uint32_t name = 0;
  uint32_t tail_bytes = 0;
  const char* tail = nullptr;
};

/// A name as recorded: a known string, or its stem and the rest once a stem has
/// many endings, or all of it inline when the table is full.
SplitText resolve(const char* text, size_t bytes);

/// The same for a wide text, converted to UTF-8 in `buffer`.
inline constexpr size_t kWideBuffer = 1024;
size_t to_utf8(const wchar_t* text, char (&buffer)[kWideBuffer]);

/// The number of a domain: 0 is the default one. Equal names share a number.
uint32_t domain_number(const char* name);

}  // namespace stallscope::collect
