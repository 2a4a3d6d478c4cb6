# A relocatable tree: bin/stallscope finds lib/stallscope and share/stallscope
# beside itself.
if(TARGET stallscope)
  install(TARGETS stallscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY rules/ DESTINATION ${CMAKE_INSTALL_DATADIR}/stallscope/rules)
install(DIRECTORY reports/ DESTINATION ${CMAKE_INSTALL_DATADIR}/stallscope/reports
  PATTERN "examples" EXCLUDE)
