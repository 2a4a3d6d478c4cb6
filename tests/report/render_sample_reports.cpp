// render_sample_reports DIR: writes every sample report in every format to DIR/SAMPLE/.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "report/report.h"
#include "report/sample_report.h"

using namespace stallscope;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: render_sample_reports DIR\n");
    return 2;
  }
  const std::pair<const char*, Report> samples[] = {{"full", sample::full()},
                                                    {"abstaining", sample::abstaining()},
                                                    {"clean", sample::clean()},
                                                    {"empty", sample::empty()},
                                                    {"many-ranks", sample::many_ranks(1000)}};
  for (const auto& [name, report] : samples) {
    const std::filesystem::path folder = std::filesystem::path(argv[1]) / name;
    std::filesystem::create_directories(folder);
    for (const Format& format : formats()) {
      const Result<std::string> text = format.render(report);
      if (!text) {
        std::fprintf(stderr, "%s as %s: %s\n", name, std::string(format.name).c_str(),
                     text.error().to_string().c_str());
        return 1;
      }
      const std::string file = format.file_name.empty() ? "report." + std::string(format.name)
                                                        : std::string(format.file_name);
      std::ofstream(folder / file, std::ios::binary) << *text;
    }
  }
}
