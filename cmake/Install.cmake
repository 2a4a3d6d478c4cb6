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
