#include "trace/sample_file.h"

#include <charconv>

namespace stallscope {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\t')
      out += "\\t";
    else if (c == '\n')
      out += "\\n";
    else if (c == '\\')
      out += "\\\\";
    else
      out += c;
  }
  return out;
}

template <typename T>
bool parse(const std::string& text, T& out) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && stop == end;
}

}  // namespace

SampleWriter::SampleWriter(int64_t pid, const RankIdentity& identity) {
  text_ = std::string(kSampleMagic) + "\t" + std::to_string(pid) + "\t" +
          std::to_string(identity.rank) + "\t" + std::to_string(identity.local_rank) + "\t" +
          std::to_string(identity.world_size) + "\n";
}

uint32_t SampleWriter::frame(const std::string& function, const std::string& file, uint32_t line) {
  const auto [it, added] = frames_.try_emplace({function, file, line}, frame_count_);
  if (!added) return it->second;
  text_ += "f\t" + std::to_string(line) + "\t" + escaped(function) + "\t" + escaped(file) + "\n";
  return frame_count_++;
}

uint32_t SampleWriter::native(uint64_t address, const std::string& module,
                              const std::string& build_id) {
  text_ += "a\t" + std::to_string(address) + "\t" + escaped(module) + "\t" + build_id + "\n";
  return frame_count_++;
}

uint32_t SampleWriter::stack(std::span<const uint32_t> frames) {
  const auto [it, added] = stacks_.try_emplace(std::vector<uint32_t>(frames.begin(), frames.end()),
                                               static_cast<uint32_t>(stacks_.size()));
  if (added) {
    text_ += "s\t";
    for (const uint32_t frame : frames) text_ += std::to_string(frame) + " ";
    text_.back() = '\n';
  }
  return it->second;
}

void SampleWriter::event(int64_t tid, Ns start, Ns duration, uint32_t stack, SampleState state,
                         int64_t holder) {
  text_ += 'e';
  const auto add = [this](int64_t number) {
    char digits[24];
    text_ += '\t';
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  };
  for (const int64_t number :
       {tid, start, duration, static_cast<int64_t>(stack), static_cast<int64_t>(state)})
    add(number);
  if (holder != 0) add(holder);
  text_ += '\n';
}

void SampleWriter::counter(Ns time, std::string_view name, double value) {
  char digits[64];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  text_ += "c\t" + std::to_string(time) + "\t" + escaped(name) + "\t" +
           std::string(digits, error == std::errc() ? end : digits) + "\n";
}

void SampleWriter::note(std::string_view text) {
  text_ += "n\t" + escaped(text) + "\n";
}

std::vector<std::string> sample_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\t') {
      fields.emplace_back();
    } else if (c == '\\' && i + 1 < line.size()) {
      const char hidden = line[++i];
      fields.back() += hidden == 't' ? '\t' : hidden == 'n' ? '\n' : hidden;
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

bool parse_sample_head(std::string_view line, int64_t& pid, RankIdentity& identity) {
  const std::vector<std::string> fields = sample_fields(line);
  return fields.size() == 5 && fields[0] == kSampleMagic && parse(fields[1], pid) && pid > 0 &&
         parse(fields[2], identity.rank) && parse(fields[3], identity.local_rank) &&
         parse(fields[4], identity.world_size);
}

}  // namespace stallscope
