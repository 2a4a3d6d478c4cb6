// Whatever bytes are given as a project's settings: settings, or an error that
// says what is wrong. The first byte chooses whose reader reads the rest.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/pyproject.h"
#include "rule/baseline.h"
#include "rule/config.h"
#include "source/extract/settings.h"

namespace {

using namespace stallscope;

/// A folder of this process's own, gone with it.
class Folder {
 public:
  Folder()
      : path_(std::string(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") +
              "/stallscope-fuzz-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code gone;
    std::filesystem::remove_all(path_, gone);
  }
  std::string file(const char* name, std::string_view text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::string path_;
};

/// How many inputs were accepted, told at the end: none would mean that nothing was tried.
struct Tally {
  unsigned long long inputs = 0, accepted = 0;
  ~Tally() { std::fprintf(stderr, "tally: %llu of %llu inputs were accepted\n", accepted, inputs); }
} tally;

template <typename T>
void judge(const Result<T>& result) {
  if (!result && result.error().message.empty()) __builtin_trap();
  tally.accepted += result ? 1 : 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  if (size == 0) return 0;
  ++tally.inputs;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      judge(load_config(folder.file("stallscope.yml", text)));
      break;
    case 1:
      judge(pyproject_settings(text, "pyproject.toml"));
      judge(load_config(folder.file("pyproject.toml", text)));
      break;
    case 2:
      judge(load_baseline(folder.file("baseline.json", text)));
      break;
    default: {
      static constexpr const char* kNames[] = {"ds_config.json", "config/train.yaml", "train.sh"};
      uint32_t line = 1;
      for (const Setting& setting : settings_of(kNames[data[0] % 3], text)) {
        if (setting.first_byte > setting.last_byte || setting.last_byte > text.size())
          __builtin_trap();
        if (setting.line < line) __builtin_trap();
        line = setting.line;
      }
      ++tally.accepted;
    }
  }
  return 0;
}
