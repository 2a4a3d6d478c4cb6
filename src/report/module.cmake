# The version and the commit that reports name. The commit is read at configure
# time; the reflog changes with every commit and so triggers a new configuration.
set(STALLSCOPE_COMMIT "")
if(EXISTS "${CMAKE_SOURCE_DIR}/.git")
  find_package(Git QUIET)
  if(GIT_FOUND)
    execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse --short=12 HEAD
      WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE STALLSCOPE_COMMIT
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(EXISTS "${CMAKE_SOURCE_DIR}/.git/logs/HEAD")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/.git/logs/HEAD")
  endif()
endif()
set_source_files_properties("${CMAKE_SOURCE_DIR}/src/report/tool_info.cpp" PROPERTIES
  COMPILE_DEFINITIONS "STALLSCOPE_VERSION=\"${PROJECT_VERSION}\";STALLSCOPE_COMMIT=\"${STALLSCOPE_COMMIT}\"")
