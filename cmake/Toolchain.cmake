# Language level, warnings, sanitizers, linker and cache: the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_C_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")

# One place for every program, so that build/release/stallscope is the tool.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

add_library(stallscope_flags INTERFACE)
target_compile_options(stallscope_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -fno-omit-frame-pointer
  # Designated initialisers name the fields that matter; the others have defaults.
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 to 14 report false positives inside std::string (GCC bug 105651).
  target_compile_options(stallscope_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # libstdc++ 12 uses what it deprecates itself inside std::stable_sort.
  target_compile_options(stallscope_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(STALLSCOPE_WERROR)
  target_compile_options(stallscope_flags INTERFACE -Werror)
endif()
if(STALLSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${STALLSCOPE_SANITIZE} -g1)
  add_link_options(-fsanitize=${STALLSCOPE_SANITIZE})
  if(STALLSCOPE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports false positives of these under sanitizer instrumentation.
    add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endif()

if(STALLSCOPE_FUZZ)
  # Coverage of every module guides the fuzzers, not only that of their own file.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(STALLSCOPE_MOLD mold)
if(STALLSCOPE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
find_program(STALLSCOPE_CCACHE ccache)
if(STALLSCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Sloppy as its manual asks for where headers are precompiled.
  set(CMAKE_C_COMPILER_LAUNCHER "${STALLSCOPE_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros "${STALLSCOPE_CCACHE}")
endif()

# Libraries of ours that a user's program links are libraries in its stacks, as
# the system's are: without the path of the machine that built them.
# (A compiler cache may hand the compiler paths relative to the build folder.)
add_library(stallscope_library_paths INTERFACE)
file(RELATIVE_PATH stallscope_relative_src "${CMAKE_BINARY_DIR}" "${CMAKE_SOURCE_DIR}/src")
target_compile_options(stallscope_library_paths INTERFACE
  "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/src=/usr/lib/stallscope/src"
  "-ffile-prefix-map=${stallscope_relative_src}=/usr/lib/stallscope/src")
