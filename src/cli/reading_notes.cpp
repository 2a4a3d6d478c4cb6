#include "cli/reading_notes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace stallscope {
namespace {

constexpr char kNoNotebook[] = "is no notebook: it has no list of cells in valid JSON";

/// Whether a file is called a notebook and is none, as after half a download.
bool is_broken_notebook(const SourceInput& input, const FileFacts& facts) {
  if (!input.path.ends_with(".ipynb") || !facts.note.empty() || !facts.lines_of_cells.empty())
    return false;
  const auto text =
      input.on_disk.empty() ? Result<std::string>(input.bytes) : read_file(input.on_disk);
  if (!text) return false;
  const auto parsed = nlohmann::json::parse(*text, nullptr, false);
  return !parsed.is_object() || !parsed.contains("cells") || !parsed["cells"].is_array();
}

}  // namespace

std::vector<std::string> reading_notes(const SourceAnalysis& source, double least) {
  std::vector<std::string> out = source.project.notes;
  out.insert(out.end(), source.index.notes().begin(), source.index.notes().end());
  const auto& files = source.index.files();
  for (size_t f = 0; f < files.size(); ++f) {
    const FileFacts& file = *files[f];
    if (!std::ranges::binary_search(source.project.chosen, file.path)) continue;
    if (!file.note.empty()) out.push_back(file.path + ": " + file.note);
    if (is_broken_notebook(source.project.inputs[f], file))
      out.push_back(file.path + ": " + kNoNotebook);
    if (file.readable < least) {
      out.push_back(file.path + ": " + std::to_string(static_cast<int>(100 * file.readable)) +
                    " % of it could be parsed");
    }
  }
  return out;
}

Status expect_named_notebooks(const SourceAnalysis& source) {
  const auto& files = source.index.files();
  for (size_t f = 0; f < files.size(); ++f) {
    const bool named =
        std::ranges::find(source.project.named, files[f]->path) != source.project.named.end();
    if (named && is_broken_notebook(source.project.inputs[f], *files[f]))
      return Error{.message = kNoNotebook,
                   .file = files[f]->path,
                   .remedy = "Restore the file, or leave it out with --exclude."};
  }
  return ok_status();
}

}  // namespace stallscope
