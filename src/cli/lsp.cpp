// `stallscope lsp`: lint in an editor, over the language server protocol.
// Every change of an open file is linted together with the rest of its
// project, whose facts come from the cache.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/terminal.h"
#include "cli/command.h"
#include "cli/json_rpc.h"
#include "cli/lint_engine.h"
#include "cli/lint_fix.h"
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

int severity_number(const Finding& finding) {
  if (finding.advice || finding.severity == Severity::info) return 4;  // hint
  if (finding.severity == Severity::low) return 3;                     // information
  return finding.severity == Severity::medium ? 2 : 1;                 // warning, error
}

json position(uint32_t line, uint32_t character) {
  return {{"line", line}, {"character", character}};
}

/// The protocol counts UTF-16 units; a line's length in them.
uint32_t utf16_length(std::string_view text) {
  uint32_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
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
json range_of(const Finding& finding, std::string_view text) {
  const Place& place = finding.locations.front();
  const std::string_view line = line_text(text, place.line);
  const size_t column = std::min<size_t>(place.column == 0 ? 0 : place.column - 1, line.size());
  const uint32_t at = place.line == 0 ? 0 : place.line - 1;
  return {{"start", position(at, utf16_length(line.substr(0, column)))},
          {"end", position(at, utf16_length(line))}};
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
  struct Document {
    std::string path, text;
    Linted linted;
  };

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

  void set_text(const std::string& uri, std::string text) {
    const std::string path = path_of(uri);
    if (path.empty() || language_of_file(path).empty() || language_of_file(path) == "notebook")
      return;
    Document& document = documents_[uri];
    document.path = path;
    document.text = std::move(text);
    dirty_.push_back(uri);
  }

  json did_open(const json& params) {
    set_text(uri_of(params), params.at("textDocument").at("text").get<std::string>());
    return nullptr;
  }
  json did_change(const json& params) {
    const json& changes = params.at("contentChanges");
    if (!changes.empty()) set_text(uri_of(params), changes.back().at("text").get<std::string>());
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
    for (const std::string& uri : std::exchange(dirty_, {})) lint(uri, documents_.at(uri));
  }

  void lint(const std::string& uri, Document& document) {
    LintSettings settings;
    settings.paths = {fs::path(document.path).parent_path().string()};
    settings.given[document.path] = document.text;
    auto linted = run_lint(settings);
    if (!linted) {
      const json message = {{"type", 1}, {"message", linted.error().to_string()}};
      rpc_.write({{"jsonrpc", "2.0"}, {"method", "window/showMessage"}, {"params", message}});
      return;
    }
    document.linted = std::move(*linted);
    json list = json::array();
    for (const Finding& finding : document.linted.results.findings) {
      if (finding.locations.empty()) continue;
      list.push_back({{"range", range_of(finding, document.text)},
                      {"severity", severity_number(finding)},
                      {"source", "stallscope"},
                      {"code", finding.rule_id},
                      {"message", finding.title + "\n" + finding.message}});
    }
    publish(uri, list);
  }

  void publish(const std::string& uri, const json& diagnostics) const {
    rpc_.write({{"jsonrpc", "2.0"},
                {"method", "textDocument/publishDiagnostics"},
                {"params", {{"uri", uri}, {"diagnostics", diagnostics}}}});
  }

  /// Findings whose line lies in [first, last], 0-based.
  std::vector<const Finding*> findings_at(const Document& document, uint32_t first,
                                          uint32_t last) const {
    std::vector<const Finding*> out;
    for (const Finding& finding : document.linted.results.findings) {
      if (finding.locations.empty() || finding.locations.front().line == 0) continue;
      const uint32_t line = finding.locations.front().line - 1;
      if (first <= line && line <= last) out.push_back(&finding);
    }
    return out;
  }

  json hover(const json& params) {
    if (!dirty_.empty()) lint_dirty();
    const auto document = documents_.find(uri_of(params));
    if (document == documents_.end()) return nullptr;
    const auto line = params.at("position").at("line").get<uint32_t>();
    std::string text;
    for (const Finding* finding : findings_at(document->second, line, line)) {
      const Rule* rule = rule_of(document->second.linted, *finding);
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
    const auto found = documents_.find(uri);
    if (found == documents_.end()) return actions;
    const Document& document = found->second;
    const json& range = params.at("range");
    for (const Finding* finding :
         findings_at(document, range.at("start").at("line").get<uint32_t>(),
                     range.at("end").at("line").get<uint32_t>())) {
      const auto add = [&](const std::string& title, const std::string& text, bool preferred) {
        actions.push_back({{"title", title},
                           {"kind", "quickfix"},
                           {"isPreferred", preferred},
                           {"edit", whole_edit(uri, document.text, text)}});
      };
      if (const auto text = fixed(document.linted, *finding, document.text))
        add(finding->title, *text, true);
      if (const auto text = with_ignore(document.text, document.path,
                                        finding->locations.front().line, finding->rule_id))
        add("Accept " + finding->rule_id + " here", *text, false);
    }
    return actions;
  }

  JsonRpc rpc_;
  std::map<std::string, Document> documents_;
  std::vector<std::string> dirty_;
  bool shut_down_ = false, exit_ = false;
};

const RegisterCommand kLsp({
    .name = "lsp",
    .summary = "Lint in an editor: a language server on standard input and output",
    .examples = "Examples:\n"
                "  stallscope lsp      started by an editor for Python, C++ and CUDA files",
    .setup = [](CLI::App&) -> std::function<int()> { return [] { return Server().run(); }; },
});

}  // namespace
}  // namespace stallscope
