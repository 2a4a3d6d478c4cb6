#include "trainer/checkpoint/safetensors.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace stallscope::trainer {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLengthBytes = 8;
constexpr const char* kMetadata = "__metadata__";

size_t bytes_of(const std::string& type) {
  return type == "F64" ? 8 : type == "F32" || type == "I32" ? 4 : 0;
}

// The bytes of a shape; false when the type is unknown or they overflow.
bool expected_bytes(const std::string& type, const std::vector<size_t>& shape, size_t& bytes) {
  bytes = bytes_of(type);
  if (bytes == 0) return false;
  for (const size_t n : shape)
    if (__builtin_mul_overflow(bytes, n, &bytes)) return false;
  return true;
}

// One entry of the header; false when it does not describe bytes within `data_bytes`.
bool read_entry(const std::string& name, const Json& entry, const unsigned char* data,
                size_t data_bytes, StoredTensor& tensor) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() ||
      !entry.contains("shape") || !entry["shape"].is_array() || !entry.contains("data_offsets") ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
    return false;
  tensor.name = name;
  tensor.type = entry["dtype"].get<std::string>();
  for (const Json& n : entry["shape"]) {
    if (!n.is_number_unsigned()) return false;
    tensor.shape.push_back(n.get<size_t>());
  }
  for (const Json& n : entry["data_offsets"])
    if (!n.is_number_unsigned()) return false;
  const size_t begin = entry["data_offsets"][0].get<size_t>();
  const size_t end = entry["data_offsets"][1].get<size_t>();
  size_t bytes = 0;
  if (!expected_bytes(tensor.type, tensor.shape, bytes)) return false;
  if (begin > end || end > data_bytes || end - begin != bytes) return false;
  tensor.data = data + begin;
  return true;
}

}  // namespace

size_t StoredTensor::bytes() const {
  size_t bytes = 0;
  expected_bytes(type, shape, bytes);
  return bytes;
}

const StoredTensor* StoredTensors::find(const std::string& name) const {
  const auto found = std::ranges::find(tensors, name, &StoredTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

Status write_safetensors(const std::string& path, const StoredTensors& content) {
  Json header = Json::object();
  if (!content.metadata.empty()) header[kMetadata] = content.metadata;
  size_t at = 0;
  for (const StoredTensor& it : content.tensors) {
    header[it.name] = {
        {"dtype", it.type}, {"shape", it.shape}, {"data_offsets", {at, at + it.bytes()}}};
    at += it.bytes();
  }
  std::string text = header.dump();
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');
  unsigned char length[kLengthBytes];
  for (size_t i = 0; i < kLengthBytes; ++i)
    length[i] = static_cast<unsigned char>(text.size() >> (8 * i));

  const std::string unfinished = path + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  file.write(reinterpret_cast<const char*>(length), kLengthBytes);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  for (const StoredTensor& it : content.tensors)
    file.write(static_cast<const char*>(it.data), static_cast<std::streamsize>(it.bytes()));
  file.close();
  if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    std::remove(unfinished.c_str());
    return Error{.message = "cannot be written", .file = path};
  }
  return ok_status();
}

Result<StoredTensors> read_safetensors(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return Error{.message = "cannot be read", .file = path};
  const std::streamoff size = file.tellg();
  auto damaged = [&](const std::string& what) {
    return Error{.message = "is no checkpoint of tensors: " + what, .file = path};
  };
  if (size < static_cast<std::streamoff>(kLengthBytes)) return damaged("it is too short");
  StoredTensors content;
  content.memory.resize(static_cast<size_t>(size));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(content.memory.data()), size);
  if (!file) return Error{.message = "cannot be read", .file = path};
  uint64_t length = 0;
  std::memcpy(&length, content.memory.data(), sizeof length);
  if (length > content.memory.size() - kLengthBytes) return damaged("its header is cut short");
  const unsigned char* const text = content.memory.data() + kLengthBytes;
  const Json header = Json::parse(text, text + length, nullptr, false);
  if (!header.is_object()) return damaged("its header is no JSON object");
  const unsigned char* const data = text + length;
  const size_t data_bytes = content.memory.size() - kLengthBytes - length;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      for (const auto& [key, value] : entry.items())
        if (value.is_string()) content.metadata[key] = value.get<std::string>();
      continue;
    }
    StoredTensor tensor;
    if (!read_entry(name, entry, data, data_bytes, tensor))
      return damaged("'" + name + "' does not fit its bytes");
    content.tensors.push_back(std::move(tensor));
  }
  return content;
}

}  // namespace stallscope::trainer
