// What a clause asks of the arguments of a call.
#include <algorithm>
#include <array>

#include "source/match/clause_tests.h"
#include "source/names/roles.h"
#include "source/syntax/identifier.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

constexpr std::array<std::string_view, 8> kNumberTypes = {
    "float ", "double ", "int ", "int64_t ", "bool ", "long ", "size_t ", "half "};

/// What a std::vector holds is pageable.
bool is_vectors_data(std::string_view text) {
  return text.find(".data()") != std::string_view::npos && !text.ends_with(".get()") &&
         !contains_any(text, {"pinned", "pin_", "staging"});
}

/// &model->mean_loss: a number in an object, which nobody pins.
bool is_part_of_object(std::string_view text) {
  return text.starts_with('&') && (text.find("->") != std::string_view::npos) &&
         text.find_first_of("[(") == std::string_view::npos &&
         !contains_any(text, {"pinned", "pin_", "staging", "d_", "dev"});
}

}  // namespace

ClauseTests::Argument ClauseTests::argument(NodeId call, const ArgumentTest& test) const {
  NodeId found = kNoNode;
  size_t position = 0;
  bool open = false;
  // "0/device": by its position or by its name
  const auto is_named = [&](std::string_view name) {
    for (size_t at = 0; at <= test.name.size();) {
      const size_t slash = std::min(test.name.find('/', at), test.name.size());
      if (std::string_view(test.name).substr(at, slash - at) == name) return true;
      at = slash + 1;
    }
    return false;
  };
  for (NodeId c : children(ast_, call)) {
    if (ast_[c].role != Role::argument) continue;
    const bool keyword = ast_[c].kind == K::keyword;
    const NodeId options = ast_[c].kind == K::star ? spread_options(c) : kNoNode;
    if (options != kNoNode && found == kNoNode) found = entry_of(options, is_named);
    open |= ast_[c].kind == K::star && !holds_all(c, options);
    if (open && !keyword) continue;
    const std::string name = keyword ? std::string(ast_[c].text) : std::to_string(position++);
    if (is_named(name)) found = keyword ? ast_.child(c, Role::value) : c;
  }
  return {found, open};
}

bool ClauseTests::argument_fits(NodeId call, const ArgumentTest& test) const {
  const auto [found, open] = argument(call, test);
  return std::ranges::any_of(test.any_of, [&](const std::string& wanted) {
    if (wanted == "absent") return found == kNoNode && !open;
    if (wanted == "starred") return found == kNoNode && open;
    return found != kNoNode && (wanted == "present" || argument_is(found, wanted));
  });
}

std::vector<NodeId> ClauseTests::literals_of(NodeId call,
                                             const std::vector<ArgumentTest>& tests) const {
  std::vector<NodeId> out;
  if (ast_[call].kind != K::call) return out;
  for (const ArgumentTest& test : tests) {
    const NodeId found = argument(call, test).value;
    if (found != kNoNode && (ast_[found].kind == K::constant || ast_[found].kind == K::number))
      out.push_back(found);
  }
  return out;
}

/// What the file first assigns to `attribute`: self.options.
NodeId ClauseTests::kept_as(std::string_view attribute) const {
  for (NodeId id = 1; id < ast_.size(); ++id) {
    if (ast_[id].kind != K::assign) continue;
    const NodeId left = ast_.child(id, Role::left);
    if (left != kNoNode && ast_[left].kind == K::attribute && ast_.slice(left) == attribute)
      return ast_.child(id, Role::right);
  }
  return kNoNode;
}

/// What `**options` spreads, if the file says so: options = {"device": x.device}, or
/// dict(device=x.device), or self.options that the file assigns so.
NodeId ClauseTests::spread_options(NodeId star) const {
  const NodeId options = ast_[star].first_child;
  if (options == kNoNode) return kNoNode;
  if (ast_[options].kind == K::attribute) return kept_as(ast_.slice(options));
  if (ast_[options].kind != K::name) return kNoNode;
  const std::string_view name = ast_[options].text;
  const NodeId made = file_.inference.definition(file_.outline.function_of[star], name, star);
  return made != kNoNode ? made : file_.inference.definition(0, name, star);
}

