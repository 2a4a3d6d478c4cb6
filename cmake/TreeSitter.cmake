# The tree-sitter runtime and the grammars of Python and CUDA (a superset of
# C++), from the sources scripts/setup.sh fetched. Generated C: built without
# warnings and always optimised, so that a debug or sanitizer build stays usable.
foreach(file tree-sitter/src/lib.c tree-sitter-python/scanner.c tree-sitter-cuda/scanner.c)
  if(NOT EXISTS "${STALLSCOPE_DEPS_DIR}/${file}")
    message(FATAL_ERROR "${file} is missing from deps/: run scripts/setup.sh first")
  endif()
endforeach()
set(parser_sources
  "${STALLSCOPE_DEPS_DIR}/tree-sitter/src/lib.c"
  "${CMAKE_SOURCE_DIR}/src/source/syntax/syntax_nodes.c"
  "${STALLSCOPE_DEPS_DIR}/tree-sitter-python/parser.c"
  "${STALLSCOPE_DEPS_DIR}/tree-sitter-python/scanner.c")
# Nothing outside may replace its functions, so they can be inlined.
# -fno-strict-aliasing: its array.h casts between arrays of different types.
set(parser_flags -w -O3 -g0 -fno-strict-aliasing -fno-semantic-interposition -fvisibility=hidden
  -include "${CMAKE_SOURCE_DIR}/src/source/syntax/parse_memory.h")
set(parser_folders "${STALLSCOPE_DEPS_DIR}/tree-sitter/src" "${CMAKE_SOURCE_DIR}/src")
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 11 AND
   CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CROSSCOMPILING)
  include(ProfiledParser)
  list(TRANSFORM parser_folders PREPEND "-I" OUTPUT_VARIABLE parser_includes)
  profiled_parser_object(parser_sources SOURCES ${parser_sources}
    FLAGS ${parser_flags} ${parser_includes} -isystem "${STALLSCOPE_DEPS_DIR}/tree-sitter/include")
endif()
add_library(stallscope_tree_sitter STATIC ${parser_sources}
  "${STALLSCOPE_DEPS_DIR}/tree-sitter-cuda/parser.c"
  "${STALLSCOPE_DEPS_DIR}/tree-sitter-cuda/scanner.c")
target_include_directories(stallscope_tree_sitter SYSTEM PUBLIC
  "${STALLSCOPE_DEPS_DIR}/tree-sitter/include")
target_include_directories(stallscope_tree_sitter PRIVATE ${parser_folders})
target_compile_options(stallscope_tree_sitter PRIVATE ${parser_flags} -fno-sanitize=all)
