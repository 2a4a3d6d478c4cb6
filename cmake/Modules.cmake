set_property(GLOBAL PROPERTY STALLSCOPE_MODULES "")

# stallscope_precompile(TARGET [HEADER...]): precompile what most files of TARGET include, and these
# headers: reading the standard library's is a third of the time that a small file takes.
function(stallscope_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <cstdint> <filesystem> <functional>
    <map> <memory> <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <vector>
    <fmt/format.h> ${ARGN})
  # GCC 12 forgets that these are a system's, and reports false positives within them.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
endfunction()

option(STALLSCOPE_UNITY "Compile several files of a module as one: a first build is much shorter" ON)

# stallscope_unity(TARGET): names in the unnamed namespaces of such a target's files differ, as several
# files are compiled as one. Most of a file's time goes into what it includes and instantiates.
function(stallscope_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${STALLSCOPE_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# stallscope_doctest_program(TARGET): a program of unit tests. What it tests is optimised, it is not:
# that takes a third of the time off building it. The thread sanitizer makes up for that when it runs.
function(stallscope_doctest_program target)
  target_link_libraries(${target} PRIVATE stallscope_doctest)
  if(NOT STALLSCOPE_SANITIZE STREQUAL "thread")
    target_compile_options(${target} PRIVATE -O0)
  endif()
  stallscope_precompile(${target} <doctest/doctest.h>)
endfunction()

# stallscope_module(NAME): the object library of src/NAME and its folders. Objects, not an
# archive: importers, formats and subcommands register themselves through static
# objects, which a linker would drop from an archive.
function(stallscope_module name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_library(stallscope_${name} OBJECT ${sources})
  target_include_directories(stallscope_${name} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(stallscope_${name} PRIVATE stallscope_flags PUBLIC stallscope_deps)
  stallscope_precompile(stallscope_${name})
  if(EXISTS "${CMAKE_SOURCE_DIR}/src/${name}/module.cmake")
    include("${CMAKE_SOURCE_DIR}/src/${name}/module.cmake")
  endif()
  set_property(GLOBAL APPEND PROPERTY STALLSCOPE_MODULES stallscope_${name})
endfunction()

# stallscope_use_core(TARGET): link every module of the analyser into TARGET.
function(stallscope_use_core target)
  get_property(modules GLOBAL PROPERTY STALLSCOPE_MODULES)
  target_link_libraries(${target} PRIVATE stallscope_flags stallscope_deps ${modules})
endfunction()
