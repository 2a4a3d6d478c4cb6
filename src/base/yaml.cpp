#include "base/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <array>
#include <map>

namespace stallscope {

struct YamlDocument {
  enum class Kind { text, list, map };
  struct Node {
    Kind kind = Kind::text;
    bool plain = false;  ///< a text without quotes
    std::string text;
    std::vector<int> children;  ///< of a map: key, value, key, value
    yaml_mark_t begin{}, end{};
  };

  const Node& node(int index) const { return nodes[static_cast<size_t>(index) - 1]; }

  std::vector<Node> nodes;
  std::string text;
};

namespace {

using Kind = YamlDocument::Kind;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// libyaml takes time in the square of the depth.
constexpr size_t kDeepest = 64;

/// An event of libyaml's parser, freed with the scope.
struct YamlEvent : yaml_event_t {
  YamlEvent() : yaml_event_t{} {}
  ~YamlEvent() { yaml_event_delete(this); }
  YamlEvent(const YamlEvent&) = delete;
  YamlEvent& operator=(const YamlEvent&) = delete;
};

std::string text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
}

/// Builds a document from libyaml's events.
class Loader {
 public:
  Loader(YamlDocument& document, const std::string& file)
      : document_(document), file_(file), ready_(yaml_parser_initialize(&parser_) != 0) {
    if (!ready_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_,
                                 reinterpret_cast<const unsigned char*>(document.text.data()),
                                 document.text.size());
  }
  ~Loader() {
    if (ready_) yaml_parser_delete(&parser_);
  }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  Status load() {
    int documents = 0;
    for (;;) {
      YamlEvent event;
      if (!ready_ || yaml_parser_parse(&parser_, &event) == 0) return parser_error();
      switch (event.type) {
        case YAML_STREAM_END_EVENT:
          return ok_status();
        case YAML_DOCUMENT_START_EVENT:
          if (++documents > 1)
            return at(event.start_mark, "file holds more than one document",
                      "Remove the '---' that begins the second.");
          break;
        case YAML_SCALAR_EVENT:
          begin(event, Kind::text, event.data.scalar.anchor);
          document_.nodes.back().plain = event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
          document_.nodes.back().text.assign(reinterpret_cast<const char*>(event.data.scalar.value),
                                             event.data.scalar.length);
          break;
        case YAML_SEQUENCE_START_EVENT:
          open_.push_back(begin(event, Kind::list, event.data.sequence_start.anchor));
          break;
        case YAML_MAPPING_START_EVENT:
          open_.push_back(begin(event, Kind::map, event.data.mapping_start.anchor));
          break;
        case YAML_SEQUENCE_END_EVENT:
        case YAML_MAPPING_END_EVENT:
          node(open_.back()).end = event.end_mark;
          open_.pop_back();
          break;
        case YAML_ALIAS_EVENT: {
          const auto known = anchors_.find(text_of(event.data.alias.anchor));
          if (known == anchors_.end())
            return at(event.start_mark, "not valid YAML: '*' names an anchor that is not there");
          add_to_parent(known->second);
          break;
        }
        default:
          break;
      }
      if (open_.size() > kDeepest) return at(event.start_mark, "values are nested too deeply");
    }
  }

 private:
  YamlDocument::Node& node(int index) { return document_.nodes[static_cast<size_t>(index) - 1]; }

  void add_to_parent(int index) {
    if (!open_.empty()) node(open_.back()).children.push_back(index);
  }

  int begin(const YamlEvent& event, Kind kind, const yaml_char_t* anchor) {
    YamlDocument::Node added;
    added.kind = kind;
    added.begin = event.start_mark;
    added.end = event.end_mark;
    document_.nodes.push_back(std::move(added));
    const auto index = static_cast<int>(document_.nodes.size());
    add_to_parent(index);
    if (anchor != nullptr) anchors_[text_of(anchor)] = index;
    return index;
  }

  Error at(const yaml_mark_t& mark, std::string message, std::string remedy = {}) const {
    return Error{.message = std::move(message),
                 .file = file_,
                 .line = mark.line + 1,
                 .column = mark.column + 1,
                 .remedy = std::move(remedy)};
  }

