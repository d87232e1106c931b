# A room is a folder below src/ and an object library `assent_room_NAME` of the same name. ROOMS repeats
# what tools/rooms.txt allows it to include; the lint holds the code to that file.
function(assent_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
  set(target "assent_room_${name}")
  add_library(${target} OBJECT ${ROOM_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM ROOM_ROOMS PREPEND "assent_room_")
  # Between object libraries only requirements are inherited; the objects themselves are linked by
  # whoever makes a library or a program of them.
  target_link_libraries(${target} PUBLIC ${ROOM_ROOMS})
  target_link_libraries(${target} PUBLIC ${ROOM_LIBRARIES} PRIVATE $<BUILD_INTERFACE:assent_warnings>)
  # What a library made of these objects must link; see AssentInstall.
  set_property(TARGET ${target} PROPERTY ASSENT_LIBRARIES ${ROOM_LIBRARIES})
  if(ASSENT_TEST_POINTS)
    target_compile_definitions(${target} PUBLIC ASSENT_TEST_POINTS)
  endif()
endfunction()

# Links the objects of the named rooms into a target.
function(assent_link_rooms target)
  foreach(room IN LISTS ARGN)
    target_link_libraries(${target} PRIVATE assent_room_${room})
  endforeach()
endfunction()
