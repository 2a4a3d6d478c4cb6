// Inference over Thrust's vectors: reading an element of one on the device, and copying one to or
// from the host, waits for the device.
#include "source/syntax/words.h"
#include "source/values/infer.h"

namespace stallscope {
namespace {

using K = NodeKind;

bool is_vector(const Value& value) {
  return value.kind == Kind::device_vector || value.kind == Kind::list;
}

/// The numbers that a `std::vector<float>` holds, not the layers of a `std::vector<Layer>`.
bool is_number_type(std::string_view type) {
  return type.ends_with("_t") || is_one_of(type, {"float", "double", "int", "unsigned", "long",
                                                  "short", "char", "bool", "half", "__half", "T"});
}

}  // namespace

/// What C++ declares an object as; where it is, if it is a vector.
Value Inference::declared_vector(std::string_view type) {
  if (type.starts_with("const ")) type.remove_prefix(6);
  const size_t open = type.find('<');
  if (open == std::string_view::npos || !type.ends_with('>')) return value_of_type(type);
  const std::string_view name = type.substr(0, open);
  const std::string_view element = type.substr(open + 1, type.size() - open - 2);
  if (name == "device_vector" || name.ends_with("::device_vector"))
    return proven(Kind::device_vector);
  if (name == "thrust::host_vector" || (name == "std::vector" && is_number_type(element)))
    return proven(Kind::list);
  return value_of_type(type);
}

/// The same of a declaration: `*p` and `buffers[2]` are no vectors.
Value Inference::declared_value(NodeId declaration, NodeId name) const {
  const Value out = declared_value(ast_[declaration].text);
  if (!uses_thrust_ || !is_vector(out) || name == kNoNode) return out;
  const std::string_view text = ast_.slice(declaration);
  const size_t behind = ast_[name].last_byte - ast_[declaration].first_byte;
  const bool plain = !text.starts_with('*') && (behind >= text.size() || text[behind] != '[');
  return plain ? out : Value{};
}

/// What the classes of this file declare a field of that name as.
Value Inference::field_value(std::string_view name) const {
  const auto field = fields_.find(name);
  return field == fields_.end() ? Value{} : field->second;
}

/// host = device: a vector that is assigned to is copied into, and stays where it is.
Value Inference::kept_place(NodeId target, const Value& given) {
  const Node& node = ast_[target];
  const bool declares = !ast_[node.parent].text.empty() && ast_[node.parent].text != "=";
  if (!uses_thrust_ || declares || !is_vector(given)) return given;
  const Value known = node.kind == K::name        ? eval_name(target)
                      : node.kind == K::attribute ? eval_attribute(target)
                                                  : Value{};
  return is_vector(known) ? known : given;
}

/// values.begin(): an iterator is where its vector is.
Value Inference::iterator_of(const Value& vector, std::string_view method) const {
  const bool iterates = is_one_of(method, {"begin", "end", "cbegin", "cend", "data"});
  return uses_thrust_ && iterates && is_vector(vector) ? vector : Value{};
}

}  // namespace stallscope