/// The value of an entry of such options, by its name; or kNoNode.
NodeId ClauseTests::entry_of(NodeId options,
                             const std::function<bool(std::string_view)>& is_named) const {
  for (NodeId part : children(ast_, options)) {
    if (ast_[part].kind == K::keyword && is_named(ast_[part].text))
      return ast_.child(part, Role::value);
    const NodeId key = ast_[part].kind == K::pair ? ast_[part].first_child : kNoNode;
    if (key == kNoNode || ast_[key].kind != K::string) continue;
    const std::string_view text = ast_.slice(key);  // with its quotes
    if (text.size() > 2 && is_named(text.substr(1, text.size() - 2))) return ast_[key].next;
  }
  return kNoNode;
}

/// Whether a dictionary of this function is all that `**options` spreads: nothing is added to it.
bool ClauseTests::holds_all(NodeId star, NodeId options) const {
  const NodeId spread = ast_[star].first_child;
  if (options == kNoNode || ast_[options].kind != K::dict || ast_[spread].kind != K::name ||
      file_.outline.function_of[options] != file_.outline.function_of[star])
    return false;
  for (NodeId part : children(ast_, options)) {
    if (ast_[part].kind != K::pair || ast_[ast_[part].first_child].kind != K::string) return false;
  }
  const std::string name(ast_[spread].text);
  const std::string_view text =
      ast_.slice(file_.outline.functions[file_.outline.function_of[star]]);
  return text.find(name + "[") == text.npos && text.find(name + ".update(") == text.npos &&
         text.find(name + ".setdefault(") == text.npos;
}

/// Of a batch that a loader has given in this function, and nobody has moved; what a function is
/// handed may have been.
bool ClauseTests::is_just_loaded(NodeId found) const {
  const std::vector<std::string>& given =
      facts_.functions[file_.outline.function_of[found]].parameters;
  return file_.inference.at(found).kind == Kind::batch &&
         std::ranges::find(given, ast_.slice(found)) == given.end();
}

bool ClauseTests::argument_is(NodeId found, std::string_view wanted) const {
  const std::string_view text = ast_.slice(found);
  if (wanted == "not-device-tensor") return text != "[]" && !file_.inference.at(found).is_device();
  if (wanted == "not-on-host") {
    const Value& v = file_.inference.at(found);
    return !(v.kind == Kind::host_tensor && v.certainty == Certainty::proven) &&
           !is_just_loaded(found);
  }
  if (wanted == "not-none") return text != "None";
  if (wanted == "kept-by-name") {
    // batch["lengths"]: counts that lie beside a batch's tensors are tensors.
    const NodeId key = ast_[found].kind == K::subscript ? ast_.child(found, Role::index) : kNoNode;
    return key != kNoNode && ast_[key].kind == K::string &&
           !contains_any(text, {"config", "cfg", "args", "opt", "param", "group"});
  }
  if (wanted == "a-local-pointer") return is_local_pointer(found);
  // host.data(): pageable, unless it is named after what is pinned; thrust's tell get() of the
  // device
  if (wanted == "a-vectors-data") return is_vectors_data(text);
  if (wanted == "pageable-memory")
    return is_vectors_data(text) || is_local_number(found) || is_part_of_object(text) ||
           is_from_malloc(text);
  if (wanted == "a-returned-pointer") return is_returned_pointer(found);
  // torch::tensor({}, options) has nothing to copy
  if (wanted == "not-one-number") return !is_one_number(found) && text != "{}";
  if (wanted == "a-cuda-type")
    return text.find("cuda.") != std::string_view::npos || text.ends_with(".type()") ||
           file_.names.resolve(found).path.starts_with("torch.cuda.");
  if (wanted == "a-computed-list") {
    // counts, which a loop has filled
    if (ast_[found].kind == K::name) return file_.inference.at(found).kind == Kind::list;
    // [w / stride for w in anchors], [x.min(), 1], not [0]
    for (NodeId at = found; at < ast_[found].end; ++at) {
      if (ast_[at].kind == K::name)
        return ast_[found].kind == K::list || ast_[found].kind == K::comprehension;
    }
    return false;
  }
  if (wanted == "not-a-modules-function") return !is_modules_function(found);
  if (wanted == "a-dtype") return is_dtype(text);
  if (wanted == "the-host") return is_cpu(text);
  if (wanted == "a-device")
    return !is_dtype(text) &&
           !file_.inference.is_host_device(file_.outline.function_of[found], text);
  if (wanted.starts_with("kind:")) {
    const KindWord* kind = kind_of(wanted.substr(5));
    const Value& value = file_.inference.at(found);
    return kind && value.kind != Kind::unknown && fits(value, *kind, Certainty::likely);
  }
  if (wanted.starts_with("~")) return says(found, wanted.substr(1));
  if (wanted.starts_with("!~")) return !says(found, wanted.substr(2));
  // cudaMemcpyKind::cudaMemcpyDeviceToHost
  const size_t scope = wanted.find(':') == std::string::npos ? text.rfind("::") : text.npos;
  return text == wanted || (scope != text.npos && text.substr(scope + 2) == wanted);
}

