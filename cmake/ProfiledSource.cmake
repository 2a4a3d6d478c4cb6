# The analysis of source as GCC optimises it for what a lint does: built with counters into
# cmake/train_lint.cpp, which lints this repository's own samples, cases and tests, and built
# again with what was counted. A twentieth less time for the whole of a cold lint
# (scripts/bench/lint.sh).
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11 OR
   NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR CMAKE_CROSSCOMPILING OR STALLSCOPE_SANITIZE)
  return()
endif()
option(STALLSCOPE_PROFILED "Optimise lint for what it was counted to do: builds src/source twice" ON)
if(NOT STALLSCOPE_PROFILED)
  return()
endif()

set(folder "${CMAKE_BINARY_DIR}/profiled-source")
file(MAKE_DIRECTORY "${folder}")
# GCC finds counts by the names of auxiliary files: the same for both builds of a file.
set(counts -dumpdir "${folder}/")

get_target_property(sources stallscope_source SOURCES)
add_library(stallscope_counted_source OBJECT EXCLUDE_FROM_ALL ${sources})
stallscope_module_options(stallscope_counted_source)
stallscope_source_options(stallscope_counted_source)
target_compile_options(stallscope_counted_source PRIVATE
  ${counts} -fprofile-generate -fprofile-update=prefer-atomic)

add_executable(stallscope_train_lint EXCLUDE_FROM_ALL "${CMAKE_SOURCE_DIR}/cmake/train_lint.cpp"
  "${CMAKE_SOURCE_DIR}/src/cli/source_analysis.cpp")
get_property(modules GLOBAL PROPERTY STALLSCOPE_MODULES)
list(TRANSFORM modules REPLACE "^stallscope_source$" stallscope_counted_source)
target_link_libraries(stallscope_train_lint PRIVATE stallscope_flags stallscope_deps ${modules})
target_link_options(stallscope_train_lint PRIVATE -fprofile-generate)

add_custom_command(OUTPUT "${folder}/counted"
  COMMAND "${CMAKE_COMMAND}" -E rm -rf "${folder}"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
  COMMAND stallscope_train_lint samples rules/cases tests
  COMMAND "${CMAKE_COMMAND}" -E touch "${folder}/counted"
  DEPENDS stallscope_train_lint
  WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" COMMENT "Counting what a lint does" VERBATIM)
add_custom_target(stallscope_counts DEPENDS "${folder}/counted")
add_dependencies(stallscope_source stallscope_counts)
# What changed since it was counted, and what no sample reaches, is optimised as ever.
target_compile_options(stallscope_source PRIVATE ${counts} -fprofile-use -fprofile-partial-training
  -Wno-missing-profile -Wno-coverage-mismatch)
