# A relocatable tree: bin/stallscope finds lib/stallscope and share/stallscope
# beside itself.
if(TARGET stallscope)
  install(TARGETS stallscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
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
