#include "collect/cupti_search.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#include "collect/text.h"

namespace stallscope::collect {
namespace {

constexpr size_t kLongestPath = 1024;
constexpr int kMostFolders = 8;

/// What the loaded libraries tell.
struct Loaded {
  char cupti[kLongestPath] = "";
  char folders[kMostFolders][kLongestPath] = {};  ///< of CUDA's libraries
  int folder_count = 0;
};
Loaded g_loaded;  // too large for the stack of a thread that initialises CUDA

bool starts_with(const char* text, const char* prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool is_cuda_library(const char* name) {
  for (const char* prefix : {"libcudart", "libcublas", "libcudnn", "libnvrtc", "libcusparse",
                             "libcusolver", "libcufft", "libnvJitLink"})
    if (starts_with(name, prefix)) return true;
  return false;
}

int look_at(dl_phdr_info* info, size_t, void*) {
  const char* const path = info->dlpi_name;
  const char* const slash = path == nullptr ? nullptr : strrchr(path, '/');
  if (slash == nullptr || strlen(path) >= kLongestPath) return 0;
  // Also under a name of its own, as LibTorch's archives have it: libcupti-89d3ca3b.so.12
  if (starts_with(slash + 1, "libcupti")) {
    memcpy(g_loaded.cupti, path, strlen(path) + 1);
    return 1;
  }
  if (!is_cuda_library(slash + 1) || g_loaded.folder_count == kMostFolders) return 0;
  char* const folder = g_loaded.folders[g_loaded.folder_count++];
  memcpy(folder, path, static_cast<size_t>(slash - path));
  folder[slash - path] = '\0';
  return 0;
}

void* open_library(const char* folder, const char* way, int version) {
  char path[kLongestPath];
  TextBuilder text(path, sizeof path);
  text.add(folder).add(way).add("libcupti.so.").add_number(version);
  return text.overflowed() ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/// As cuDriverGetVersion tells it, 12040 say; 0 when there is no driver to ask.
int driver_version() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return 0;
  using GetVersion = int (*)(int*);
  const auto get = reinterpret_cast<GetVersion>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  if (get == nullptr || get(&version) != 0) version = 0;
  dlclose(driver);
  return version;
}

bool is_of_12() {
  if (void* const runtime = dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD)) {
    dlclose(runtime);
    return true;
  }
  const int driver = driver_version();
  return driver >= 12000 && driver < 13000;
}

void* open_version(int version) {
  for (int i = 0; i < g_loaded.folder_count; ++i)
    for (const char* way : {"/", "/../../cuda_cupti/lib/", "/../extras/CUPTI/lib64/"})
      if (void* handle = open_library(g_loaded.folders[i], way, version)) return handle;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* const toolkit = getenv(variable);
    if (toolkit == nullptr || *toolkit == '\0') continue;
    for (const char* way : {"/extras/CUPTI/lib64/", "/lib64/"})
      if (void* handle = open_library(toolkit, way, version)) return handle;
  }
  if (void* handle = open_library("", "", version)) return handle;
  char toolkit[64];
  TextBuilder(toolkit, sizeof toolkit).add("/usr/local/cuda-").add_number(version);
  for (const char* folder : {static_cast<const char*>(toolkit), "/usr/local/cuda"})
    if (void* handle = open_library(folder, "/extras/CUPTI/lib64/", version)) return handle;
  return nullptr;
}

}  // namespace

void* open_cupti() {
  if (const char* given = getenv("STALLSCOPE_CUPTI"); given != nullptr && *given != '\0')
    return dlopen(given, RTLD_NOW | RTLD_LOCAL);
  dl_iterate_phdr(look_at, nullptr);
  if (g_loaded.cupti[0] != '\0')
    if (void* handle = dlopen(g_loaded.cupti, RTLD_NOW | RTLD_NOLOAD)) return handle;
  const bool of_12 = is_of_12();
  for (const int version : {of_12 ? 12 : 13, of_12 ? 13 : 12})
    if (void* handle = open_version(version)) return handle;
  return nullptr;
}

}  // namespace stallscope::collect
