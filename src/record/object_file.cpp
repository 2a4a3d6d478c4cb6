#include "record/object_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <vector>

#include "base/units.h"

namespace stallscope {
namespace {

bool read_at(int fd, uint64_t offset, void* into, size_t bytes) {
  return ::pread(fd, into, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

std::string build_id_in(const std::vector<uint8_t>& notes) {
  for (size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr head;
    std::memcpy(&head, notes.data() + at, sizeof head);
    const size_t name = at + sizeof head, content = name + ((head.n_namesz + 3ULL) & ~3ULL);
    const size_t next = content + ((head.n_descsz + 3ULL) & ~3ULL);
    if (next > notes.size()) return {};
    if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
        std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      constexpr char kDigits[] = "0123456789abcdef";
      std::string text;
      for (size_t i = 0; i < head.n_descsz; ++i) {
        text += kDigits[notes[content + i] >> 4];
        text += kDigits[notes[content + i] & 15];
      }
      return text;
    }
    at = next;
  }
  return {};
}

}  // namespace

std::unique_ptr<ObjectFile> ObjectFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return nullptr;
  std::unique_ptr<ObjectFile> object(new ObjectFile);
  const bool good = object->read(fd);
  ::close(fd);
  return good ? std::move(object) : nullptr;
}

ObjectFile::~ObjectFile() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

bool ObjectFile::read(int fd) {
  struct stat info = {};
  Elf64_Ehdr header;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      !read_at(fd, 0, &header, sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr))
    return false;
  const auto file_bytes = static_cast<uint64_t>(info.st_size);
  std::vector<Elf64_Phdr> parts(header.e_phnum);
  if (!read_at(fd, header.e_phoff, parts.data(), parts.size() * sizeof(Elf64_Phdr))) return false;
  std::optional<uint64_t> tables;
  bool code = false;
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 && !code) {
      code = true;
      code_offset_ = part.p_offset;
      code_address_ = part.p_vaddr;
    }
    if (part.p_type == PT_GNU_EH_FRAME) tables = part.p_vaddr;
    constexpr uint64_t kMostNotes = 64 * 1024;
    if (part.p_type == PT_NOTE && build_id_.empty() && part.p_filesz <= kMostNotes) {
      std::vector<uint8_t> notes(part.p_filesz);
      if (read_at(fd, part.p_offset, notes.data(), notes.size())) build_id_ = build_id_in(notes);
    }
  }
  if (!code) return false;
  for (const Elf64_Phdr& part : parts) {
    if (!tables || part.p_type != PT_LOAD || *tables < part.p_vaddr ||
        *tables - part.p_vaddr >= part.p_filesz || part.p_offset > file_bytes ||
        part.p_filesz > file_bytes - part.p_offset)
      continue;
    const uint64_t before = part.p_offset % kPage;
    mapped_bytes_ = part.p_filesz + before;
    mapped_ = ::mmap(nullptr, mapped_bytes_, PROT_READ, MAP_PRIVATE, fd,
                     static_cast<off_t>(part.p_offset - before));
    if (mapped_ == MAP_FAILED) {
      mapped_ = nullptr;
      break;
    }
    const uint64_t begin = reinterpret_cast<uint64_t>(mapped_) + before;
    distance_ = begin - part.p_vaddr;
    tables_ = {.begin = begin, .end = begin + part.p_filesz, .header = *tables + distance_};
  }
  return true;
}

uint64_t ObjectFile::address_of_offset(uint64_t offset) const {
  return offset - code_offset_ + code_address_;
}

UnwindRule ObjectFile::rule_at(uint64_t address) const {
  if (mapped_ == nullptr) return {};
  UnwindRule rule = find_rule(tables_, address + distance_);
  if (rule.function != 0) rule.function -= distance_;
  return rule;
}

}  // namespace stallscope
