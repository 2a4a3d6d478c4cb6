#include "rule/build_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>

#include "rule/rank_findings.h"
#include "rule/wording.h"
#include "source/facts/vocabulary.h"

namespace stallscope {
namespace {

// Units by the ends of field names, as observation_kinds() spells them.
std::string unit_of(const std::string& field) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kUnits = {
      {{"_ns", "ns"},
       {"bytes_per_step", "bytes"},
       {"bytes", "bytes"},
       {"per_step", "per step"},
       {"fraction", "fraction"},
       {"share", "fraction"}}};
  for (const auto& [ending, unit] : kUnits)
    if (std::string_view(field).ends_with(ending)) return std::string(unit);
  return {};
}

std::optional<double> threshold_of(const TraceCondition* condition, const std::string& field) {
  if (condition == nullptr) return std::nullopt;
  std::vector<const Condition*> comparisons;
  collect_comparisons(condition->where, comparisons);
  for (const Condition* c : comparisons)
    if (c->field == field && c->comparison.op <= Comparison::Op::not_equal)
      return c->comparison.low;
  return std::nullopt;
}

// What a finding is about, for the title of one that has no line to be known by.
std::string about(const Observation& o) {
  const auto several = o.texts.find("late_ranks");
  if (several != o.texts.end())
    return "ranks " + short_name(several->second) + " in " + short_name(o.subject);
  if (o.kind == "collective-wait")
    return "rank " + std::to_string(o.rank) + " in " + short_name(o.subject);
  if (o.kind == "collective" || o.kind == "collective-burst") {
    const auto group = o.texts.find("group");
    const bool named = group != o.texts.end() && !group->second.empty();
    return o.subject + (named ? " of group " + short_name(group->second) : "");
  }
  if (o.kind == "node") return {};  // there is but one of a process
  for (const char* field : {"host_function", "range", "operator", "name"})
    if (const auto it = o.texts.find(field); it != o.texts.end() && !it->second.empty())
      return short_name(it->second);
  return short_name(o.subject);
}

/// The claims of one rank: what they cost together and which block is the worst.
struct RankPart {
  const RankSummary* rank = nullptr;
  std::vector<const Claim*> claims;
  std::vector<Price> prices;
  std::optional<Price> total;
  uint32_t worst = 0;  ///< index of the dearest observation
  Ns one_time = 0;
};

double weight(const Observation& o) {
  const auto duration = o.numbers.find("duration_ns");
  return o.idle_ns.total + o.blocked_ns.total + static_cast<double>(o.one_time_ns) +
         (duration == o.numbers.end() ? 0 : duration->second);
}

/// Counted calls over trees, where a block has them, speak for the samples of the same line.
std::vector<uint32_t> speakers(const Block& block, std::span<const Seen> seen) {
  const auto counted = [&](uint32_t i) { return seen[i].observation->numbers.contains("leaves"); };
  std::vector<uint32_t> left(block.begin(), block.end());
  if (std::ranges::any_of(left, counted))
    std::erase_if(left, [&](uint32_t i) {
      return !counted(i) && seen[i].observation->kind == "python-hot-function";
    });
  return left;
}

/// The lines that a fact is about beside its own.
void add_lines(Finding& f, const SourceFact& fact) {
  for (const SourceLine& line : fact.also) {
    Place place{
        .file = line.file, .line = line.line, .function = line.function, .language = line.language};
    if (std::ranges::find(f.locations, place) == f.locations.end())
      f.locations.push_back(std::move(place));
  }
}

class Builder {
 public:
  Builder(const Rule& rule, std::span<const Seen> seen, std::span<const SourceFact> facts,
          const RankSummary* slowest)
      : rule_(rule), seen_(seen), facts_(facts), slowest_(slowest) {}

