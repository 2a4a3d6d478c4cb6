#include "record/remote_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "base/units.h"

namespace stallscope {

bool RemoteMemory::read(uint64_t address, void* into, size_t bytes) const {
  if (address == 0) return false;
  const struct iovec local = {into, bytes};
  const struct iovec remote = {reinterpret_cast<void*>(address), bytes};
  return ::process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool RemoteMemory::read(std::span<const Piece> pieces) const {
  struct iovec local[kMostPieces], remote[kMostPieces];
  size_t count = 0, bytes = 0;
  for (const Piece& piece : pieces.first(std::min(pieces.size(), kMostPieces))) {
    local[count] = {piece.into, piece.bytes};
    remote[count++] = {reinterpret_cast<void*>(piece.address), piece.bytes};
    bytes += piece.bytes;
  }
  return ::process_vm_readv(pid_, local, count, remote, count, 0) == static_cast<ssize_t>(bytes);
}

std::string RemoteMemory::c_string(uint64_t address, size_t limit) const {
  std::string text(limit, '\0');
  // A text may end just before memory that is not mapped: read up to the page's end first.
  const size_t first = std::min<size_t>(limit, kPage - address % kPage);
  if (!read(address, text.data(), first)) return {};
  if (std::memchr(text.data(), '\0', first) == nullptr && first < limit)
    (void)read(address + first, text.data() + first, limit - first);
  text.resize(std::strlen(text.c_str()));
  return text;
}

}  // namespace stallscope
