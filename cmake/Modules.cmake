# stallscope_module(NAME): the object library of src/NAME. Objects, not an
# archive: importers, formats and subcommands register themselves through static
# objects, which a linker would drop from an archive.
set_property(GLOBAL PROPERTY STALLSCOPE_MODULES "")

function(stallscope_module name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${name}/*.cpp")
  if(NOT sources)
    return()
  endif()
  add_library(stallscope_${name} OBJECT ${sources})
  target_include_directories(stallscope_${name} PUBLIC "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(stallscope_${name} PRIVATE stallscope_flags PUBLIC stallscope_deps)
  if(EXISTS "${CMAKE_SOURCE_DIR}/src/${name}/module.cmake")
    include("${CMAKE_SOURCE_DIR}/src/${name}/module.cmake")
  endif()
  set_property(GLOBAL APPEND PROPERTY STALLSCOPE_MODULES stallscope_${name})
endfunction()

# stallscope_use_core(TARGET): link every module of the analyser into TARGET.
function(stallscope_use_core target)
  get_property(modules GLOBAL PROPERTY STALLSCOPE_MODULES)
  target_link_libraries(${target} PRIVATE stallscope_flags stallscope_deps ${modules})
endfunction()
