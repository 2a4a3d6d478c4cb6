# A relocatable tree: bin/stallscope finds lib/stallscope and share/stallscope
# beside itself.
if(TARGET stallscope)
  set(privateLibraries "${CMAKE_INSTALL_LIBDIR}/stallscope")
  # The libraries that the tool is linked with go along, so that the tree also runs on a machine or a
  # distribution without them. Those of the compiler and of the C library stay behind: a newer
  # system's are newer, and a program must not have two of them.
  set_target_properties(stallscope PROPERTIES INSTALL_RPATH "\$ORIGIN/../${privateLibraries}")
  install(TARGETS stallscope RUNTIME_DEPENDENCY_SET dependencies RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(RUNTIME_DEPENDENCY_SET dependencies
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc[+][+])[.]so"
    LIBRARY DESTINATION "${privateLibraries}")
endif()
install(DIRECTORY rules/ DESTINATION ${CMAKE_INSTALL_DATADIR}/stallscope/rules)
install(DIRECTORY reports/ DESTINATION ${CMAKE_INSTALL_DATADIR}/stallscope/reports
  PATTERN "examples" EXCLUDE)
# Line tables are for this project's own debugging and are most of the programs' size.
# (Libraries that go into other programs keep theirs: stacks name their lines.)
if(CMAKE_STRIP)
  install(CODE "
    foreach(program stallscope stallscope-trainer)
      set(path \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\${program}\")
      if(EXISTS \"\${path}\")
        execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug \"\${path}\")
      endif()
    endforeach()")
endif()
if(TARGET stallscope)
  # The rules' documentation is made from their files by the tool as it was installed.
  install(CODE "
    execute_process(COMMAND \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/stallscope\"
        rules docs \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/stallscope/docs\"
      RESULT_VARIABLE docs_failed)
    if(docs_failed)
      message(WARNING \"the documentation of the rules was not written\")
    endif()")
endif()
