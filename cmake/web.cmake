# SPDX-License-Identifier: MIT
# What the web leaves out: files, threads, libraries that are not headers, and whatever writes models. The
# patterns are sources below src/.
set(INGOT_LEFT_OUT
  "io/(a|e|f|i|j|l|m|o|p|r|st).*"
  "model/open/(held_files|load_path|open_descriptor)\\.cpp"
  "model/(write|edit)/.*" "tokenizer/token_stream\\.cpp"
  "codec/(best|encode|feedback)/.*" "codec/statistics/(lane|group).*" "codec/quantize_exactly\\.cpp"
  "work/.*" "estimate/(nvidia_cards|this_machine)\\.cpp" "capi/.*"
  "digest/.*" "split/.*" "lora/.*" "compare/.*" "formats/.*"
  "quantization/(choose_offers|error_sums|kept_part|moment_store|q|result_writer|sensitivity|type_budget|work_memory).*"
  "check/(block_scan|data_scan|repair|repair_input)\\.cpp")

# The rows of architectures as texts without what is for readers and for the forward pass alone: comments, and
# the words of `pass`. They are 5 kB of the package.
file(GLOB rows CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/architectures/rows/*.def)
set(INGOT_SHORT_ROWS ${PROJECT_BINARY_DIR}/rows)
foreach(row ${rows})
  file(READ ${row} text)
  string(REGEX REPLACE "\n *(# |pass )[^\n]*" "" text "${text}")
  cmake_path(GET row FILENAME name)
  file(CONFIGURE OUTPUT ${INGOT_SHORT_ROWS}/architectures/rows/${name} CONTENT "${text}" @ONLY)
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${rows})
