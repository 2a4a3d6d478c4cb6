stallscope_unity(stallscope_report)
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

# The page's parts are embedded, so that the program alone can write a report.
# Each becomes a constant with its SHA-256, which the page's security policy names.
set(assets_header "${CMAKE_BINARY_DIR}/generated/report_assets.h")
set(assets
  TemplateHtml "${CMAKE_SOURCE_DIR}/reports/template.html"
  StyleCss "${CMAKE_SOURCE_DIR}/reports/style.css"
  AppJs "${CMAKE_SOURCE_DIR}/reports/app.js"
  TimelineJs "${CMAKE_SOURCE_DIR}/reports/timeline.js"
  SeriesJs "${CMAKE_SOURCE_DIR}/reports/series.js"
  UplotJs "${STALLSCOPE_DEPS_DIR}/uplot/uPlot.iife.min.js"
  UplotCss "${STALLSCOPE_DEPS_DIR}/uplot/uPlot.min.css")
set(asset_files ${assets})
list(FILTER asset_files INCLUDE REGEX "/")
add_custom_command(OUTPUT "${assets_header}"
  COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${assets_header}" "-DASSETS=${assets}"
    -P "${CMAKE_SOURCE_DIR}/cmake/EmbedAssets.cmake"
  DEPENDS ${asset_files} "${CMAKE_SOURCE_DIR}/cmake/EmbedAssets.cmake"
  COMMENT "Embedding the report's page" VERBATIM)
target_sources(stallscope_report PRIVATE "${assets_header}")
target_include_directories(stallscope_report PRIVATE "${CMAKE_BINARY_DIR}/generated")
