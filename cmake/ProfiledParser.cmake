# One object, the Python parser, that GCC optimised for what parsing does: the sources
# are built with counters, run over this repository's own Python, and built again with
# what was counted, as one program, in one folder, since GCC finds counts by the names of
# its outputs. A fifth less time for the whole of a cold lint (scripts/bench/lint.sh).
#
#   profiled_parser_object(OUT_VARIABLE SOURCES... FLAGS...)
function(profiled_parser_object out)
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

  set(use ${flags} -fprofile-use -flto)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    # What GCC takes for a generic processor clears a parser's small nodes by `rep stos`, whose
    # start costs more than the clearing. This says how to order instructions, not which exist.
    list(APPEND use -mtune=skylake)
  endif()
  set(objects "")
  foreach(source counted IN ZIP_LISTS arg_SOURCES counts)
    # Named without its folder, as the counts were: GCC tells static functions apart by that.
    string(REGEX REPLACE "gcda$" "o" object "${counted}")
    get_filename_component(output "${object}" NAME)
    add_custom_command(OUTPUT "${object}"
      COMMAND "${CMAKE_C_COMPILER}" ${use} -c -o "${output}" "${source}"
      DEPENDS "${source}" ${headers} "${counted}"
      WORKING_DIRECTORY "${folder}" VERBATIM)
    list(APPEND objects "${object}")
  endforeach()
  set(whole "${folder}/parser.o")
  add_custom_command(OUTPUT "${whole}"
    COMMAND "${CMAKE_C_COMPILER}" ${use} -r -flto-partition=one -flinker-output=nolto-rel -o "${whole}" ${objects}
    DEPENDS ${objects} WORKING_DIRECTORY "${folder}" VERBATIM)
  set(${out} "${whole}" PARENT_SCOPE)
endfunction()