/// Whether an argument is the address of a number that its function declares: &count of
/// `unsigned count = 0;`
bool ClauseTests::is_local_number(NodeId argument) const {
  std::string_view text = ast_.slice(argument);
  const uint32_t function = file_.outline.function_of[argument];
  if (!text.starts_with('&') || function == 0) return false;
  text.remove_prefix(1);
  if (text.empty() || std::ranges::find_if_not(text, is_identifier_char) != text.end())
    return false;
  const std::string_view body = ast_.slice(file_.outline.functions[function]);
  return std::ranges::any_of(kNumberTypes, [&](std::string_view type) {
    const size_t at = body.find(std::string(type) + std::string(text));
    if (at == std::string_view::npos || body.substr(0, at).ends_with("static ") ||
        !is_whole_identifier(body, at + type.size(), text.size()))
      return false;
    const std::string_view behind = body.substr(at + type.size() + text.size());
    return behind.find_first_of(";={") < behind.find_first_of("),");  // no parameter
  });
}

/// Whether the file says that what it copies from or to comes from new, malloc() or its like:
/// h = new float[n], h = (float*)THAlloc(n * 4)
bool ClauseTests::is_from_malloc(std::string_view name) const {
  if (name.empty() || std::ranges::find_if_not(name, [](char c) {
                        return is_identifier_char(c) || c == '-' || c == '>' || c == '.';
                      }) != name.end())
    return false;
  const std::string made = std::string(name) + " = ";
  bool any = false;
  for (size_t at = ast_.source.find(made); at != std::string_view::npos;
       at = ast_.source.find(made, at + made.size())) {
    if (at > 0 && is_identifier_char(ast_.source[at - 1])) continue;
    const size_t begin = at + made.size();
    const std::string_view value = ast_.source.substr(begin, ast_.source.find(';', begin) - begin);
    const bool host =
        value.starts_with("new ") ||
        (value.find("lloc(") != value.npos &&
         !contains_any(value, {"cuda", "hip", "gpu", "device", "pinned", "page", "host"}));
    if (!host && !value.starts_with("nullptr") && !value.starts_with("NULL")) return false;
    any |= host;
  }
  return any;
}

/// 0.5f, -1, and a variable that the file declares so: `float discount_ = 0.99f;`
bool ClauseTests::is_one_number(NodeId argument) const {
  if (file_.inference.at(argument).kind == Kind::number || ast_[argument].kind == K::number)
    return true;
  if (ast_[argument].kind != K::name) return false;
  for (const std::string_view type : kNumberTypes) {
    const size_t at = ast_.source.find(std::string(type) + std::string(ast_[argument].text));
    if (at != std::string_view::npos &&
        is_whole_identifier(ast_.source, at + type.size(), ast_[argument].text.size()))
      return true;
  }
  return false;
}

/// Whether a word stands in an argument, or in what a variable of C++ that it is was made of:
/// auto options = torch::TensorOptions().device(x.device())
bool ClauseTests::says(NodeId argument, std::string_view word) const {
  constexpr size_t kLongestOptions = 200;
  // Not of cudaMemcpyKind::cudaMemcpyDeviceToHost, whose last part alone says something.
  std::string_view text = ast_.slice(argument);
  if (text.starts_with("cudaMemcpyKind::") || text.starts_with("hipMemcpyKind::"))
    text.remove_prefix(text.rfind(':') + 1);
  if (text.find(word) != std::string_view::npos) return true;
  if (ast_.grammar != Grammar::cuda || ast_[argument].kind != K::name) return false;
  const NodeId made = file_.inference.definition(file_.outline.function_of[argument],
                                                 ast_[argument].text, argument);
  if (made == kNoNode) return false;
  const std::string_view options = ast_.slice(made).substr(0, kLongestOptions);
  return options.find(word) != std::string_view::npos &&
         options.find("kCPU") == std::string_view::npos;
}

