#include "trainer/checkpoint/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace stallscope::trainer {
namespace {

constexpr const char* kFirst = "first_moment.";
constexpr const char* kSecond = "second_moment.";
constexpr int kMostRanks = 1024;

// Calls use(name, tensor, data, type) for everything a checkpoint holds.
template <typename Use>
void for_each_tensor(Session<float>& session, const Use& use) {
  for (const TensorId id : session.program().parameters()) {
    const TensorInfo& it = session.program().tensor(id);
    use(it.name, it, session.data(id), "F32");
    use(kFirst + it.name, it, session.first_moment(id), "F32");
    use(kSecond + it.name, it, session.second_moment(id), "F32");
  }
  for (const TensorInfo& it : session.program().tensors)
    if (it.saved) use(it.name, it, session.index_data(it.name), "I32");
}

// By how many ranks the checkpoint was saved: by as many as now, by one, or by any other number.
Result<int> ranks_of(const std::string& path, int now) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  for (const int ranks : {now, 1})
    if (fs::exists(checkpoint_path(path, 0, ranks), ignored)) return ranks;
  const std::string first = fs::path(path).filename().string() + ".rank-0-of-";
  const fs::path folder = fs::path(path).parent_path();
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string name = entry.path().filename().string();
    int ranks = 0;
    if (!name.starts_with(first)) continue;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + first.size(), end, ranks);
    if (read.ec == std::errc() && read.ptr == end && ranks > 0 && ranks <= kMostRanks) return ranks;
  }
  return Error{.message = "cannot be read", .file = path};
}

std::vector<size_t> shape_of_part(const TensorInfo& it, int ranks) {
  std::vector<size_t> shape = it.full_shape;
  if (it.shard_dimension >= 0)
    shape[static_cast<size_t>(it.shard_dimension)] /= static_cast<size_t>(ranks);
  return shape;
}

// Fills this rank's part of a tensor (of elements of 4 bytes) from the parts of another split.
void copy_part(const TensorInfo& it, int rank, const std::vector<const StoredTensor*>& parts,
               unsigned char* to) {
  if (it.shard_dimension < 0) {
    std::memcpy(to, parts.front()->data, parts.front()->bytes());
    return;
  }
  const auto dimension = static_cast<size_t>(it.shard_dimension);
  size_t outer = 1, inner = 4;  // bytes of an element
  for (size_t d = 0; d < dimension; ++d) outer *= it.shape[d];
  for (size_t d = dimension + 1; d < it.shape.size(); ++d) inner *= it.shape[d];
  const size_t here = it.shape[dimension], there = it.full_shape[dimension] / parts.size();
  const size_t first = static_cast<size_t>(rank) * here;
  for (size_t row = first; row < first + here;) {
    const size_t part = row / there, within = row % there;
    const size_t count = std::min(there - within, first + here - row);
    const auto* from = static_cast<const unsigned char*>(parts[part]->data);
    for (size_t o = 0; o < outer; ++o)
      std::memcpy(to + (o * here + row - first) * inner, from + (o * there + within) * inner,
                  count * inner);
    row += count;
  }
}

}  // namespace

std::string checkpoint_path(const std::string& path, int rank, int ranks) {
  if (ranks == 1) return path;
  return path + ".rank-" + std::to_string(rank) + "-of-" + std::to_string(ranks);
}

Status save_checkpoint(const std::string& path, Session<float>& session) {
  session.device().synchronize();
  StoredTensors content;
  content.metadata["step"] = std::to_string(session.steps());
  for_each_tensor(
      session, [&](const std::string& name, const TensorInfo& it, const void* data,
                   const char* type) { content.tensors.push_back({name, type, it.shape, data}); });
  return write_safetensors(path, content);
}

Status load_checkpoint(const std::string& path, Shard shard, Session<float>& session) {
  const auto ranks = ranks_of(path, shard.size);
  if (!ranks.ok()) return ranks.error();
  std::vector<StoredTensors> parts;
  for (int r = 0; r < *ranks; ++r) {
    auto part = read_safetensors(checkpoint_path(path, r, *ranks));
    if (!part.ok()) return part.error();
    parts.push_back(std::move(*part));
  }
  const auto step = parts.front().metadata.find("step");
  if (step == parts.front().metadata.end())
    return Error{.message = "does not say at which step it was taken", .file = path};
  std::string wrong;
  for_each_tensor(
      session, [&](const std::string& name, const TensorInfo& it, const void*, const char* type) {
        for (const StoredTensors& part : parts) {
          const StoredTensor* stored = part.find(name);
          if (wrong.empty() && (stored == nullptr || stored->type != type ||
                                stored->shape != shape_of_part(it, *ranks)))
            wrong = name;
        }
      });
  if (!wrong.empty())
    return Error{.message = "has no '" + wrong + "' of this model's shape", .file = path};
  session.device().synchronize();
  for_each_tensor(session,
                  [&](const std::string& name, const TensorInfo& it, void* data, const char*) {
                    std::vector<const StoredTensor*> stored;
                    for (const StoredTensors& part : parts) stored.push_back(part.find(name));
                    copy_part(it, shard.rank, stored, static_cast<unsigned char*>(data));
                  });
  session.set_steps(std::atoll(step->second.c_str()));
  session.parameters_changed();
  return ok_status();
}

RunRecord::RunRecord(Session<float>& session) : session_(session) {
  session.device().synchronize();
  for (TensorId id = 0; id < session.program().tensors.size(); ++id) {
    const TensorInfo& it = session.program().tensor(id);
    if (it.role == Role::parameter) add("initial.", id, session.data(id));
    if (it.role != Role::input) continue;
    const bool index = it.element == Element::index;
    add("input.", id, index ? static_cast<void*>(session.index_data(it.name)) : session.data(id));
  }
}

void RunRecord::add(const std::string& prefix, TensorId id, const void* data) {
  const TensorInfo& it = session_.program().tensor(id);
  StoredTensor stored{prefix + it.name, it.element == Element::index ? "I32" : "F32", it.shape};
  const auto* bytes = static_cast<const unsigned char*>(data);
  stored.data = copies_.emplace_back(bytes, bytes + stored.bytes()).data();
  content_.tensors.push_back(std::move(stored));
}

void RunRecord::add_gradients() {
  session_.device().synchronize();
  for (const TensorId id : session_.program().parameters())
    add("gradient.", id, session_.data(session_.program().tensor(id).gradient));
}

Status RunRecord::write(const std::string& path) {
  session_.device().synchronize();
  for (const TensorId id : session_.program().parameters()) add("final.", id, session_.data(id));
  content_.tensors.push_back({"losses", "F32", {losses_.size()}, losses_.data()});
  return write_safetensors(path, content_);
}

}  // namespace stallscope::trainer
