# The libraries that others link, and what `cmake --install` installs.
#
#   assent::assent   everything but processes: guards, gate, memory and SQLite store, models, file tools, agent
#   assent::shell    the shell tool and its process supervisor
#   assent::models   models of services, over curl
#   assent::postgres the PostgreSQL store, over libpq
#
# Each is made of the objects of rooms; a room that does not exist yet is left out. The program is the
# target `assent-program` (its file is called `assent`), the helper that supervises processes `assent-exec`.
include(CMakePackageConfigHelpers)

set(ASSENT_ROOMS base policy journal gate store store_memory store_sqlite model files tools_work tools agent workspace_agent)
set(ASSENT_SHELL_ROOMS exec shell_work shell)
set(ASSENT_MODELS_ROOMS net model_services)
set(ASSENT_POSTGRES_ROOMS postgres)

# assent_library(NAME EXPORT_NAME ROOMS…): a library of the objects of the rooms that exist, exported
# as assent::EXPORT_NAME. Not defined when none exists.
function(assent_library name export_name)
  set(objects)
  set(libraries)
  foreach(room IN LISTS ARGN)
    if(TARGET assent_room_${room})
      list(APPEND objects $<TARGET_OBJECTS:assent_room_${room}>)
      get_target_property(more assent_room_${room} ASSENT_LIBRARIES)
      if(more)
        list(APPEND libraries ${more})
      endif()
    endif()
  endforeach()
  if(NOT objects)
    return()
  endif()
  list(REMOVE_DUPLICATES libraries)
  add_library(${name} ${objects})
  add_library(assent::${export_name} ALIAS ${name})
  target_link_libraries(${name} PRIVATE ${libraries})
  target_compile_features(${name} INTERFACE cxx_std_20)
  set_target_properties(${name} PROPERTIES
    LINKER_LANGUAGE CXX
    EXPORT_NAME ${export_name}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

assent_library(assent assent ${ASSENT_ROOMS})
assent_library(assent_shell shell ${ASSENT_SHELL_ROOMS})
assent_library(assent_models models ${ASSENT_MODELS_ROOMS})
assent_library(assent_postgres postgres ${ASSENT_POSTGRES_ROOMS})

file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/assent/*.hpp)
target_sources(assent PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
set(libraries assent)
foreach(part IN ITEMS assent_shell assent_models assent_postgres)
  if(TARGET ${part})
    target_link_libraries(${part} PUBLIC assent)
    list(APPEND libraries ${part})
  endif()
endforeach()

install(TARGETS ${libraries} EXPORT assentTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/assent)
install(EXPORT assentTargets NAMESPACE assent:: DESTINATION ${package_dir})
set(ASSENT_IS_STATIC NO)
if(NOT BUILD_SHARED_LIBS)
  set(ASSENT_IS_STATIC YES)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/assentConfig.cmake.in
  ${PROJECT_BINARY_DIR}/assentConfig.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/assentConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/assentConfig.cmake ${PROJECT_BINARY_DIR}/assentConfigVersion.cmake
  DESTINATION ${package_dir})

# For builds that are no CMake: pkg-config assent. It finds its prefix from where it lies.
list(TRANSFORM libraries PREPEND "-l" OUTPUT_VARIABLE flags)
list(REVERSE flags)
list(JOIN flags " " ASSENT_PC_LIBS)
set(ASSENT_PC_REQUIRES)
if(NOT BUILD_SHARED_LIBS)
  # What a static library leaves to whoever links it.
  set(ASSENT_PC_REQUIRES "libcrypto sqlite3 icu-uc icu-i18n libcurl libpq")
  string(APPEND ASSENT_PC_LIBS " -lboost_json -pthread")
endif()
string(REGEX REPLACE "[^/]+" ".." up "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(ASSENT_PC_PREFIX "\${pcfiledir}/${up}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/assent.pc.in ${PROJECT_BINARY_DIR}/assent.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/assent.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET assent-program)
  install(TARGETS assent-program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET assent-exec)
  install(TARGETS assent-exec RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/assent)
endif()
