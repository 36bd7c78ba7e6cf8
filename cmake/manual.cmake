# SPDX-License-Identifier: MIT
# The manual and the completions, printed by the program itself as soon as it is built: so what is
# installed needs no other target.
function(ingot_install_manual)
  # A program for another machine cannot say anything here.
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    return()
  endif()
  file(STRINGS ${PROJECT_SOURCE_DIR}/tools/ingot/commands.def rows REGEX "^INGOT_COMMAND\\(")
  set(pages ingot.1=man)
  foreach(row ${rows})
    string(REGEX REPLACE "INGOT_COMMAND\\((.*)\\)" "\\1" command ${row})
    string(REPLACE "_" "-" command ${command})
    list(APPEND pages ingot-${command}.1=man:${command})
  endforeach()
  set(from ${PROJECT_BINARY_DIR}/manual)
  foreach(page ${pages})
    string(REGEX REPLACE "=.*" "" name ${page})
    install(FILES ${from}/${name} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  endforeach()
  list(APPEND pages ingot.bash=bash _ingot=zsh ingot.fish=fish)
  list(JOIN pages "," page_list)
  set(program $<TARGET_FILE:ingot_program>)
  if(CMAKE_CROSSCOMPILING)
    list(PREPEND program ${CMAKE_CROSSCOMPILING_EMULATOR})
    list(JOIN program "," program)
  endif()
  add_custom_command(TARGET ingot_program POST_BUILD
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=${program} -D FOLDER=${from} -D PAGES=${page_list}
            -P ${PROJECT_SOURCE_DIR}/cmake/generate_manual.cmake
    VERBATIM)
  set(to ${CMAKE_INSTALL_DATADIR})
  install(FILES ${from}/ingot.bash DESTINATION ${to}/bash-completion/completions RENAME ingot
          COMPONENT program)
  install(FILES ${from}/_ingot DESTINATION ${to}/zsh/vendor-completions COMPONENT program)
  install(FILES ${from}/ingot.fish DESTINATION ${to}/fish/vendor_completions.d COMPONENT program)
endfunction()
