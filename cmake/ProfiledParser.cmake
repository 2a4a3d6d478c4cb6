# Objects of the Python parser that GCC optimised for what parsing does: the sources
# are built with counters, run over this repository's own Python, and built again with
# what was counted, in one folder, since GCC finds counts by the names of its outputs.
# A seventh less time for the whole of a cold lint (scripts/bench/lint.sh).
#
#   profiled_parser_objects(OUT_VARIABLE SOURCES... FLAGS...)
function(profiled_parser_objects out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;FLAGS")
  set(folder "${CMAKE_BINARY_DIR}/profiled-parser")
  file(MAKE_DIRECTORY "${folder}")
  file(GLOB_RECURSE texts "${CMAKE_SOURCE_DIR}/samples/*.py" "${CMAKE_SOURCE_DIR}/rules/cases/*.py"
    "${CMAKE_SOURCE_DIR}/tests/*.py")
  set(main "${CMAKE_SOURCE_DIR}/cmake/train_parser.c")
  set(headers "${CMAKE_SOURCE_DIR}/src/source/syntax/parse_memory.h" "${CMAKE_SOURCE_DIR}/src/source/syntax/syntax_nodes.h")
  separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_RELEASE} -std=gnu11 -fPIC")
  list(APPEND flags ${arg_FLAGS})

  # "train -o" names the counts train-lib.gcda, and so on, after each source.
  set(counts "")
  foreach(source ${arg_SOURCES})
    get_filename_component(name "${source}" NAME_WE)
    list(APPEND counts "${folder}/train-${name}.gcda")
  endforeach()
  add_custom_command(OUTPUT ${counts}
    COMMAND "${CMAKE_COMMAND}" -E rm -f ${counts}
    COMMAND "${CMAKE_C_COMPILER}" ${flags} -fprofile-generate -o train ${arg_SOURCES} "${main}"
    COMMAND ./train ${texts}
    DEPENDS ${arg_SOURCES} ${headers} "${main}"
    WORKING_DIRECTORY "${folder}" COMMENT "Counting what parsing does" VERBATIM)

  set(objects "")
  foreach(source counted IN ZIP_LISTS arg_SOURCES counts)
    string(REGEX REPLACE "gcda$" "o" object "${counted}")
    # Named without its folder, as the counts were: GCC tells static functions apart by that.
    get_filename_component(output "${object}" NAME)
    add_custom_command(OUTPUT "${object}"
      COMMAND "${CMAKE_C_COMPILER}" ${flags} -fprofile-use -c -o "${output}" "${source}"
      DEPENDS "${source}" ${headers} "${counted}"
      WORKING_DIRECTORY "${folder}" VERBATIM)
    list(APPEND objects "${object}")
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
