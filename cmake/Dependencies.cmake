# Libraries come from the system's packages; sources that no distribution
# carries are fetched by scripts/setup.sh into deps/ (pinned by hash, ignored by git).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(libdw REQUIRED IMPORTED_TARGET libdw)

set(STALLSCOPE_DEPS_DIR "${CMAKE_SOURCE_DIR}/deps" CACHE PATH "Sources fetched by scripts/setup.sh")
if(NOT EXISTS "${STALLSCOPE_DEPS_DIR}/nvtx/nvtx3/nvToolsExt.h")
  message(FATAL_ERROR "NVTX headers are missing: run scripts/setup.sh first")
endif()
add_library(stallscope_nvtx INTERFACE)
target_include_directories(stallscope_nvtx SYSTEM INTERFACE "${STALLSCOPE_DEPS_DIR}/nvtx")

add_library(stallscope_deps INTERFACE)
target_link_libraries(stallscope_deps INTERFACE
  fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB Threads::Threads
  PkgConfig::simdjson PkgConfig::yaml PkgConfig::sqlite3 PkgConfig::zstd PkgConfig::libdw
  ${CMAKE_DL_LIBS})
