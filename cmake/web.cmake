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
