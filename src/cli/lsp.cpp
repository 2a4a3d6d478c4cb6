// `stallscope lsp`: lint in an editor, over the language server protocol.
// Every change of an open file is linted together with the rest of its
// project, whose facts come from the cache.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/command.h"
#include "cli/json_rpc.h"
#include "cli/lint_engine.h"
#include "cli/lint_fix.h"
#include "cli/lsp_document.h"
#include "cli/rules_docs.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kSettleMs = 40;  ///< a burst of keys is linted once

/// "file:///a%20b.py" as a path; empty for other schemes.
std::string path_of(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return {};
  uri.remove_prefix(kScheme.size());
  std::string out;
  for (size_t i = 0; i < uri.size(); ++i) {
    unsigned value = 0;
    if (uri[i] == '%' && i + 2 < uri.size() &&
        std::sscanf(std::string(uri.substr(i + 1, 2)).c_str(), "%2x", &value) == 1) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += uri[i];
    }
  }
  return out;
}

/// Where a document lies: one that was never saved as a file of the folder that the server was
/// started in, by its language. Empty for what is no source.
std::string place_of(const std::string& uri, const std::string& language) {
  static const std::map<std::string_view, std::string_view> kEndings = {
      {"python", ".py"}, {"cpp", ".cpp"}, {"cuda-cpp", ".cu"}, {"cuda", ".cu"}};
  constexpr std::string_view kUnsaved = "untitled:";
  if (!uri.starts_with(kUnsaved)) return path_of(uri);
  const auto ending = kEndings.find(language);
  if (ending == kEndings.end()) return {};
  const std::string name = fs::path(uri.substr(kUnsaved.size())).filename().string();
  std::error_code ignored;
  return (fs::current_path(ignored) / name).string() + std::string(ending->second);
}

int severity_number(const Finding& finding) {
  if (finding.advice || finding.severity == Severity::info) return 4;  // hint
  if (finding.severity == Severity::low) return 3;                     // information
  return finding.severity == Severity::medium ? 2 : 1;                 // warning, error
}

json position(uint32_t line, uint32_t character) {
  return {{"line", line}, {"character", character}};
}

