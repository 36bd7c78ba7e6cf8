# SPDX-License-Identifier: MIT
# cmake -D PROGRAM=<command> -D FOLDER=<folder> -D PAGES=<name=what,...> -P generate_manual.cmake
# Writes what the program prints for --generate <what> to <folder>/<name>, for each page.
file(MAKE_DIRECTORY ${FOLDER})
string(REPLACE "," ";" pages "${PAGES}")
string(REPLACE "," ";" program "${PROGRAM}")
foreach(page ${pages})
  string(REPLACE "=" ";" page ${page})
  list(GET page 0 name)
  list(GET page 1 what)
  execute_process(COMMAND ${program} --generate ${what} OUTPUT_FILE ${FOLDER}/${name}
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
