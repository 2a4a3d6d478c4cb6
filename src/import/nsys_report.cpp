// Importer: reports of Nsight Systems before their export. Their format is not
// public, so nsys itself is asked to export them when it is installed.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/shell.h"
#include "base/temporary_folder.h"
#include "import/importer.h"
#include "import/nsys_builder.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

// The formats carry no magic bytes that could be relied on: the name is all there is.
bool is_report(const std::string& path) {
  return path.ends_with(".nsys-rep") || path.ends_with(".qdrep");
}
bool is_stream(const std::string& path) {
  return path.ends_with(".qdstrm");
}

int sniff_nsys_report(const ImportSource& source) {
  return !source.is_directory && (is_report(source.path) || is_stream(source.path)) ? 50 : 0;
}

std::string find_on_path(std::string_view program) {
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? std::string_view{} : std::string_view(path);
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    const std::string candidate = std::string(folder) + "/" + std::string(program);
    if (!folder.empty() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

// Runs a program with its output on our error stream; its exit code, or -1.
int run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return -1;
  if (child == 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output is for data
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

Result<Trace> read_nsys_report(const ImportSource& source, const ImportOptions& options) {
  const std::string& path = source.path;
  if (is_stream(path)) {
    return Error{.message = "is an unfinished Nsight Systems stream, not a report",
                 .file = path,
                 .remedy = "convert it with: QdstrmImporter --input-file " + shell_quoted(path) +
                           " and then: nsys export --type sqlite REPORT.nsys-rep"};
  }
  const std::string output = path.substr(0, path.rfind('.')) + ".sqlite";
  const std::string remedy = "export it with: nsys export --type sqlite --output " +
                             shell_quoted(output) + " " + shell_quoted(path);
  const std::string nsys = find_on_path("nsys");
  if (nsys.empty())
    return Error{.message = "is an Nsight Systems report, and nsys is not on the PATH to export it",
                 .file = path,
                 .remedy = remedy};
  const TemporaryFolder scratch("nsys");
  if (scratch.path().empty())
    return Error{
        .message = "no temporary folder to export it into", .file = path, .remedy = remedy};
  const std::string exported = scratch.path() + "/report.sqlite";
  // A name that begins with a dash would be taken for an option.
  const std::string input = fs::absolute(path).string();
  const int code = run({nsys, "export", "--type", "sqlite", "--output", exported, input});
  if (code != 0)
    return Error{.message = "nsys export failed with exit code " + std::to_string(code),
                 .file = path,
                 .remedy = remedy};
  Result<Trace> trace = read_nsys_sqlite(exported, options);
  if (!trace) {
    Error error = trace.error();
    error.file = path;
    return error;
  }
  return trace;
}

const RegisterImporter kNsysReportImporter(
    {.name = "nsys-report",
     .description = "Nsight Systems report (exported by nsys, which "
                    "must be on the PATH)",
     .sniff = sniff_nsys_report,
     .read = read_nsys_report});

}  // namespace
}  // namespace stallscope