  Finding build(std::span<const Claim* const> claims) {
    const std::vector<RankPart> parts = by_rank(claims);
    const RankPart& worst = *std::ranges::max_element(parts, {}, [](const RankPart& part) {
      return std::pair(part.total ? part.total->range.mid : -1,
                       part.total ? part.total->range.high : -1);
    });
    const Claim& claim = *worst.claims.front();
    Finding f;
    f.rule_id = rule_.id;
    f.title = rule_.title;
    f.advice = rule_.advice;
    f.fix = rule_.fix;
    f.status = FindingStatus::measured;
    add_places(f, claims);
    const Observation& o = *seen_[worst.worst].observation;
    f.subject = o.subject;
    // Two findings of one rule must be told apart by their titles.
    if (const std::string what = about(o);
        !what.empty() && (rule_.fallback || f.locations.empty() || o.kind == "collective-wait"))
      f.title += ": " + what;
    f.cause = o.cause;
    f.stack = o.stack;
    if (const auto line = o.texts.find("library_line"); line != o.texts.end())
      f.library_line = line->second;
    const Totals totals = totals_of(worst);
    f.message = describe(o, step_ns(worst)) + describe_all(totals, o, step_ns(worst));
    if (!claim.candidates.empty())
      f.message +=
          claim.is_made_there ? " Its loader may be made at " + lines_of(claim.candidates) + "."
          : claim.fact
              ? " The trace names the function, not the line: it is the only such line there."
              : " The trace names the function, not the line: " + lines_of(claim.candidates) +
                    " may be it.";
    add_evidence(f, worst, totals, o, claim.condition);
    for (const Claim* c : claims) {
      for (const std::string& id : c->related)
        if (std::ranges::find(f.related, id) == f.related.end()) f.related.push_back(id);
    }
    std::ranges::sort(f.related);
    add_ranks(f, parts);
    add_exemplars(f, worst);
    add_gain(f, worst);
    return f;
  }

 private:
  static Ns step_ns(const RankPart& part) {
    return part.rank == nullptr ? 0 : mean_step(*part.rank);
  }

  std::vector<RankPart> by_rank(std::span<const Claim* const> claims) const {
    std::vector<RankPart> parts;
    for (const Claim* claim : claims) {
      const RankSummary* rank = seen_[claim->block.front()].rank;
      auto part = std::ranges::find(parts, rank, &RankPart::rank);
      if (part == parts.end()) {
        part = parts.emplace(parts.end());
        part->rank = rank;
        part->worst = speakers(claim->block, seen_).front();
      }
      part->claims.push_back(claim);
      std::optional<Price> block_price;
      Ns block_one_time = 0;
      const bool adds_up = seen_[claim->block.front()].observation->kind == "repeated-kernels";
      for (const uint32_t i : speakers(claim->block, seen_)) {
        // Of the collectives of a line, those that the rule is about set the price.
        const std::string& kind = seen_[i].observation->kind;
        if (is_collective_kind(kind) && claim->condition != nullptr &&
            kind != claim->condition->kind)
          continue;
        if (weight(*seen_[i].observation) > weight(*seen_[part->worst].observation))
          part->worst = i;
        // What is seen of one line in several ways is one time.
        block_one_time = std::max(block_one_time, seen_[i].observation->one_time_ns);
        // Observations of one host block describe the same time: the dearest counts.
        const auto price = price_of(rule_, seen_[i]);
        if (price && adds_up) part->prices.push_back(*price);
        if (price && !adds_up && (!block_price || price->range.mid > block_price->range.mid))
          block_price = price;
      }
      part->one_time += block_one_time;
      if (block_price) part->prices.push_back(*block_price);
    }
    for (RankPart& part : parts)
      // Without a used step there is nothing that a price could be a part of.
      if (part.rank != nullptr && part.rank->step_median > 0 && !part.prices.empty())
        part.total = add_prices(part.prices, *part.rank);
    return parts;
  }

  void add_places(Finding& f, std::span<const Claim* const> claims) const {
    for (const Claim* claim : claims) {
      const Place place = place_of(*claim, seen_, facts_);
      const bool known = std::ranges::any_of(f.locations, [&](const Place& p) {
        return p.file == place.file && p.line == place.line;
      });
      if (place.known() && !known) f.locations.push_back(place);
      if (!claim->fact) {
        for (const uint32_t fact : claim->candidates)
          if (const Place other = place_of(facts_[fact]);
              std::ranges::find(f.locations, other) == f.locations.end())
            f.locations.push_back(other);
        continue;
      }
      const SourceFact& fact = facts_[*claim->fact];
      f.confidence = fact.certainty == Certainty::proven   ? "proven"
                     : fact.certainty == Certainty::likely ? "likely"
                                                           : "unknown";
      f.context_chain = fact.context_chain;
      add_lines(f, fact);
    }
  }

  // "line 12", "lines 12 and 14", "lines 12, 14 and 15"; of which file the locations say.
  std::string lines_of(const std::vector<uint32_t>& matches) const {
    std::set<uint32_t> lines;
    for (const uint32_t fact : matches) lines.insert(facts_[fact].first_line);
    std::string out = lines.size() == 1 ? "line " : "lines ";
    for (auto it = lines.begin(); it != lines.end(); ++it)
      out += (it == lines.begin()            ? ""
              : std::next(it) == lines.end() ? " and "
                                             : ", ") +
             std::to_string(*it);
    return out;
  }

  static void put(Finding& f, std::string name, double value, std::string unit,
                  std::optional<double> threshold) {
    const auto same = [&](const Evidence& e) { return e.name == name; };
    if (std::ranges::any_of(f.evidence, same)) return;
    f.evidence.push_back({std::move(name), value, std::move(unit), threshold});
  }

