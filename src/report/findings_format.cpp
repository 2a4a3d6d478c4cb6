#include "report/findings_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

std::vector<FindingsFormat>& findings_registry() {
  static std::vector<FindingsFormat> formats;
  return formats;
}

}  // namespace

RegisterFindingsFormat::RegisterFindingsFormat(const FindingsFormat& format) {
  findings_registry().push_back(format);
}

std::vector<FindingsFormat> findings_formats() {
  std::vector<FindingsFormat> sorted = findings_registry();
  std::ranges::sort(sorted, {}, &FindingsFormat::name);
  return sorted;
}

Result<std::string> render_findings(std::string_view format, const FindingsList& list) {
  std::vector<std::string_view> known;
  for (const FindingsFormat& candidate : findings_formats()) {
    if (candidate.name == format) return candidate.render(list);
    known.push_back(candidate.name);
  }
  Error error;
  error.message = fmt::format("there is no findings format '{}'{}", one_line(format),
                              suggestion(format, known));
  error.remedy = fmt::format("choose one of {}", fmt::join(known, ", "));
  error.code = "unknown-format";
  return error;
}

std::string_view finding_level(const Finding& finding) {
  if (finding.advice) return "note";
  switch (finding.severity) {
    case Severity::critical:
    case Severity::high:
      return "error";
    case Severity::medium:
      return "warning";
    case Severity::low:
    case Severity::info:
      return "note";
  }
  return "note";
}

std::string file_uri(std::string_view path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$&'()*+,=@";
  while (path.starts_with("./")) path.remove_prefix(2);
  std::string out = path.starts_with("/") ? "file://" : "";
  for (const char c : path) {
    if (c == '\\')
      out += '/';
    else if (kPlain.find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string finding_paragraph(const Finding& finding) {
  std::string text = one_line(finding.title) + ".";
  if (!finding.message.empty()) text += " " + one_line(finding.message);
  if (finding.gain && (finding.gain->step_time || finding.gain->one_time)) {
    text += fmt::format(" Fixing it {}", gain_text(finding));
    if (const std::string range = gain_range_text(finding); !range.empty())
      text += fmt::format(", {}", range);
    text += ".";
  } else {
    text += fmt::format(" ({})", status_text(finding.status));
  }
  if (const std::string others = other_places_text(finding); !others.empty())
    text += " (" + others + ")";
  return text;
}

std::string other_places_text(const Finding& finding) {
  constexpr size_t kNamed = 4;
  if (finding.locations.size() < 2) return {};
  std::string text = "also at";
  const size_t others = finding.locations.size() - 1;
  for (size_t i = 1; i <= std::min(others, kNamed); ++i)
    text += (i == 1 ? " " : ", ") + one_line(place_text(finding.locations[i]));
  if (others > kNamed) text += fmt::format(" and {} more", others - kNamed);
  return text;
}

}  // namespace stallscope
