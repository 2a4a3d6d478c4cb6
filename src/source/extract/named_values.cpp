#include "source/extract/named_values.h"

#include <algorithm>
#include <array>
#include <string>

#include "source/names/mentions.h"
#include "source/names/names.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;
using Given = NamedValue::Kind;

constexpr size_t kLongestCall = 1500;  ///< bytes of add_argument(...) that are looked at
constexpr size_t kLongestKey = 200;    ///< bytes of ["key"] that are looked at

/// What a character may be: `kMark` stands behind what is given a value, or before an option.
enum CharClass : uint8_t { kBetween, kDigit, kLetter, kMark };
constexpr std::array<CharClass, 256> kClasses = [] {
  std::array<CharClass, 256> out{};
  for (size_t c = 0; c < out.size(); ++c) {
    const bool letter = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool mark = c == '=' || c == ':' || c == ',' || c == '-';
    out[c] = letter ? kLetter : c >= '0' && c <= '9' ? kDigit : mark ? kMark : kBetween;
  }
  return out;
}();
CharClass class_of(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}
bool is_digit(char c) {
  return class_of(c) == kDigit;
}
bool is_letter(char c) {
  return class_of(c) == kLetter;
}
bool in_name(char c) {
  return is_letter(c) || is_digit(c);
}
bool is_quote(char c) {
  return c == '"' || c == '\'';
}
bool is_space(char c) {
  return c == ' ' || c == '\t';
}
/// Of `x += 1`; `**=` and its like begin with the same ones twice, and say no more.
bool is_operator(char c) {
  return std::string_view("+-*/|&^%@").find(c) != std::string_view::npos;
}

/// Reads a text by its characters: what is not parsed, since it names no framework, says what is
/// turned on as well.
class ValueScanner {
 public:
  ValueScanner(std::string_view text, Notation notation,
               std::span<const ConditionalName> conditional, std::vector<NamedValue>& out)
      : text_(text),
        python_(notation == Notation::python),
        document_(notation == Notation::document),
        conditional_(conditional),
        out_(out) {}

  /// Most of a text is passed over: only behind a name, `=`, `:` and `,` say that it has a value.
  void run() {
    for (size_t at = 0; at < text_.size(); ++at) {
      const char c = text_[at];
      if (class_of(c) != kMark) continue;
      if (c != '-') {
        if (c == '=' || !document_) name_before_mark(at);
      } else if (this->at(at + 1) == '-' && is_letter(this->at(at + 2))) {
        const size_t start = at + 2;
        at = start;
        while (in_name(this->at(at)) || this->at(at) == '-') ++at;
        option(start, at);
        option_end_ = at--;
      }
    }
  }

 private:
  struct Value {
    Given kind = Given::other;
    uint32_t hash = 0;
  };

  /// The name that ends before the mark at `mark`: fuse =, fuse +=, "fuse":, cfg["fuse"] =
  void name_before_mark(size_t mark) {
    const auto before = [&](size_t place) { return place > option_end_ ? text_[place - 1] : '\0'; };
    size_t end = mark;
    if (text_[mark] == '=' && is_operator(before(end))) --end;
    while (is_space(before(end))) --end;
    if (before(end) == ']' && is_quote(before(end - 1))) --end;
    if (is_quote(before(end))) --end;
    size_t start = end;
    while (in_name(before(start))) --start;
    if (start == end || !is_letter(text_[start])) return;
    if (!document_ || is_override(end)) name(start, end);
  }

  /// net.patchout=40 of a command line
  bool is_override(size_t end) const { return at(end) == '=' && !is_space(at(end + 1)); }

  char at(size_t place) const { return place < text_.size() ? text_[place] : '\0'; }
  size_t behind_space(size_t place) const {
    while (is_space(at(place))) ++place;
    return std::min(place, text_.size());
  }
  /// Whether a value is over at `place`.
  bool ends(size_t place) const {
    return std::string_view(",)]}\n\r#;\0", 9).find(at(behind_space(place))) !=
           std::string_view::npos;
  }

  /// `mask = mask.bool()`, `mask = torch.as_tensor(mask)`: is given where it was before.
  bool is_made_of_itself(std::string_view name, size_t p) const {
    p = behind_space(p);
    size_t end = p;
    while (in_name(at(end)) || at(end) == '.') ++end;
    const std::string_view token = text_.substr(p, end - p);
    if (token.starts_with(name) && token.substr(name.size()).starts_with('.')) return true;
    if (at(end) != '(' || token.empty()) return false;
    const std::string_view rest = text_.substr(end + 1);
    return rest.starts_with(name) && !in_name(at(end + 1 + name.size()));
  }

