#include "collect/definitions.h"

#include <string.h>

#include "collect/chunks.h"

namespace stallscope::collect {
namespace {

constexpr size_t kLogBlockBytes = 256 * 1024;
constexpr uint32_t kMaxDomains = 255;

struct LogBlock {
  LogBlock* next;
  uint32_t used;
  uint32_t reserved;
  uint8_t data[kLogBlockBytes - 16];
};

struct Domain {
  uint32_t name;
};

LogBlock* g_log_first = nullptr;
LogBlock* g_log_last = nullptr;
Domain g_domains[kMaxDomains + 1];
uint32_t g_domain_count = 1;

// With define_lock held.
uint8_t* log_space(uint32_t bytes) {
  if (g_log_last == nullptr || g_log_last->used + bytes > sizeof g_log_last->data) {
    auto* block = static_cast<LogBlock*>(map_private(sizeof(LogBlock)));
    if (block == nullptr) return nullptr;
    if (g_log_last == nullptr)
      g_log_first = block;
    else
      g_log_last->next = block;
    g_log_last = block;
  }
  return g_log_last->data + g_log_last->used;
}

// With define_lock held. Copies one record and makes it valid in its new chunk.
bool copy_to_file(Session& session, const uint8_t* record, uint32_t bytes) {
  if (session.define_cursor == nullptr || session.define_cursor + bytes > session.define_limit) {
    Room room;
    if (!take_chunk(session, segment::ChunkType::definitions, &room)) return false;
    session.define_cursor = room.cursor;
    session.define_limit = room.limit;
    session.define_key = room.key;
  }
  uint8_t* place = session.define_cursor;
  memcpy(place, record, bytes - sizeof(uint32_t));
  uint64_t first_word;
  memcpy(&first_word, record, sizeof first_word);
  __atomic_store_n(reinterpret_cast<uint32_t*>(place + bytes - sizeof(uint32_t)),
                   segment::commit_word(session.define_key, first_word), __ATOMIC_RELEASE);
  session.define_cursor += bytes;
  return true;
}

// With define_lock held.
void flush_locked(Session& session) {
  auto* block = static_cast<LogBlock*>(session.flushed_block);
  if (block == nullptr) block = g_log_first;
  while (block != nullptr) {
    while (session.flushed_bytes < block->used) {
      const uint8_t* record = block->data + session.flushed_bytes;
      const uint32_t bytes = record[1] * static_cast<uint32_t>(segment::kUnit);
      if (!copy_to_file(session, record, bytes)) {
        session.flushed_block = block;
        return;
      }
      session.flushed_bytes += bytes;
    }
    session.flushed_block = block;
    if (block->next == nullptr) return;
    block = block->next;
    session.flushed_bytes = 0;
  }
}

}  // namespace

bool define(const segment::Record& head, const void* body, size_t body_bytes, uint32_t tail) {
  const size_t unpadded = sizeof head + body_bytes + sizeof(segment::Tail);
  const size_t bytes = (unpadded + segment::kUnit - 1) / segment::kUnit * segment::kUnit;
  if (bytes > segment::kMaxRecordBytes) return false;
  Session* active = g_session;
  const Locked locked(active->define_lock);
  if (!locked) return false;
  uint8_t* place = log_space(static_cast<uint32_t>(bytes));
  if (place == nullptr) return false;
  segment::Record sized = head;
  sized.units = static_cast<uint8_t>(bytes / segment::kUnit);
  memcpy(place, &sized, sizeof sized);
  if (body_bytes > 0) memcpy(place + sizeof sized, body, body_bytes);
  const segment::Tail end{tail, 0};
  memcpy(place + bytes - sizeof end, &end, sizeof end);
  __atomic_store_n(&g_log_last->used, g_log_last->used + static_cast<uint32_t>(bytes),
                   __ATOMIC_RELEASE);
  if (is_active(active)) flush_locked(*active);
  return true;
}

void flush_definitions(Session& session) {
  const Locked locked(session.define_lock);
  if (locked) flush_locked(session);
}

uint32_t domain_number(const char* name) {
  if (name == nullptr) return 0;
  const uint32_t text = intern(name, strlen(name));
  for (uint32_t number = 1; number < g_domain_count; ++number)
    if (g_domains[number].name == text) return number;
  const Locked locked(g_session->number_lock);
  if (!locked || g_domain_count > kMaxDomains) return 0;
  const uint32_t number = g_domain_count;
  segment::Record head{};
  head.kind = segment::RecordKind::domain;
  head.name = text;
  head.extra = number;
  if (!define(head, nullptr, 0, 0)) return 0;
  g_domains[number].name = text;
  __atomic_store_n(&g_domain_count, number + 1, __ATOMIC_RELEASE);
  return number;
}

size_t to_utf8(const wchar_t* text, char (&buffer)[kWideBuffer]) {
  size_t used = 0;
  for (; *text != 0 && used + 4 < kWideBuffer; ++text) {
    // wchar_t is signed here, but no character is negative.
    auto code = static_cast<uint32_t>(*text);  // NOLINT(bugprone-signed-char-misuse)
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    if (code < 0x80) {
      buffer[used++] = static_cast<char>(code);
    } else if (code < 0x800) {
      buffer[used++] = static_cast<char>(0xc0 | (code >> 6));
      buffer[used++] = static_cast<char>(0x80 | (code & 63));
    } else if (code < 0x10000) {
      buffer[used++] = static_cast<char>(0xe0 | (code >> 12));
      buffer[used++] = static_cast<char>(0x80 | ((code >> 6) & 63));
      buffer[used++] = static_cast<char>(0x80 | (code & 63));
    } else {
      buffer[used++] = static_cast<char>(0xf0 | (code >> 18));
      buffer[used++] = static_cast<char>(0x80 | ((code >> 12) & 63));
      buffer[used++] = static_cast<char>(0x80 | ((code >> 6) & 63));
      buffer[used++] = static_cast<char>(0x80 | (code & 63));
    }
  }
  buffer[used] = '\0';
  return used;
}

}  // namespace stallscope::collect
