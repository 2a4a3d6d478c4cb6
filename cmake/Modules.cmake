set_property(GLOBAL PROPERTY STALLSCOPE_MODULES "")

# What most files include: reading it takes as long as a small file's own code.
set(STALLSCOPE_COMMON_HEADERS <algorithm> <array> <cstdint> <filesystem> <functional> <map> <memory>
  <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <vector> <fmt/format.h>)

# stallscope_precompile(TARGET [HEADER...]): precompile the common headers and these for TARGET.
function(stallscope_precompile target)
  target_precompile_headers(${target} PRIVATE ${STALLSCOPE_COMMON_HEADERS} ${ARGN})
  stallscope_trust_headers(${target})
endfunction()

# stallscope_share_precompiled(TARGET OWNER): use what OWNER precompiles, as a compiler can where its
# options are the same (definitions that no header asks for may differ).
function(stallscope_share_precompiled target owner)
  target_precompile_headers(${target} REUSE_FROM ${owner})
  stallscope_trust_headers(${target})
endfunction()

# GCC 12 forgets that precompiled headers are a system's, and reports false positives within them.
function(stallscope_trust_headers target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
endfunction()

# stallscope_headers(NAME [HEADER...]): an owner for stallscope_share_precompiled().
function(stallscope_headers name)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/${name}.cpp" CONTENT "")
  add_library(${name} OBJECT "${CMAKE_BINARY_DIR}/generated/${name}.cpp")
  target_link_libraries(${name} PRIVATE stallscope_flags fmt::fmt)
  stallscope_precompile(${name} ${ARGN})
endfunction()
stallscope_headers(stallscope_common_headers)

option(STALLSCOPE_UNITY "Compile several files of a module as one: a first build is much shorter" ON)

# stallscope_unity(TARGET): names in the unnamed namespaces of such a target's files differ, as several
# files are compiled as one. Most of a file's time goes into what it includes and instantiates.
function(stallscope_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${STALLSCOPE_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# stallscope_doctest_program(TARGET): a program of unit tests.
function(stallscope_doctest_program target)
  target_link_libraries(${target} PRIVATE stallscope_doctest)
  stallscope_test_options(${target})
  stallscope_share_precompiled(${target} stallscope_test_headers)
endfunction()

# stallscope_test_options(TARGET): what is tested is optimised, a test is not: that takes a third of
# the time off building it. The thread sanitizer makes up for that when it runs.
function(stallscope_test_options target)
  if(NOT STALLSCOPE_SANITIZE STREQUAL "thread")
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# stallscope_module_options(TARGET): how the objects of a module are compiled.
function(stallscope_module_options target)
  target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(${target} PRIVATE stallscope_flags PUBLIC stallscope_deps)
  stallscope_share_precompiled(${target} stallscope_common_headers)
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
  stallscope_module_options(stallscope_${name})
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
