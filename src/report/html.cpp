// report.html: the template with its sections, style, scripts and data filled
// in; one file that needs nothing else.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "report/html_parts.h"
#include "report/json_parts.h"
#include "report/present.h"
#include "report/text_safety.h"
#include "report/tool_info.h"
#include "report_assets.h"

namespace stallscope {
namespace {

constexpr size_t kHardCapBytes = 10'000'000;

/// The source expression of the content security policy for an embedded text.
std::string csp_hash(std::string_view sha256_hex) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto nibble = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out = "'sha256-";
  for (size_t i = 0; i < sha256_hex.size(); i += 6) {
    unsigned bits = 0, digits = 0;
    for (size_t j = i; j < i + 6; ++j) {
      bits = bits << 4 | (j < sha256_hex.size() ? static_cast<unsigned>(nibble(sha256_hex[j])) : 0);
      digits += j < sha256_hex.size() ? 1 : 0;
    }
    const unsigned characters = (digits * 4 + 5) / 6;
    for (unsigned k = 0; k < 4; ++k)
      out += k < characters ? kAlphabet[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out + "'";
}

std::string policy() {
  std::string scripts, styles;
  for (const std::string_view hash : {assets::kUplotJsSha256, assets::kAppJsSha256,
                                      assets::kTimelineJsSha256, assets::kSeriesJsSha256})
    scripts += " " + csp_hash(hash);
  for (const std::string_view hash : {assets::kUplotCssSha256, assets::kStyleCssSha256})
    styles += " " + csp_hash(hash);
  return fmt::format(
      "default-src 'none'; script-src{}; style-src{}; img-src data:; base-uri 'none'; "
      "form-action 'none'",
      scripts, styles);
}

std::string page_title(const Report& report) {
  if (!report.run.command.empty()) return shortened(one_line(command_text(report.run)), 80);
  return report.inputs.empty() ? "training run" : shortened(one_line(report.inputs.front()), 80);
}

std::string subtitle(const Report& report) {
  std::string out;
  if (!report.run.started_at.empty())
    out += fmt::format("<time datetime=\"{0}\">{0}</time>", escape_markup(report.run.started_at));
  if (report.run.interrupted) out += " \xC2\xB7 interrupted";
  if (report.run.exit_code && *report.run.exit_code != 0)
    out += fmt::format(" \xC2\xB7 the program ended with exit code {}", *report.run.exit_code);
  return out;
}

using Filler = std::function<std::string(const Report&)>;

/// What each `<!--@name-->` or `{{name}}` of the template stands for.
const std::map<std::string_view, Filler>& fillers() {
  static const std::map<std::string_view, Filler> kFillers = {
      {"policy", [](const Report&) { return policy(); }},
      {"title", [](const Report& r) { return escape_markup(page_title(r)); }},
      {"subtitle", subtitle},
      {"uplot-css", [](const Report&) { return std::string(assets::kUplotCss); }},
      {"style", [](const Report&) { return std::string(assets::kStyleCss); }},
      {"uplot-js", [](const Report&) { return std::string(assets::kUplotJs); }},
      {"app", [](const Report&) { return std::string(assets::kAppJs); }},
      {"timeline-js", [](const Report&) { return std::string(assets::kTimelineJs); }},
      {"series-js", [](const Report&) { return std::string(assets::kSeriesJs); }},
      {"headline", headline_html},
      {"trust", trust_html},
      {"breakdown",
       [](const Report& r) {
         return breakdown_html(r) + phases_html(r) + waits_html(r) + host_costs_html(r);
       }},
      {"findings", findings_html},
      {"finding-count", [](const Report& r) { return std::to_string(r.findings.size()); }},
      {"rules", rules_html},
      {"timeline", timeline_html},
      {"ranks", ranks_html},
      {"startup", startup_html},
      {"steps", steps_html},
      {"kernels", kernels_html},
      {"comparison", comparison_html},
      {"run", run_html},
      {"tool",
       [](const Report&) {
         const ToolInfo& tool = tool_info();
         return escape_markup(tool.name + " " + tool.version +
                              (tool.commit.empty() ? "" : " (" + tool.commit + ")"));
       }},
  };
  return kFillers;
}

std::string fill_template(const Report& report, const std::string& data) {
  const std::string_view text = assets::kTemplateHtml;
  std::string out;
  for (size_t at = 0;;) {
    const size_t open = text.find("{{", at);
    out += text.substr(at, open - at);
    if (open == std::string_view::npos) return out;
    const size_t close = text.find("}}", open);
    const std::string_view name = text.substr(open + 2, close - open - 2);
    out += name == "data" ? data : fillers().at(name)(report);
    at = close + 2;
  }
}

Result<std::string> render_html(const Report& report) {
  // The page carries what fits: a smaller share of the events when a run is large.
  for (const size_t slices : {100'000UL, 20'000UL, 4'000UL, 0UL}) {
    const JsonLimits limits{.slices_per_timeline = std::min<size_t>(slices, 4000),
                            .slices_in_all = slices,
                            .steps_in_all = slices,
                            .kernel_ranks = 0};
    const std::string page =
        fill_template(report, escape_json_for_script(dump(report_json(report, limits), -1)));
    if (page.size() <= kHardCapBytes) return page;
  }
  Error error;
  error.message = "the report does not fit into 10 MB of HTML even without its events";
  error.remedy = "use --format json";
  error.code = "report-too-large";
  return error;
}

const RegisterFormat kHtml({"html", "report.html", "one page that works offline", render_html});

}  // namespace
}  // namespace stallscope
