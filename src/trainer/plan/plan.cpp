#include "trainer/plan/plan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>

namespace stallscope::trainer {
namespace {

constexpr std::array<std::string_view, 5> kSplits{"replicated", "column", "row", "vocabulary",
                                                  "feature"};

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (size_t at = 0;;) {
    const size_t dot = path.find('.', at);
    parts.push_back(path.substr(at, dot - at));
    if (dot == std::string_view::npos) return parts;
    at = dot + 1;
  }
}

// Whether `text` matches a part with `*` and `?`: the last star is widened on a mismatch, so that
// no pattern takes more than their lengths' product.
bool matches_part(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0, star = std::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

std::string_view to_string(Split split) {
  return kSplits[static_cast<size_t>(split)];
}

// A tree of parts: patterns that begin alike share their beginning.
struct Plan::Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literal, wild;
  std::unique_ptr<Node> any;  ///< below `**`
  std::vector<int> rules;     ///< that end here
  bool repeats = false;       ///< this node is below `**`: further parts stay in it
};

Plan::Plan(std::vector<PlanRule> rules)
    : rules_(std::move(rules)), root_(std::make_unique<Node>()) {
  auto child = [](std::unique_ptr<Node>& slot) -> Node* {
    if (slot == nullptr) slot = std::make_unique<Node>();
    return slot.get();
  };
  for (size_t i = 0; i < rules_.size(); ++i) {
    Node* node = root_.get();
    for (const std::string_view part : parts_of(rules_[i].pattern)) {
      if (part == "**") {
        node = child(node->any);
        node->repeats = true;
      } else {
        const bool is_wild = part.find_first_of("*?") != std::string_view::npos;
        node = child((is_wild ? node->wild : node->literal)[std::string(part)]);
      }
    }
    node->rules.push_back(static_cast<int>(i));
  }
}

Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

void Plan::collect(const Node& node, std::span<const std::string_view> parts,
                   std::vector<int>& found) const {
  if (parts.empty()) found.insert(found.end(), node.rules.begin(), node.rules.end());
  if (node.any != nullptr) collect(*node.any, parts, found);
  if (parts.empty()) return;
  const auto rest = parts.subspan(1);
  if (const auto next = node.literal.find(parts[0]); next != node.literal.end())
    collect(*next->second, rest, found);
  for (const auto& [pattern, next] : node.wild)
    if (matches_part(pattern, parts[0])) collect(*next, rest, found);
  if (node.repeats) collect(node, rest, found);
}

std::vector<int> Plan::matches(std::string_view path) const {
  std::vector<int> found;
  collect(*root_, parts_of(path), found);
  std::ranges::sort(found);
  return found;
}

int Plan::match(std::string_view path) const {
  const std::vector<int> found = matches(path);
  return found.empty() ? kNone : found.front();
}

Plan::Applied Plan::apply(std::span<const std::string> paths) const {
  Applied out;
  out.rule.reserve(paths.size());
  for (const std::string& path : paths) {
    const std::vector<int> found = matches(path);
    out.rule.push_back(found.empty() ? kNone : found.front());
    if (found.empty()) {
      out.unmatched.push_back(path);
      continue;
    }
    const int first = rules_[static_cast<size_t>(found.front())].dimension;
    if (std::ranges::any_of(found, [&](int i) {
          const PlanRule& rule = rules_[static_cast<size_t>(i)];
          return rule.pattern != "**" && rule.dimension != first;
        }))
      out.ambiguous.push_back(path);
  }
  return out;
}

Result<Plan> parse_plan(std::string_view text) {
  std::vector<PlanRule> rules;
  std::istringstream lines{std::string(text)};
  uint64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    PlanRule rule;
    std::string split, dimension, more;
    if (!(words >> rule.pattern)) continue;
    words >> split >> dimension >> more;
    const auto known = std::ranges::find(kSplits, std::string_view(split));
    const char* const end = dimension.data() + dimension.size();
    const auto read = std::from_chars(dimension.data(), end, rule.dimension);
    const bool is_number = read.ec == std::errc() && read.ptr == end && rule.dimension >= 0;
    rule.split = static_cast<Split>(known - kSplits.begin());
    const bool whole = split == "replicated";
    if (known == kSplits.end() || (whole ? !dimension.empty() : !is_number) || !more.empty())
      return Error{.message = "'" + line + "' is no line of a plan",
                   .line = number,
                   .remedy =
                       "write PATTERN SPLIT DIMENSION, where SPLIT is replicated (without "
                       "DIMENSION), column, row, vocabulary or feature"};
    rules.push_back(std::move(rule));
  }
  return Plan(std::move(rules));
}

const Plan& standard_plan() {
  static const Result<Plan> plan = parse_plan(R"(
    embedding.token             vocabulary 0
    head.out.bias               vocabulary 0
    layer.*.attention.qkv.weight  column 2    # [hidden, 3, heads, head size]
    layer.*.attention.qkv.bias    column 1
    layer.*.attention.out.weight  row 0
    layer.*.mlp.up.weight         column 1
    layer.*.mlp.up.bias           column 0
    layer.*.mlp.down.weight       row 0
    encoder.*.weight            feature 1     # the encoder's shard is the decoder's
    encoder.*.bias              feature 0
    decoder.bias.*              replicated
    decoder.*                   feature 0     # [features, targets, width]
    threshold                   feature 1
    **                          replicated)");
  return *plan;
}

}  // namespace stallscope::trainer