  void add(std::string_view name, Value value) {
    const uint32_t hash = option_hash(name);
    // fuse=args.fuse: what the other is says enough.
    if (value.kind == Given::same_as && value.hash == hash) return;
    out_.push_back({hash, value.hash, value.kind});
  }

  /// `if self.ema: self.ema = Average(net)` turns nothing on.
  void assign(std::string_view name, size_t start, Value given) {
    const auto waits = std::ranges::lower_bound(conditional_, start, {}, &ConditionalName::at);
    if (given.kind != Given::other || waits == conditional_.end() || waits->at != start)
      add(name, given);
    else if (waits->option != option_hash(name))
      add(name, {Given::when_on, waits->option});
  }

  /// fuse = ..., fuse: bool = ..., "fuse": ..., get("fuse", ...)
  void name(size_t start, size_t end) {
    const char behind = at(end);
    if (behind == '.' || behind == '(' || behind == ')' || behind == '\n') return;
    const bool quoted = start > 0 && is_quote(text_[start - 1]) && behind == text_[start - 1];
    size_t p = end + (quoted ? 1 : 0);
    if (quoted && at(p) == ']') ++p;  // cfg["fuse"] = ...
    p = behind_space(p);
    const std::string_view name = text_.substr(start, end - start);
    const char c = at(p), next = at(p + 1);
    if (c == '=' && next != '=') {
      if (!is_made_of_itself(name, p + 1)) assign(name, start, value(p + 1));
    } else if (c == ':' && next == '=') {
      add(name, {});
    } else if (c == ':') {
      // `if mode == "fuse":` gives nothing
      if (python_ && quoted && is_one_of(text_.substr(behind_space(p + 1), 1), {"\n", "\r", "#"}))
        return;
      const size_t from = python_ && !quoted ? behind_annotation(p + 1) : p + 1;
      if (from != std::string_view::npos) assign(name, start, value(from));
    } else if (next == '=' && is_operator(c)) {
      add(name, {});
    } else if (c == ',' && quoted && has_default_behind(start - 1)) {
      add(name, value(p + 1));
    }
  }

  /// Where the value behind `: bool =` begins; npos if the annotation has none.
  size_t behind_annotation(size_t from) const {
    constexpr size_t kLongest = 120;
    int depth = 0;
    for (size_t p = from; p < std::min(text_.size(), from + kLongest); ++p) {
      const char c = text_[p];
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
      if (depth < 0 || c == '\n' || (c == ',' && depth == 0)) break;
      if (c == '=' && depth == 0) return at(p + 1) == '=' ? std::string_view::npos : p + 1;
    }
    return std::string_view::npos;
  }

  /// Whether the text that a quote at `quote` begins is the key of cfg.get("fuse", False),
  /// getattr(args, "fuse", False), DEFINE_bool("fuse", False).
  bool has_default_behind(size_t quote) const {
    constexpr size_t kFar = 80;
    const std::string_view before =
        text_.substr(quote - std::min(quote, kFar), std::min(quote, kFar));
    const size_t open = before.rfind('(');
    if (open == std::string_view::npos || before.find('\n', open) != std::string_view::npos)
      return false;
    const std::string_view callee = name_before(before, open);
    const bool first = before.find(',', open) == std::string_view::npos;
    return first ? starts_with_any(callee, {"get", "pop", "setdefault", "DEFINE_"})
                 : is_one_of(callee, {"getattr", "setattr"});
  }

  static std::string_view name_before(std::string_view text, size_t end) {
    size_t start = end;
    while (start > 0 && in_name(text[start - 1])) --start;
    return text.substr(start, end - start);
  }

  /// --fuse: what a command line gives, or a parser knows.
  void option(size_t start, size_t end) {
    std::string name(text_.substr(start, end - start));
    std::ranges::replace(name, '-', '_');
    const size_t quote = start - 3;
    if (start > 2 && is_quote(text_[quote]) && at(end) == text_[quote]) {
      const size_t open = call_of_parser(quote);
      open == std::string_view::npos ? add(name, {}) : argument(std::move(name), open);
      return;
    }
    if (python_) {
      add(name, {});
      return;
    }
    const size_t p = at(end) == '=' ? end + 1 : behind_space(end);
    const char c = at(p);
    const bool flag = at(end) != '=' && (c == '-' || c == '\\' || c == '\0' || c == '\n' ||
                                         c == '\r' || c == '#' || c == '`' || is_quote(c));
    add(name, flag ? Value{Given::literal, literal_hash("True")} : word(p));
  }

