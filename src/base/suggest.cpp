#include "base/suggest.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace stallscope {
namespace {

constexpr size_t kLongestWord = 64;  // keeps hostile input from costing quadratic time

// Optimal string alignment distance.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({change, previous[j] + 1, current[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > kLongestWord) return {};
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::string_view nearest;
  const std::string meant = lower(word);
  for (const std::string_view candidate : known) {
    if (candidate.size() > kLongestWord) continue;
    const size_t d = distance(meant, lower(candidate));
    if (d < best) {
      best = d;
      nearest = candidate;
    }
  }
  return std::string(nearest);
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? std::string() : ", did you mean '" + nearest + "'?";
}

}  // namespace stallscope