  Totals totals_of(const RankPart& part) const {
    Totals totals;
    for (const Claim* claim : part.claims) {
      Totals block;  // observations of one block describe the same time
      for (const uint32_t i : speakers(claim->block, seen_)) {
        const Observation& each = *seen_[i].observation;
        block.count = std::max(block.count, each.count.per_step());
        block.blocked_ns = std::max(block.blocked_ns, each.blocked_ns.per_step());
        block.idle_ns = std::max(block.idle_ns, each.idle_ns.per_step());
      }
      totals.count += block.count;
      totals.blocked_ns += block.blocked_ns;
      totals.idle_ns += block.idle_ns;
    }
    return totals;
  }

  // Totals over the rank's observations, then what the condition compared, then the rest.
  void add_evidence(Finding& f, const RankPart& part, const Totals& totals, const Observation& o,
                    const TraceCondition* condition) const {
    const auto put_total = [&](const char* name, double value, const char* unit,
                               const char* field) {
      if (value > 0) put(f, name, value, unit, threshold_of(condition, field));
    };
    put_total("occurrences", totals.count, "per step", "per_step");
    put_total("host blocked", totals.blocked_ns, "ns", "blocked_ns");
    put_total("device idle", totals.idle_ns, "ns", "idle_ns");
    if (o.count.total > 0 && o.count.steps_affected < o.count.steps)
      put(f, "steps affected", o.count.steps_affected, "steps", std::nullopt);
    if (part.one_time > 0)
      put(f, "once, before the first steady step", static_cast<double>(part.one_time), "ns",
          threshold_of(condition, "one_time_ns"));
    add_compared(f, o, part, condition);
    constexpr double kNone = -1;  // of what is counted: nobody counts it there
    for (const auto& [name, value] : o.numbers) {
      const std::string unit = unit_of(name);
      if (!name.starts_with("replay_") && !(unit.empty() && value == kNone))
        put(f, name, value, unit, std::nullopt);
    }
  }

  static void add_compared(Finding& f, const Observation& o, const RankPart& part,
                           const TraceCondition* condition) {
    if (condition == nullptr) return;
    std::vector<const Condition*> comparisons;
    collect_comparisons(condition->where, comparisons);
    const ObservationView view{.observation = &o, .step_ns = step_ns(part)};
    for (const Condition* c : comparisons) {
      if (c->field == "per_step" || c->field == "blocked_ns" || c->field == "idle_ns" ||
          c->field == "one_time_ns")
        continue;
      if (const auto value = field_value(view, c->field).number)
        put(f, c->field, *value, unit_of(c->field), threshold_of(condition, c->field));
    }
  }

  static void add_named(const Observation& o, std::set<int32_t>& ranks) {
    const auto several = o.texts.find("late_ranks");
    if (several == o.texts.end()) {
      ranks.insert(o.rank);
      return;
    }
    std::istringstream numbers(several->second);
    for (std::string number; std::getline(numbers, number, ',');)
      ranks.insert(static_cast<int32_t>(std::strtol(number.c_str(), nullptr, 10)));
  }

  void add_ranks(Finding& f, const std::vector<RankPart>& parts) const {
    std::set<int32_t> ranks;
    for (const RankPart& part : parts) {
      for (const Claim* claim : part.claims) {
        // What only several ranks show is about the one that it names.
        const std::string kind = claim->condition == nullptr ? "" : claim->condition->kind;
        const bool of_all = kind == "straggler" || kind == "collective-wait" || kind == "slow-link";
        if (!of_all && part.rank != nullptr && part.rank->rank >= 0) ranks.insert(part.rank->rank);
        if (!of_all) continue;
        for (const uint32_t i : claim->block)
          if (seen_[i].observation->kind == kind) add_named(*seen_[i].observation, ranks);
      }
    }
    f.ranks.assign(ranks.begin(), ranks.end());
  }

  void add_exemplars(Finding& f, const RankPart& part) const {
    const auto take = [&](const Observation& o) {
      for (const Timeline& timeline : o.exemplars)
        if (f.exemplars.size() < kMaxExemplars) f.exemplars.push_back(timeline);
    };
    take(*seen_[part.worst].observation);
    for (const Claim* claim : part.claims)
      for (const uint32_t i : claim->block)
        if (i != part.worst) take(*seen_[i].observation);
  }