  /// A bare word of a command line.
  Value word(size_t p) const {
    if (is_quote(at(p))) ++p;
    const size_t end = std::min(text_.find_first_of(" \t\r\n\"'`\\;", p), text_.size());
    return classified(text_.substr(p, end - p));
  }

  /// The parenthesis of add_argument("-f", "--fuse"...) before `quote`, or npos.
  size_t call_of_parser(size_t quote) const {
    constexpr size_t kFar = 120;
    const size_t from = quote - std::min(quote, kFar);
    const std::string_view before = text_.substr(from, quote - from);
    const size_t open = before.rfind('(');
    if (open == std::string_view::npos || before.find(')', open) != std::string_view::npos)
      return std::string_view::npos;
    const std::string_view callee = name_before(before, open);
    return is_one_of(callee, {"add_argument", "add_arg", "option", "Option", "Argument"})
               ? from + open
               : std::string_view::npos;
  }

  /// The end of the call whose parenthesis opens at `open`.
  size_t end_of_call(size_t open) const {
    size_t close = open;
    int depth = 0;
    do {
      const char c = at(close);
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') --depth;
      ++close;
    } while (depth > 0 && close < text_.size() && close < open + kLongestCall);
    return std::min(close, text_.size());
  }

  /// What a parser gives an option that the command line leaves out.
  void argument(std::string name, size_t open) {
    const std::string_view call = text_.substr(open, end_of_call(open) - open);
    const auto behind = [&](std::string_view keyword) {
      const size_t found = call.find(keyword);
      return found == std::string_view::npos ? found : open + found + keyword.size();
    };
    Value given{Given::none, literal_hash("None")};
    if (const size_t p = behind("default="); p != std::string_view::npos)
      given = value(p);
    else if (call.find("store_true") != std::string_view::npos)
      given = {Given::off, literal_hash("False")};
    else if (call.find("store_false") != std::string_view::npos)
      given = {Given::literal, literal_hash("True")};
    else if (call.find("required=True") != std::string_view::npos)
      given = {};
    // default="false" of an option that takes a word
    if (given.kind == Given::literal &&
        (given.hash == literal_hash("false") || given.hash == literal_hash("False")))
      given = {Given::off, literal_hash("False")};
    if (const size_t p = behind("dest="); p != std::string_view::npos && is_quote(at(p))) {
      const size_t end = std::min(text_.find(at(p), p + 1), text_.size());
      name = text_.substr(p + 1, end - p - 1);
    }
    add(name, given);
  }

  /// The value that begins at `p`, behind blanks.
  Value value(size_t p) const {
    p = behind_space(p);
    const char c = at(p);
    if (is_quote(c)) {
      const size_t end = text_.find_first_of(c == '"' ? "\"\n" : "'\n", p + 1);
      if (end == std::string_view::npos || text_[end] == '\n' || !ends(end + 1)) return {};
      const std::string_view text = text_.substr(p + 1, end - p - 1);
      return {text.empty() ? Given::off : Given::literal, literal_hash(text)};
    }
    if (c == '[' || c == '{' || c == '(') {
      const char close = at(behind_space(p + 1));
      const bool empty = close == ']' || close == '}' || close == ')';
      return empty ? Value{Given::off, 0} : Value{};
    }
    if (!python_) {
      size_t end = std::min(text_.find_first_of(",}]\r\n#", p), text_.size());
      while (end > p && is_space(text_[end - 1])) --end;
      return classified(text_.substr(p, end - p));
    }
    const auto behind_path = [&](size_t from) {
      while (in_name(at(from)) || at(from) == '.') ++from;
      return from;
    };
    size_t end = behind_path(c == '-' ? p + 1 : p);
    std::string_view token = text_.substr(p, end - p);
    if (ends(end)) return classified(token);
    while (at(end) == '[' && is_quote(at(end + 1))) {  // cfg["solver"].get("fuse", False)
      const size_t length = text_.substr(end, kLongestKey).find(']');
      const size_t close = end + length;
      const char next = length == std::string_view::npos ? '\0' : at(close + 1);
      if (next != '.' && next != '[') return key_at(end + 1, "]");
      end = behind_path(close + 1);
      token = text_.substr(close + 2, end - std::min(end, close + 2));
      if (next == '.' && ends(end)) return classified(token);
    }
    return at(end) == '(' ? of_call(last_component(token), end + 1) : Value{};
  }

