#include "import/importer.h"

#include <algorithm>

namespace stallscope {
namespace {

std::vector<Importer>& registry() {
  static std::vector<Importer> importers;
  return importers;
}

}  // namespace

RegisterImporter::RegisterImporter(const Importer& importer) {
  registry().push_back(importer);
}

std::vector<Importer> importers() {
  std::vector<Importer> sorted = registry();
  std::ranges::sort(sorted, {}, &Importer::name);
  return sorted;
}

}  // namespace stallscope