std::string_view line_text(std::string_view text, uint32_t line) {
  for (; line > 1; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

/// From where the matched expression begins to the end of its first line.
json range_of(const Finding& finding, const LspPart& part) {
  const Place& place = finding.locations.front();
  const uint32_t at = place.line - part.first_line - 1;
  const std::string_view line = line_text(part.text, at + 1);
  const size_t column = std::min<size_t>(place.column == 0 ? 0 : place.column - 1, line.size());
  return {{"start", position(at, utf16_length(line.substr(0, column)))},
          {"end", position(at, utf16_length(line))}};
}

json diagnostic_of(const Finding& finding, const LspPart& part) {
  return {{"range", range_of(finding, part)},
          {"severity", severity_number(finding)},
          {"source", "stallscope"},
          {"code", finding.rule_id},
          {"message", finding.title + "\n" + finding.message}};
}

/// Whether a request for code actions is also about quick fixes: kinds are words joined by dots,
/// and a kind asks for all that begin with its words.
bool wants_quick_fixes(const json& params) {
  const json context = params.value("context", json::object());
  if (!context.contains("only") || !context["only"].is_array()) return true;
  return std::ranges::any_of(context["only"],
                             [](const json& kind) { return kind == "quickfix" || kind == ""; });
}

/// An edit that replaces a whole document.
json whole_edit(const std::string& uri, std::string_view before, const std::string& after) {
  const auto lines = static_cast<uint32_t>(std::ranges::count(before, '\n'));
  const json range = {{"start", position(0, 0)}, {"end", position(lines + 1, 0)}};
  const json edit = {{"range", range}, {"newText", after}};
  return {{"changes", {{uri, json::array({edit})}}}};
}

class Server {
 public:
  Server() : rpc_(STDIN_FILENO, STDOUT_FILENO) {}

  int run() {
    while (auto message = rpc_.read()) {
      if (!*message) {
        rpc_.write(failed(nullptr, -32700, message->error().message));
        continue;
      }
      if (exit_) break;
      handle(message->value());
      if (exit_) break;
      if (!dirty_.empty() && !rpc_.pending(kSettleMs)) lint_dirty();
    }
    return shut_down_ ? kExitClean : kExitFindings;
  }

 private:
  static json failed(const json& id, int code, const std::string& text) {
    return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", text}}}};
  }

  void handle(const json& message) {
    if (!message.is_object()) return;
    const json id = message.value("id", json());
    const std::string method = message.contains("method") && message["method"].is_string()
                                   ? message["method"].get<std::string>()
                                   : std::string();
    // What a client sends may lack anything; what is missing is null.
    try {
      const json result = answer(method, message.value("params", json::object()));
      if (!id.is_null()) rpc_.write({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
    } catch (const json::exception& error) {
      if (!id.is_null()) rpc_.write(failed(id, -32602, error.what()));
    } catch (const std::out_of_range&) {
      if (!id.is_null()) rpc_.write(failed(id, -32601, "there is no method '" + method + "'"));
    }
  }

  json answer(const std::string& method, const json& params) {
    using Handler = json (Server::*)(const json&);
    static const std::map<std::string, Handler> kHandlers = {
        {"initialize", &Server::initialize},
        {"initialized", &Server::nothing},
        {"shutdown", &Server::shut_down},
        {"exit", &Server::leave},
        {"$/cancelRequest", &Server::nothing},
        {"$/setTrace", &Server::nothing},
        {"workspace/didChangeConfiguration", &Server::relint},
        {"workspace/didChangeWatchedFiles", &Server::relint},
        {"textDocument/didOpen", &Server::did_open},
        {"textDocument/didChange", &Server::did_change},
        {"textDocument/didSave", &Server::did_save},
        {"textDocument/didClose", &Server::did_close},
        {"notebookDocument/didOpen", &Server::did_open_notebook},
        {"notebookDocument/didChange", &Server::did_change_notebook},
        {"notebookDocument/didSave", &Server::did_save},
        {"notebookDocument/didClose", &Server::did_close_notebook},
        {"textDocument/hover", &Server::hover},
        {"textDocument/codeAction", &Server::code_action}};
    return (this->*kHandlers.at(method))(params);
  }

  json nothing(const json&) { return nullptr; }
  json initialize(const json&) {
    constexpr int kFull = 1;  ///< of documents, whole texts are sent
    return {{"capabilities",
             {{"textDocumentSync",
               {{"openClose", true}, {"change", kFull}, {"save", {{"includeText", false}}}}},
              {"notebookDocumentSync",
               {{"notebookSelector",
                 {{{"notebook", "jupyter-notebook"}, {"cells", {{{"language", "python"}}}}}}},
                {"save", true}}},
              {"hoverProvider", true},
              {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}}}},
            {"serverInfo", {{"name", "stallscope"}}}};
  }
  json shut_down(const json&) {
    shut_down_ = true;
    return nullptr;
  }
  json leave(const json&) {
    exit_ = true;
    return nullptr;
  }

  static std::string uri_of(const json& params) {
    return params.at("textDocument").at("uri").get<std::string>();
  }

  json did_open(const json& params) {
    const std::string uri = uri_of(params);
    const std::string path =
        place_of(uri, params.at("textDocument").value("languageId", std::string()));
    if (path.empty() || language_of_file(path).empty() || language_of_file(path) == "notebook")
      return nullptr;
    LspDocument& document = documents_[uri];
    document.path = path;
    document.parts = {{.uri = uri, .text = params.at("textDocument").at("text")}};
    dirty_.push_back(uri);
    return nullptr;
  }
  json did_change(const json& params) {
    const auto document = documents_.find(uri_of(params));
    if (document == documents_.end()) return nullptr;
    for (const json& change : params.at("contentChanges"))
      apply_change(document->second.parts.front().text, change);
    dirty_.push_back(document->first);
    return nullptr;
  }

  static LspPart cell_of(const json& cell, const json& texts) {
    constexpr int kCode = 2;  ///< kinds of cells: 1 is prose
    LspPart out{.uri = cell.at("document"), .code = cell.value("kind", kCode) == kCode};
    for (const json& text : texts) {
      if (text.at("uri") == out.uri) out.text = text.at("text");
    }
    return out;
  }
  json did_open_notebook(const json& params) {
    const json& notebook = params.at("notebookDocument");
    const std::string uri = notebook.at("uri"), path = path_of(uri);
    if (language_of_file(path) != "notebook") return nullptr;
    LspDocument& document = documents_[uri];
    document.path = path;
    document.notebook = true;
    document.parts.clear();
    for (const json& cell : notebook.at("cells"))
      document.parts.push_back(cell_of(cell, params.at("cellTextDocuments")));
    dirty_.push_back(uri);
    return nullptr;
  }
  json did_change_notebook(const json& params) {
    const auto found = documents_.find(params.at("notebookDocument").at("uri"));
    const json cells = params.at("change").value("cells", json::object());
    if (found == documents_.end()) return nullptr;
    std::vector<LspPart>& parts = found->second.parts;
    if (cells.contains("structure")) {
      const json& array = cells["structure"].at("array");
      const size_t start = std::min(array.at("start").get<size_t>(), parts.size());
      const size_t end = std::min(start + array.at("deleteCount").get<size_t>(), parts.size());
      for (size_t i = start; i < end; ++i) publish(parts[i].uri, json::array());
      const auto at = parts.erase(parts.begin() + static_cast<ptrdiff_t>(start),
                                  parts.begin() + static_cast<ptrdiff_t>(end));
      std::vector<LspPart> added;
      for (const json& cell : array.value("cells", json::array()))
        added.push_back(cell_of(cell, cells["structure"].value("didOpen", json::array())));
      parts.insert(at, added.begin(), added.end());
    }
    for (const json& changed : cells.value("textContent", json::array())) {
      LspPart* part = found->second.part(changed.at("document").at("uri").get<std::string>());
      if (!part) continue;
      for (const json& change : changed.at("changes")) apply_change(part->text, change);
    }
    dirty_.push_back(found->first);
    return nullptr;
  }
  json did_close_notebook(const json& params) {
    const auto found = documents_.find(params.at("notebookDocument").at("uri"));
    if (found == documents_.end()) return nullptr;
    for (const LspPart& part : found->second.parts) publish(part.uri, json::array());
    std::erase(dirty_, found->first);
    documents_.erase(found);
    return nullptr;
  }

  json did_save(const json&) {
    return relint({});  // what one file calls decides what another one stalls
  }
  json did_close(const json& params) {
    const std::string uri = uri_of(params);
    documents_.erase(uri);
    std::erase(dirty_, uri);
    publish(uri, json::array());
    return nullptr;
  }
  json relint(const json&) {
    for (const auto& [uri, document] : documents_) dirty_.push_back(uri);
    return nullptr;
  }

  void lint_dirty() {
    std::ranges::sort(dirty_);
    dirty_.erase(std::unique(dirty_.begin(), dirty_.end()), dirty_.end());
    for (const std::string& uri : std::exchange(dirty_, {})) lint(documents_.at(uri));
  }

  void lint(LspDocument& document) {
    document.lay_out();
    LintSettings settings;
    settings.paths = {folder_above(document.path)};
    // What else is open counts as it is shown, saved or not.
    for (const auto& [uri, other] : documents_)
      settings.given[other.path] = {.text = other.as_file(), .chosen = false};
    settings.given[document.path] = {.text = document.as_file()};
    auto linted = run_lint(settings);
    if (!linted) {
      const json message = {{"type", 1}, {"message", linted.error().to_string()}};
      rpc_.write({{"jsonrpc", "2.0"}, {"method", "window/showMessage"}, {"params", message}});
      return;
    }
    document.linted = std::move(*linted);
    std::map<std::string, json> lists;
    for (const LspPart& part : document.parts) lists.emplace(part.uri, json::array());
    for (const Finding& finding : document.linted.results.findings) {
      const LspPart* part = part_of(document, finding);
      if (!part) continue;
      lists[part->uri].push_back(diagnostic_of(finding, *part));
    }
    for (const auto& [uri, list] : lists) publish(uri, list);
  }

  static const LspPart* part_of(const LspDocument& document, const Finding& finding) {
    if (finding.locations.empty()) return nullptr;
    return document.part_at(finding.locations.front().line);
  }

  void publish(const std::string& uri, const json& diagnostics) const {
    rpc_.write({{"jsonrpc", "2.0"},
                {"method", "textDocument/publishDiagnostics"},
                {"params", {{"uri", uri}, {"diagnostics", diagnostics}}}});
  }

  /// The open document that a file's or a cell's URI belongs to; null when there is none.
  LspDocument* document_of(const std::string& uri) {
    for (auto& [own, document] : documents_) {
      if (document.part(uri)) return &document;
    }
    return nullptr;
  }

  /// Findings in lines [first, last], 0-based, of a part.
  static std::vector<const Finding*> findings_at(const LspDocument& document, const LspPart& part,
                                                 uint32_t first, uint32_t last) {
    std::vector<const Finding*> out;
    for (const Finding& finding : document.linted.results.findings) {
      if (part_of(document, finding) != &part) continue;
      const uint32_t line = finding.locations.front().line - part.first_line - 1;
      if (first <= line && line <= last) out.push_back(&finding);
    }
    return out;
  }

  json hover(const json& params) {
    if (!dirty_.empty()) lint_dirty();
    const std::string uri = uri_of(params);
    LspDocument* document = document_of(uri);
    if (!document) return nullptr;
    const auto line = params.at("position").at("line").get<uint32_t>();
    std::string text;
    for (const Finding* finding : findings_at(*document, *document->part(uri), line, line)) {
      const Rule* rule = rule_of(document->linted, *finding);
      if (!rule) continue;
      text += (text.empty() ? "" : "\n\n---\n\n") + rule_markdown(*rule);
    }
    if (text.empty()) return nullptr;
    return {{"contents", {{"kind", "markdown"}, {"value", text}}}};
  }

  json code_action(const json& params) {
    if (!dirty_.empty()) lint_dirty();
    const std::string uri = uri_of(params);
    json actions = json::array();
    LspDocument* document = document_of(uri);
    if (!document || !wants_quick_fixes(params)) return actions;
    const LspPart& part = *document->part(uri);
    const std::string whole = document->lay_out();
    const json& range = params.at("range");
    for (const Finding* finding :
         findings_at(*document, part, range.at("start").at("line").get<uint32_t>(),
                     range.at("end").at("line").get<uint32_t>())) {
      const auto add = [&](const std::string& title, const std::string& text, bool preferred) {
        actions.push_back({{"title", title},
                           {"kind", "quickfix"},
                           {"diagnostics", json::array({diagnostic_of(*finding, part)})},
                           {"isPreferred", preferred},
                           {"edit", whole_edit(uri, part.text, part_after(part, whole, text))}});
      };
      const bool safe = finding->fix.applicability == Applicability::safe;
      if (const auto text = fixed(document->linted, *finding, whole))
        add(finding->title + (safe ? "" : " (may change what is computed)"), *text, safe);
      if (const auto text =
              with_ignore(whole, document->path, finding->locations.front().line, finding->rule_id))
        add("Accept " + finding->rule_id + " here", *text, false);
    }
    return actions;
  }

  JsonRpc rpc_;
  std::map<std::string, LspDocument> documents_;  ///< by the URI of the file or notebook
  std::vector<std::string> dirty_;
  bool shut_down_ = false, exit_ = false;
};

const RegisterCommand kLsp({
    .name = "lsp",
    .summary = "Lint in an editor: a language server on standard input and output",
    .examples = "Examples:\n"
                "  stallscope lsp      started by an editor for Python, notebooks, C++ and CUDA",
    .setup = [](CLI::App&) -> std::function<int()> { return [] { return Server().run(); }; },
});

}  // namespace
}  // namespace stallscope
