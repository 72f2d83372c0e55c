# skerry_add_test(NAME LABELS l... SOURCES s... LIBRARIES l...): a GoogleTest executable whose tests ctest runs one by one.
# Labels: unit (pure, no processes), stack (through broker and worker), redis (with a redis-server), hostile, timing (idle machine), arrows.
#
# One label each: gtest_discover_tests writes a script in which a list of them falls apart into properties and values.
#
# Every test made here, and every V8 test, is a part's own; the target part_tests builds them all. That is what runs under
# sanitizers; whole stacks of instrumented processes would take hours (tests/CMakeLists.txt leaves them out).
include(GoogleTest)
if(BUILD_TESTING)
  add_custom_target(part_tests)
endif()

# What tests are made of is compiled quickly rather than to run quickly: half of what a build takes is theirs.
function(skerry_compile_as_test target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
endfunction()

function(skerry_add_test name)
  cmake_parse_arguments(ARG "" "" "LABELS;SOURCES;LIBRARIES" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  skerry_compile_as_test(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 120)
  add_dependencies(part_tests ${name})
endfunction()
