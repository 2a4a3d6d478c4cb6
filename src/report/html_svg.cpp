// Drawings that need no script: the stacked bar and the mini-timeline.
#include <fmt/format.h>

#include <algorithm>

#include "report/html_parts.h"
#include "report/lanes.h"
#include "report/present.h"
#include "report/text_safety.h"
#include "trace/trace.h"

namespace stallscope {
namespace {

constexpr double kLabelledShare = 0.07;  // a part of the bar this wide has room for its percentage
constexpr double kNamedShare = 0.18;     // and this wide for its name,
constexpr double kPhoneShare = 0.12;     // and this wide for its percentage on a phone
constexpr double kNamedOnPhonesShare = 0.35;  // and this wide even on a phone
constexpr double kWidth = 560;       // user units of a mini-timeline; it scales with its column
constexpr double kRowHeight = 17;    // of one lane of slices
constexpr double kLabelHeight = 17;  // above each track
constexpr double kAxisHeight = 20;
constexpr double kCharacterWidth = 6.6;  // of the 11-unit label font, a little generous
constexpr size_t kMaxSlices = 160;       // more would be thinner than a pixel

/// A step of 1, 2 or 5 times a power of ten that gives at most `most` ticks.
double tick_step(double span, int most) {
  double step = 1;
  while (span / step > most) {
    for (const double factor : {2.0, 2.5, 2.0}) {
      step *= factor;
      if (span / step <= most) break;
    }
  }
  return step;
}

std::string axis_svg(double span_ns, double y, double scale) {
  std::string out = fmt::format("<g class=\"axis\"><path d=\"M0 {0:.1f}H{1}\"/>", y, kWidth);
  const double step = tick_step(span_ns, 5);
  for (int tick = 0; tick * step <= span_ns; ++tick) {
    const double at = tick * step;
    out += fmt::format(
        "<path d=\"M{0:.1f} {1:.1f}v4\"/><text x=\"{0:.1f}\" y=\"{2:.1f}\"{3}>{4}</text>",
        at * scale, y, y + 16,
        at == 0                    ? ""
        : at * scale > kWidth - 24 ? " text-anchor=\"end\""
                                   : " text-anchor=\"middle\"",
        escaped(duration_text(at)));
  }
  return out + "</g>";
}

std::string slice_svg(const Slice& slice, double y, double scale) {
  const double x = static_cast<double>(slice.start) * scale;
  const double width = std::max(static_cast<double>(slice.duration) * scale, 0.8);
  const std::string name = escaped(slice.name);
  // Kernels of a collective library are drawn as what they do.
  const bool collective = slice.kind == "kernel" && is_collective_kernel(slice.name);
  const std::string kind = collective ? "collective" : escaped(slice.kind);
  std::string out = fmt::format(
      "<rect class=\"k-{}{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\"><title>{}, "
      "{}"
      "{}</title></rect>",
      kind, slice.highlighted ? " hot" : "", x, y, width, kRowHeight - 2, name,
      escaped(duration_text(static_cast<double>(slice.duration))),
      slice.highlighted ? " (this finding)" : "");
  const auto fits = static_cast<size_t>(std::max(width - 6, 0.0) / kCharacterWidth);
  if (fits >= 4)
    out += fmt::format("<text class=\"on k-{}\" x=\"{:.2f}\" y=\"{:.1f}\">{}</text>", kind, x + 3,
                       y + 11.5, escaped(shortened(one_line(slice.name), fits)));
  return out;
}

std::string class_strip_svg(const Timeline& timeline, double y, double scale) {
  std::string out;
  for (size_t i = 0; i < timeline.classes.size(); ++i) {
    const auto [start, step_class] = timeline.classes[i];
    const Ns end =
        i + 1 < timeline.classes.size() ? timeline.classes[i + 1].first : timeline.duration;
    if (end <= start) continue;
    const double width = static_cast<double>(end - start) * scale;
    out += fmt::format(
        "<rect class=\"c-{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"9\"><title>{}, "
        "{}</title>"
        "</rect>",
        to_string(step_class), static_cast<double>(start) * scale, y, width,
        class_label(step_class), escaped(duration_text(static_cast<double>(end - start))));
  }
  return out;
}

}  // namespace

std::string class_bar_svg(const ClassTimes& times, std::string_view label) {
  const double total = static_cast<double>(times.total());
  if (total <= 0) return {};
  // Parts are placed in percent of the width, so that their labels keep their shape.
  std::string out =
      fmt::format("<svg class=\"bar\" role=\"img\" aria-label=\"{}\">", escaped(label));
  double x = 0;
  for (const StepClass c : step_classes()) {
    const double share = static_cast<double>(times[c]) / total;
    if (share <= 0) continue;
    const std::string percent = percent_text(share);
    out += fmt::format(
        "<svg x=\"{:.3f}%\" width=\"{:.3f}%\" height=\"100%\"><rect class=\"c-{}\" width=\"100%\" "
        "height=\"100%\"><title>{}: {}, {} of the step ({} ns)</title></rect>",
        x * 100, share * 100, to_string(c), class_label(c),
        escaped(duration_text(static_cast<double>(times[c]))), percent, times[c]);
    if (share >= kLabelledShare) {
      std::string name;
      if (share >= kNamedShare)
        name = fmt::format("<tspan class=\"name{}\">{} </tspan>",
                           share >= kNamedOnPhonesShare ? "" : " narrow", class_label(c));
      out += fmt::format("<text class=\"on-{}{}\" x=\"8\" y=\"50%\" dy=\".35em\">{}{}</text>",
                         to_string(c), share >= kPhoneShare ? "" : " phone", name, percent);
    }
    out += "</svg>";
    x += share;
  }
  return out + "</svg>";
}

std::string timeline_svg(const Timeline& timeline, std::string_view title) {
  if (timeline.duration <= 0 || timeline.slices.empty()) return {};
  const double scale = kWidth / static_cast<double>(timeline.duration);
  const std::vector<size_t> rows = longest_slices(timeline.slices, kMaxSlices);
  const Lanes lanes = assign_lanes(timeline, rows);
  std::string body;
  double y = 0;
  for (size_t track = 0; track < timeline.tracks.size(); ++track) {
    body += fmt::format("<text class=\"track\" x=\"0\" y=\"{:.1f}\">{}</text>", y + 12,
                        escaped(timeline.tracks[track]));
    y += kLabelHeight;
    for (size_t i = 0; i < rows.size(); ++i) {
      const Slice& slice = timeline.slices[rows[i]];
      if (slice.track == track) body += slice_svg(slice, y + lanes.lane[i] * kRowHeight, scale);
    }
    y += lanes.lanes_of_track[track] * kRowHeight + 3;
  }
  if (!timeline.classes.empty()) {
    body += fmt::format("<text class=\"track\" x=\"0\" y=\"{:.1f}\">class of each instant</text>",
                        y + 12);
    y += kLabelHeight;
    body += class_strip_svg(timeline, y, scale);
    y += 12;
  }
  body += axis_svg(static_cast<double>(timeline.duration), y, scale);
  return fmt::format(
      "<svg class=\"mini\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\">{}</svg>",
      kWidth, y + kAxisHeight, escaped(title), body);
}

}  // namespace stallscope