/// Whether a name stands for a function of this module or of another one, the same in each pass.
bool ClauseTests::is_modules_function(NodeId name) const {
  const NodeKind kind = ast_[name].kind;
  if (kind != K::name && kind != K::attribute) return false;
  // optimizer.init: called once to make a state, whatever stands around it
  if (file_.names.resolve(name).imported || ast_[name].text == "init") return true;
  const uint32_t function = file_.outline.function_of[name];
  if (kind != K::name || file_.inference.definition(function, ast_[name].text, name) != kNoNode)
    return false;
  const auto& parameters = facts_.functions[function].parameters;
  if (std::ranges::find(parameters, ast_[name].text) != parameters.end()) return false;
  return std::ranges::any_of(facts_.functions, [&](const FunctionFacts& f) {
    return f.name == ast_[name].text && f.class_name.empty() && (f.flags & kNested) == 0;
  });
}

/// Whether an argument is a pointer that its function declares and keeps, or its address: what is
/// allocated there lives no longer than the call. p, (void**)(&(p)), reinterpret_cast<void**>(&p)
bool ClauseTests::is_local_pointer(NodeId argument) const {
  std::string_view text = ast_.slice(argument);
  const size_t address = text.rfind('&');
  if (address == std::string_view::npos && ast_[argument].kind != K::name) return false;
  text.remove_prefix(address + 1);  // of none: nothing
  text.remove_prefix(std::min(text.find_first_not_of("( "), text.size()));
  const auto end = std::ranges::find_if_not(text, is_identifier_char);
  const std::string_view name(text.begin(), end), rest(end, text.end());
  if (name.empty() || rest.find_first_not_of(") ") != std::string_view::npos) return false;
  const uint32_t function = file_.outline.function_of[argument];
  if (function == 0) return false;
  const auto& parameters = facts_.functions[function].parameters;
  if (std::ranges::find(parameters, name) != parameters.end()) return false;
  const std::string_view body = ast_.slice(file_.outline.functions[function]);
  bool declared = false;
  for (size_t at = body.find(name); at != std::string_view::npos;
       at = body.find(name, at + name.size())) {
    if (!is_whole_identifier(body, at, name.size())) continue;
    const size_t before = body.find_last_not_of(" \t\n", at == 0 ? 0 : at - 1);
    const std::string_view head = body.substr(0, before == std::string_view::npos ? 0 : before + 1);
    const std::string_view tail = body.substr(at + name.size()).substr(0, 2);
    declared |= head.ends_with('*');
    // Handed out: `return p;`, `data_ = p;`, `{p, n}`
    if (head.ends_with("return") || (head.ends_with('=') && tail.starts_with(';')) ||
        (head.ends_with('{') && (tail.starts_with(',') || tail.starts_with('}'))))
      return false;
  }
  return declared;
}

/// void* p; cudaMalloc(&p, n); return p; of a function that returns nothing before and looks
/// nowhere: an allocator with a pool returns what it finds there.
bool ClauseTests::is_returned_pointer(NodeId argument) const {
  const NodeId function = file_.outline.functions[file_.outline.function_of[argument]];
  const std::string_view text = ast_.slice(argument);
  const size_t address = text.rfind('&');
  if (address == std::string_view::npos || function == 0) return false;
  const std::string name(text.substr(address + 1));
  if (name.empty() || !std::ranges::all_of(name, is_identifier_char)) return false;
  const std::string_view body = ast_.slice(function);
  const size_t call = ast_[argument].first_byte - ast_[function].first_byte;
  const std::string_view before = body.substr(0, call), behind = body.substr(call);
  const bool declared = before.find("*" + name) != std::string_view::npos ||
                        before.find("* " + name) != std::string_view::npos;
  return declared && before.find("return") == std::string_view::npos &&
         !contains_any(lower(before), {"cache", "pool", "chunk", "free"}) &&
         behind.find("return " + name + ";") != std::string_view::npos;
}

}  // namespace stallscope