  Error parser_error() const {
    if (!ready_ || parser_.problem == nullptr)
      return Error{.message = "there is no memory to read it", .file = file_};
    std::string message = std::string("not valid YAML: ") + parser_.problem;
    if (parser_.context != nullptr) message += std::string(" ") + parser_.context;
    const std::string_view text = document_.text;
    // What is missed at the end is missed behind the last word, not on a line that is not there.
    const std::string_view content = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    const auto lines = static_cast<size_t>(std::ranges::count(content, '\n')) + 1;
    if (parser_.error != YAML_READER_ERROR && parser_.problem_mark.line < lines)
      return at(parser_.problem_mark, std::move(message));
    const std::string_view before =
        parser_.error == YAML_READER_ERROR ? text.substr(0, parser_.problem_offset) : content;
    yaml_mark_t mark{};
    mark.line = static_cast<size_t>(std::ranges::count(before, '\n'));
    mark.column = before.size() - (before.rfind('\n') + 1);
    return at(mark, std::move(message));
  }

  YamlDocument& document_;
  const std::string& file_;
  yaml_parser_t parser_{};
  bool ready_;
  std::vector<int> open_;  ///< lists and maps that have not ended
  std::map<std::string, int> anchors_;
};

// Where character `count` of UTF-8 text begins: libyaml counts characters.
size_t byte_of(std::string_view text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins && count-- == 0) break;
  }
  return at;
}

}  // namespace

bool YamlNode::is_text() const {
  return index_ != 0 && document_->node(index_).kind == Kind::text && !is_null();
}

bool YamlNode::is_list() const {
  return index_ != 0 && document_->node(index_).kind == Kind::list;
}

bool YamlNode::is_map() const {
  return index_ != 0 && document_->node(index_).kind == Kind::map;
}

bool YamlNode::is_null() const {
  static constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
  if (index_ == 0) return false;
  const YamlDocument::Node& node = document_->node(index_);
  return node.kind == Kind::text && node.plain &&
         std::ranges::find(kNull, node.text) != kNull.end();
}

std::string YamlNode::text() const {
  return index_ == 0 ? std::string() : document_->node(index_).text;
}

std::vector<YamlNode> YamlNode::items() const {
  std::vector<YamlNode> out;
  if (!is_list()) return out;
  for (const int child : document_->node(index_).children)
    out.push_back(YamlNode(document_, child));
  return out;
}

std::vector<YamlEntry> YamlNode::entries() const {
  std::vector<YamlEntry> out;
  if (!is_map()) return out;
  const std::vector<int>& children = document_->node(index_).children;
  for (size_t i = 0; i + 1 < children.size(); i += 2)
    out.push_back({YamlNode(document_, children[i]), YamlNode(document_, children[i + 1])});
  return out;
}

YamlNode YamlNode::operator[](std::string_view key) const {
  if (!is_map()) return {};
  const std::vector<int>& children = document_->node(index_).children;
  for (size_t i = 0; i + 1 < children.size(); i += 2) {
    const YamlDocument::Node& name = document_->node(children[i]);
    if (name.kind == Kind::text && name.text == key) return YamlNode(document_, children[i + 1]);
  }
  return {};
}

uint64_t YamlNode::line() const {
  return index_ == 0 ? 0 : document_->node(index_).begin.line + 1;
}

uint64_t YamlNode::column() const {
  return index_ == 0 ? 0 : document_->node(index_).begin.column + 1;
}

std::string YamlNode::written() const {
  if (index_ == 0) return {};
  const YamlDocument::Node& node = document_->node(index_);
  const std::string_view text = document_->text;
  const size_t begin = byte_of(text, node.begin.index);
  std::string_view rest = text.substr(begin, byte_of(text, node.end.index) - begin);
  rest = rest.substr(0, rest.find_last_not_of(" \t\r\n") + 1);
  std::string out;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (!out.empty()) out += '\n';
    out += rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t indent = std::min(rest.find_first_not_of(' '), rest.size());
    rest.remove_prefix(std::min(indent, node.begin.column));
  }
  return out;
}

Result<YamlNode> read_yaml(std::string_view text, const std::string& file) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  auto document = std::make_shared<YamlDocument>();
  document->text = text;
  if (const Status loaded = Loader(*document, file).load(); !loaded) return loaded.error();
  if (document->nodes.empty()) return YamlNode();
  return YamlNode(std::move(document), 1);
}

}  // namespace stallscope
