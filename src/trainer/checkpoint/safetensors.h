// Tensors by name in a file that other frameworks read: 8 bytes of header size,
// a JSON header with type, shape and place of each tensor, then their bytes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace stallscope::trainer {

struct StoredTensor {
  std::string name;
  std::string type;  ///< "F32", "F64" or "I32"
  std::vector<size_t> shape;
  const void* data = nullptr;

  /// Bytes of its elements. The shape is known to be sane.
  size_t bytes() const;
};

struct StoredTensors {
  std::vector<StoredTensor> tensors;
  std::map<std::string, std::string> metadata;
  std::vector<unsigned char> memory;  ///< what `data` points into, of files that were read

  const StoredTensor* find(const std::string& name) const;
};

/// Writes the file beside its place first, so that a crash leaves the old one whole.
Status write_safetensors(const std::string& path, const StoredTensors& content);

/// Error with the file's name when it is no such file, cut short, or lies about its sizes.
Result<StoredTensors> read_safetensors(const std::string& path);

}  // namespace stallscope::trainer
