# skerry_add_test(NAME LABELS l... SOURCES s... LIBRARIES l...): a GoogleTest executable whose tests ctest runs one by one.
# Labels: unit (pure, no processes), stack (through broker and worker), hostile, timing (idle machine), arrows.
#
# Every test made here, and every V8 test, is a part's own: it has the label `part` as well, and the target part_tests
# builds them all. That is what runs under sanitizers; whole stacks of instrumented processes would take hours.
include(GoogleTest)
if(BUILD_TESTING)
  add_custom_target(part_tests)
endif()

function(skerry_add_test name)
  cmake_parse_arguments(ARG "" "" "LABELS;SOURCES;LIBRARIES" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${ARG_LABELS};part" TIMEOUT 120)
  add_dependencies(part_tests ${name})
endfunction()
