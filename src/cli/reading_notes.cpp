#include "cli/reading_notes.h"

#include <algorithm>

namespace stallscope {

std::vector<std::string> reading_notes(const SourceAnalysis& source, double least) {
  std::vector<std::string> out = source.project.notes;
  out.insert(out.end(), source.index.notes().begin(), source.index.notes().end());
  for (const auto& read : source.index.files()) {
    const FileFacts& file = *read;
    if (!std::ranges::binary_search(source.project.chosen, file.path)) continue;
    if (!file.note.empty()) {
      out.push_back(file.path + ": " + file.note);
    } else if (file.readable < least) {
      out.push_back(file.path + ": " + std::to_string(static_cast<int>(100 * file.readable)) +
                    " % of it could be parsed");
    }
  }
  return out;
}

Status expect_named_notebooks(const SourceAnalysis& source) {
  for (const auto& file : source.index.files()) {
    const bool named =
        std::ranges::find(source.project.named, file->path) != source.project.named.end();
    if (named && file->broken)
      return Error{.message = file->note,
                   .file = file->path,
                   .remedy = "Restore the file, or leave it out with --exclude."};
  }
  return ok_status();
}

}  // namespace stallscope
