// Texts to tree-sitter's trees, and these to the Ast: as a whole, else part by part.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "source/syntax/ast.h"
#include "source/syntax/grammar.h"
#include "source/syntax/parse_memory.h"
#include "source/syntax/parsed_text.h"
#include "source/syntax/tree_conversion.h"

namespace stallscope {
namespace {

struct ParserDeleter {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};

using Parser = std::unique_ptr<TSParser, ParserDeleter>;

const TSTree* parse_text(const Parser& parser, std::string_view text) {
  return ts_parser_parse_string(parser.get(), nullptr, text.data(),
                                static_cast<uint32_t>(text.size()));
}

Ast empty_ast(std::string_view source, Grammar grammar) {
  Ast ast;
  ast.source = source;
  ast.grammar = grammar;
  ast.nodes.reserve(source.size() / 6 + 16);
  return ast;
}

/// Where the top-level definitions of Python begin, each with its decorators; from the start.
std::vector<TSRange> definitions(std::string_view text) {
  std::vector<TSRange> out(1);
  bool decorated = false;
  uint32_t row = 0;
  for (size_t at = 0; at < text.size(); ++row) {
    const std::string_view line = text.substr(at);
    const bool definition =
        line.starts_with("def ") || line.starts_with("class ") || line.starts_with("async def ");
    const bool decorator = line.starts_with('@');
    if ((definition || decorator) && !decorated && at > 0) {
      const TSPoint here = {row, 0};
      out.back().end_byte = static_cast<uint32_t>(at);
      out.back().end_point = here;
      out.push_back({here, here, static_cast<uint32_t>(at), static_cast<uint32_t>(at)});
    }
    if (definition || decorator) decorated = decorator;
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  out.back().end_byte = static_cast<uint32_t>(text.size());
  out.back().end_point = {row, 0};
  return out;
}

/// Each top-level definition parsed by itself, so that an open bracket spoils one only.
Ast parse_apart(const Parser& parser, const Ast& whole, std::string_view text) {
  Ast ast = empty_ast(whole.source, whole.grammar);
  std::vector<const TSTree*> trees;
  for (const TSRange& range : definitions(text)) {
    ts_parser_set_included_ranges(parser.get(), &range, 1);
    if (const TSTree* tree = parse_text(parser, text)) trees.push_back(tree);
  }
  convert_trees(trees, ast);
  if (ast.nodes.empty()) return whole;
  ast.nodes[0] = whole.nodes[0];
  ast.nodes[0].first_child = ast.size() > 1 ? 1 : kNoNode;
  ast.nodes[0].end = static_cast<NodeId>(ast.size());
  return ast;
}

}  // namespace

Ast parse_source(std::string_view source, Grammar grammar) {
  source = source.substr(0, 0xfffffff0u);
  Ast ast = empty_ast(source, grammar);
  const std::string changed = parsed_text(source, grammar);
  const std::string_view text = changed.empty() ? source : changed;
  const ParseMemoryScope memory;
  const Parser parser(ts_parser_new());
  ts_parser_set_language(parser.get(), grammar_tables(grammar).language);
  // The tree goes with its memory: taking it apart node by node would cost a tenth of the parse.
  if (const TSTree* tree = parse_text(parser, text)) {
    convert_trees({&tree, 1}, ast);
  } else {
    ast.nodes.emplace_back().kind = NodeKind::module;
    ast.nodes[0].end = 1;
  }
  if (ast.error_bytes > 0 && grammar == Grammar::python) {
    Ast apart = parse_apart(parser, ast, text);
    if (apart.error_bytes < ast.error_bytes) return apart;
  }
  return ast;
}

}  // namespace stallscope
