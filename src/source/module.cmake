# stallscope_source_options(TARGET): of this module's objects, and of those that count (cmake/ProfiledSource.cmake).
function(stallscope_source_options target)
  stallscope_unity(${target})
  # Its functions are called millions of times per second: let them be inlined.
  target_compile_options(${target} PRIVATE -fno-semantic-interposition)
  target_link_libraries(${target} PRIVATE stallscope_tree_sitter)
endfunction()
stallscope_source_options(stallscope_source)
# Its interface has a type of the file's own.
set_source_files_properties("${CMAKE_SOURCE_DIR}/src/source/clang/worker.cpp" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# Cached facts of another build of the analysis must not be read.
file(GLOB_RECURSE analysis_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/source/*.cpp" "${CMAKE_SOURCE_DIR}/src/source/*.h")
set(analysis_hashes "")
foreach(analysis_source ${analysis_sources})
  file(SHA1 "${analysis_source}" analysis_hash)
  string(APPEND analysis_hashes "${analysis_hash}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${analysis_source}")
endforeach()
string(SHA1 analysis_build_id "${analysis_hashes}")
set_source_files_properties("${CMAKE_SOURCE_DIR}/src/source/extract/cache.cpp" PROPERTIES
  COMPILE_DEFINITIONS "STALLSCOPE_BUILD_ID=\"${analysis_build_id}\"")
