#include "trainer/checkpoint/checkpoint.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace stallscope::trainer {
namespace {

constexpr const char* kFirst = "first_moment.";
constexpr const char* kSecond = "second_moment.";

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

Status load_checkpoint(const std::string& path, Session<float>& session) {
  const auto content = read_safetensors(path);
  if (!content.ok()) return content.error();
  const auto step = content->metadata.find("step");
  if (step == content->metadata.end())
    return Error{.message = "does not say at which step it was taken", .file = path};
  std::string wrong;
  for_each_tensor(session, [&](const std::string& name, const TensorInfo& it, const void*,
                               const char* type) {
    const StoredTensor* stored = content->find(name);
    if (wrong.empty() && (stored == nullptr || stored->type != type || stored->shape != it.shape))
      wrong = name;
  });
  if (!wrong.empty())
    return Error{.message = "has no '" + wrong + "' of this model's shape", .file = path};
  session.device().synchronize();
  for_each_tensor(session,
                  [&](const std::string& name, const TensorInfo&, void* data, const char*) {
                    const StoredTensor* stored = content->find(name);
                    std::memcpy(data, stored->data, stored->bytes());
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
