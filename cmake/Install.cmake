# What runs a pool, and nothing else: the target `programs` builds it, the component `skerry` installs it. `./dev install
# DIR` is both. An installation needs no checkout: the launcher finds lib/skerry-v8-host beside its own bin/.
set(SKERRY_PROGRAMS skerry skerry-broker skerry-worker skerry-init)
if(TARGET skerry-cell)  # none under TSan
  list(APPEND SKERRY_PROGRAMS skerry-cell)
endif()
add_custom_target(programs DEPENDS ${SKERRY_PROGRAMS})

install(TARGETS ${SKERRY_PROGRAMS} RUNTIME DESTINATION bin COMPONENT skerry)
if(TARGET skerry-cell_so)
  install(TARGETS skerry-cell_so LIBRARY DESTINATION lib COMPONENT skerry)
  file(REAL_PATH ${SKERRY_V8_HOST_BINARY} host_binary)  # a symbolic link would be installed as one
  install(PROGRAMS ${host_binary} DESTINATION lib RENAME skerry-v8-host COMPONENT skerry)
  install(FILES ${SKERRY_V8_HOST_LICENCE} DESTINATION share/skerry RENAME skerry-v8-host.LICENSE COMPONENT skerry OPTIONAL)
endif()

install(FILES ops/skerry.toml ops/tenants.toml ops/prometheus/alerts.yml ops/prometheus/scrape.yml DESTINATION share/skerry COMPONENT skerry)
# The units name the folder that they are installed into; in the tree it is the usual one.
install(CODE "set(units \"${PROJECT_SOURCE_DIR}/ops/systemd\")" COMPONENT skerry)
install(CODE [[
  foreach(unit skerry-broker.service skerry-worker.service)
    file(READ "${units}/${unit}" text)
    string(REPLACE "/opt/skerry/" "${CMAKE_INSTALL_PREFIX}/" text "${text}")
    set(installed "${CMAKE_INSTALL_PREFIX}/share/skerry/systemd/${unit}")
    message(STATUS "Installing: ${installed}")
    file(WRITE "$ENV{DESTDIR}${installed}" "${text}")
  endforeach()
]] COMPONENT skerry)
