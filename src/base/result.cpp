#include "base/result.h"

namespace stallscope {

std::string Error::to_string() const {
  std::string text;
  if (!file.empty()) {
    text += file;
    if (line != 0) text += ":" + std::to_string(line);
    if (line != 0 && column != 0) text += ":" + std::to_string(column);
    if (line == 0 && offset != 0) text += ": byte " + std::to_string(offset);
    text += ": ";
  }
  text += message;
  if (!remedy.empty()) text += " (" + remedy + ")";
  return text;
}

}  // namespace stallscope