  /// cfg.get("fuse", False), getattr(args, "fuse", False); field(default=False), Option(False, ...)
  Value of_call(std::string_view callee, size_t p) const {
    if (starts_with_any(callee, {"get", "pop"}) && is_quote(at(p))) return key_at(p, ",)");
    if (callee == "getattr") {
      const size_t comma = std::min(text_.find_first_of(",\n", p), text_.size());
      const size_t key = behind_space(comma + 1);
      return at(comma) == ',' && is_quote(at(key)) ? key_at(key, ",)") : Value{};
    }
    if (!is_one_of(callee, {"field", "Field", "Option", "Argument"})) return {};
    constexpr std::string_view kDefault = "default=";
    const std::string_view call = text_.substr(p - 1, end_of_call(p - 1) - p + 1);
    const size_t found = call.find(kDefault);
    return value(found == std::string_view::npos ? p : p - 1 + found + kDefault.size());
  }

  /// The name in quotes at `quote`, if one of `ends` follows it.
  Value key_at(size_t quote, std::string_view ends) const {
    size_t end = quote + 1;
    while (end < text_.size() && in_name(text_[end])) ++end;
    if (end == quote + 1 || at(end) != at(quote) ||
        ends.find(at(behind_space(end + 1))) == std::string_view::npos)
      return {};
    return {Given::same_as, option_hash(text_.substr(quote + 1, end - quote - 1))};
  }

  /// A word or a number that is a value by itself.
  Value classified(std::string_view token) const {
    if (token.empty()) return {};
    const uint32_t hash = literal_hash(token);
    if (is_one_of(token, {"None", "null", "~"})) return {Given::none, literal_hash("None")};
    if (is_one_of(token, {"False", "false", "off", "no"}))
      return {Given::off, literal_hash("False")};
    if (is_one_of(token, {"0", "0.", "0.0"})) return {Given::off, literal_hash("0")};
    if (is_one_of(token, {"True", "true"})) return {Given::literal, literal_hash("True")};
    if (!python_ || is_digit(token[0]) || token[0] == '-' || token[0] == '.')
      return {Given::literal, hash};
    return {Given::same_as, option_hash(last_component(token))};
  }

  const std::string_view text_;
  const bool python_, document_;
  const std::span<const ConditionalName> conditional_;
  size_t option_end_ = 0;  ///< where the last --option ends: what is in it is no name
  std::vector<NamedValue>& out_;
};

/// Binds every name and attribute under `target`.
void bind(const Ast& ast, NodeId target, std::vector<NamedValue>& out) {
  if (target == kNoNode) return;
  for (NodeId id = target; id < ast[target].end; ++id) {
    const K kind = ast[id].kind;
    if ((kind == K::name || kind == K::attribute) && ast[id].role != Role::object)
      out.push_back({option_hash(ast[id].text), 0, Given::other});
  }
}

}  // namespace

void add_named_values(std::string_view text, Notation notation, std::vector<NamedValue>& out,
                      std::span<const ConditionalName> conditional) {
  ValueScanner(text, notation, conditional, out).run();
}

void add_bound_names(const Ast& ast, std::vector<NamedValue>& out) {
  for (NodeId id = 1; id < ast.size(); ++id) {
    const Node& node = ast[id];
    switch (node.kind) {
      case K::function:
      case K::class_:
      case K::import_name:
        out.push_back({option_hash(node.text), 0, Given::other});
        break;
      case K::assign: {
        const NodeId left = ast.child(id, Role::left);
        if (ast[left].kind == K::tuple || ast[left].kind == K::list) bind(ast, left, out);
        break;
      }
      case K::for_:
      case K::comp_for:
      case K::with_item:
        bind(ast, ast.child(id, Role::left), out);
        break;
      case K::lambda:
        bind(ast, ast.child(id, Role::parameters), out);
        break;
      default:
        break;
    }
  }
}

void keep_once(std::vector<NamedValue>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  // Where one is anything, the others of the name say no more.
  std::vector<NamedValue> out;
  for (auto from = values.begin(); from != values.end();) {
    const auto to =
        std::find_if(from, values.end(), [&](const NamedValue& v) { return v.name != from->name; });
    const auto any =
        std::find_if(from, to, [](const NamedValue& v) { return v.kind == Given::other; });
    any == to ? (void)out.insert(out.end(), from, to) : out.push_back(*any);
    from = to;
  }
  out.shrink_to_fit();
  values = std::move(out);
}

}  // namespace stallscope