  void add_gain(Finding& f, const RankPart& part) const {
    const Ns step = slowest_ == nullptr ? 0 : mean_step(*slowest_);
    const bool once = part.one_time > 0 && rule_.startup && rule_.gain != GainModel::none;
    std::optional<double> fraction;
    if (part.total || once) {
      Gain gain;
      if (part.total) {
        gain.step_time = part.total->range;
        gain.method = gain_method(rule_.gain, *part.total);
        const std::string& kind = seen_[part.worst].observation->kind;
        gain.spread = kind == "node" || kind == "straggler";
        // Replayed within 5 % of the measured step: what the best published simulators reach.
        gain.confidence = !part.total->replay_error || part.total->at_most ? "low"
                          : *part.total->replay_error <= 0.05              ? "high"
                                                                           : "medium";
        if (step > 0)
          gain.fraction = fraction =
              static_cast<double>(part.total->range.mid) / static_cast<double>(step);
      }
      if (once) {
        gain.one_time = static_cast<Ns>(static_cast<double>(part.one_time) * rule_.gain_share);
        if (gain.method.empty()) {
          gain.method = "time spent once before the first steady step";
          gain.confidence = "medium";
        }
      }
      f.gain = gain;
    }
    f.severity = measured_severity(rule_.severity, fraction,
                                   f.gain ? f.gain->one_time : std::optional<Ns>());
    // With no step time to set it against, how much it matters is unknown.
    if (step == 0 && !fraction) f.severity = std::min(f.severity, Severity::medium);
  }

  const Rule& rule_;
  std::span<const Seen> seen_;
  std::span<const SourceFact> facts_;
  const RankSummary* slowest_;
};

}  // namespace

Place place_of(const SourceFact& fact) {
  return {.file = fact.file,
          .line = fact.first_line,
          .column = fact.column,
          .function = fact.function,
          .language = fact.language};
}

Place place_of(const Claim& claim, std::span<const Seen> seen, std::span<const SourceFact> facts) {
  if (claim.fact) return place_of(facts[*claim.fact]);
  return seen[claim.block.front()].observation->place;
}

Finding measured_finding(const Rule& rule, std::span<const Claim* const> claims,
                         std::span<const Seen> seen, std::span<const SourceFact> facts,
                         const RankSummary* slowest) {
  return Builder(rule, seen, facts, slowest).build(claims);
}

Finding unmeasured_finding(const Rule& rule, const SourceFact& fact) {
  Finding f;
  f.rule_id = rule.id;
  f.title = rule.title;
  f.severity = rule.severity;
  f.advice = rule.advice;
  f.fix = rule.fix;
  f.locations = {place_of(fact)};
  f.confidence = fact.certainty == Certainty::proven   ? "proven"
                 : fact.certainty == Certainty::likely ? "likely"
                                                       : "unknown";
  f.context_chain = fact.context_chain;
  const int lowered = static_cast<int>(f.severity) - static_cast<int>(fact.lowered);
  f.severity = static_cast<Severity>(std::max(lowered, 0));
  f.severity = std::min(f.severity, rule.unmeasured);
  // Once per evaluation batch still stalls, but no training step does. And where nobody is seen to
  // call it nor what it reads is known, or the rule says little of what the step only calls, that
  // is too little to fail a run for. In C++ nothing of what nobody calls is enough: of such
  // findings that readers judged, more than half were none.
  constexpr std::array<std::string_view, 8> kTooLittle = {
      "evaluation-only", "behind-calls", "for-environment", kOptionOff, kNoDevice,
      kUnreached,        kSpare,         kGenerates};
  const bool too_little = std::ranges::any_of(fact.guards, [&](std::string_view guard) {
    return std::ranges::find(kTooLittle, guard) != kTooLittle.end() ||
           (guard == "no-visible-caller" &&
            (fact.certainty != Certainty::proven || fact.language != "python"));
  });
  if (too_little || fact.weak) f.severity = std::min(f.severity, Severity::low);
  f.related = fact.related;
  add_lines(f, fact);
  f.message = rule.title + ".";
  if (fact.context != "library" && !fact.context.empty()) {
    const bool vowel =
        std::string_view("aeiou").find(fact.context.front()) != std::string_view::npos;
    f.message = (vowel ? "In an " : "In a ") + fact.context + " context: " + f.message;
  }
  const auto lowered_for = [&](std::string reason, std::string_view word) {
    if (std::ranges::find(f.lowered_because, reason) != f.lowered_because.end()) return;
    f.message += fmt::format(" Lowered: {} ({}).", reason, word);
    f.lowered_because.push_back(std::move(reason));
  };
  for (const std::string& guard : fact.guards)
    lowered_for(std::string(meaning_of_guard(guard)), guard);
  if (fact.weak)
    lowered_for("whether it costs depends on what the source does not show: a run tells", "weak");
  if (fact.breaks_graph) f.message += " It also breaks the compiled graph here.";
  return f;
}

}  // namespace stallscope
