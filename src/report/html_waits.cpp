// Why the device did not compute, what its kernels were launched by, and how full its queue was.
#include <fmt/format.h>

#include <algorithm>

#include "report/build.h"
#include "report/html_parts.h"
#include "report/present.h"
#include "report/text_safety.h"

namespace stallscope {
namespace {

constexpr size_t kMaxWaits = 20;

constexpr const char* kDash = "\xE2\x80\x94";

std::string or_dash(const std::string& text) {
  return text.empty() ? kDash : escaped(shortened(text, 72));
}

std::string or_dash(const Place& place) {
  return place.known() ? escaped(place_text(place)) : kDash;
}

std::string share_table(const std::vector<KernelShare>& shares, bool by_line) {
  std::string table = fmt::format(
      "<table><thead><tr><th scope=\"col\">{}</th><th scope=\"col\" class=\"n\">Kernels</th><th "
      "scope=\"col\" class=\"n\">Total</th></tr></thead><tbody>",
      by_line ? "Line" : "Operator");
  for (size_t i = 0; i < shares.size() && i < kMaxWaits; ++i)
    table += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td>{}</tr>",
                         by_line ? or_dash(shares[i].place) : or_dash(shares[i].op),
                         shares[i].count, duration_cell(shares[i].total));
  return scroll(by_line ? "Kernel time by line" : "Kernel time by operator",
                table + "</tbody></table>");
}

std::string queue_svg(const QueueDepth& queue) {
  constexpr double kChartWidth = 900, kHeight = 80;
  const double highest = std::max(*std::ranges::max_element(queue.depth), 1.0);
  const double step = kChartWidth / static_cast<double>(queue.depth.size());
  std::string path = fmt::format("M0 {}", kHeight);
  for (size_t i = 0; i < queue.depth.size(); ++i)
    path += fmt::format("V{:.1f}H{:.1f}", kHeight - kHeight * queue.depth[i] / highest,
                        step * static_cast<double>(i + 1));
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" preserveAspectRatio=\"none\" height=\"{}\" "
      "width=\"100%\"><title>Queue depth over the capture: mean {:.1f}, at most {}</title><path "
      "d=\"{}V{}Z\" fill=\"currentColor\" opacity=\"0.45\"/></svg>",
      kChartWidth, kHeight, kHeight, queue.mean, queue.maximum, path, kHeight);
}

}  // namespace

std::string waits_html(const Report& report) {
  const RankSummary* rank = slowest_rank(report.summary);
  if (rank == nullptr && !report.summary.ranks.empty()) rank = &report.summary.ranks.front();
  if (rank == nullptr || rank->waits.empty()) return {};
  std::string table =
      "<table class=\"waits\"><thead><tr><th scope=\"col\">Waiting for</th><th scope=\"col\" "
      "class=\"n\">Per step</th><th scope=\"col\">Who</th><th scope=\"col\">Operator</th>"
      "<th scope=\"col\">Line</th></tr></thead><tbody>";
  for (size_t i = 0; i < rank->waits.size() && i < kMaxWaits; ++i) {
    const WaitShare& wait = rank->waits[i];
    table += fmt::format("<tr><th scope=\"row\">{}</th>{}<td>{}</td><td>{}</td><td>{}</td></tr>",
                         escaped(wait.cause), duration_cell(wait.per_step), or_dash(wait.subject),
                         or_dash(wait.op), or_dash(wait.place));
  }
  return fmt::format("<h3>Why the device of {} did not compute</h3>{}", escaped(rank_label(*rank)),
                     scroll("Waits by cause", table + "</tbody></table>"));
}

std::string kernel_shares_html(const RankSummary& rank) {
  std::string out;
  if (!rank.kernels_by_op.empty())
    out += "<h3>By operator</h3>" + share_table(rank.kernels_by_op, false);
  if (!rank.kernels_by_line.empty())
    out += "<h3>By line</h3>" + share_table(rank.kernels_by_line, true);
  out += graphs_html(rank);
  if (!rank.queue.depth.empty())
    out += fmt::format(
        "<h3>Queue depth</h3><figure>{}<figcaption>Device work launched and not ended, over the "
        "capture of {}: {:.1f} on average, at most {}. Near zero, the device waits for the "
        "host.</figcaption></figure>",
        queue_svg(rank.queue),
        duration_text(static_cast<double>(rank.queue.bucket) *
                      static_cast<double>(rank.queue.depth.size())),
        rank.queue.mean, rank.queue.maximum);
  return out;
}

}  // namespace stallscope
