// A small HTTP server for a few known files, on the loopback interface only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stallscope {

struct ServedFile {
  std::string path;  ///< "/report.html"
  std::string file;
  std::string content_type;
};

struct ServeOptions {
  uint16_t port = 9001;        ///< 0 = any free one
  std::string allowed_origin;  ///< may read the files from a page of its own
  std::function<void(uint16_t port)> ready;
};

/// Answers GET and HEAD for exactly `files` until SIGINT or SIGTERM. Requests
/// for another host name are refused, so that no web page can reach it by a
/// name of its own.
Status serve(const std::vector<ServedFile>& files, const ServeOptions& options);

}  // namespace stallscope
