// SPDX-License-Identifier: MIT
// `ingot quantize`, from its arguments to its result.
#pragma once

#include <ingot/quantize_model.hpp>
#include <ingot/split.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

/// The arguments, as they were given.
struct QuantizeRequest {
  std::string file;
  std::string out;
  std::string named_out;           ///< OUT as an option; then all words after IN are types.
  std::vector<std::string> types;  ///< Words after OUT: one TYPE, or all of several.
  std::vector<std::string> to;     ///< More TYPEs.
  std::string to_dir;              ///< The folder for results of all TYPEs.
  std::vector<std::string> imatrix_files;
  std::vector<std::string> include_weights;
  std::vector<std::string> exclude_weights;
  std::vector<std::string> tensor_types;
  std::string tensor_type_file;
  std::string output_type;
  std::string embedding_type;
  std::vector<std::string> overrides;
  std::string target_bits;
  std::string target_size;
  std::string sensitivity;
  std::string report;
  std::string shard;
  SplitLimits limits;              ///< Limits of the files of each result.
  std::optional<std::string> pre;  ///< The pre-tokenizer of a model folder.
  QuantizeModelOptions settings;   ///< What needs no parsing.
  bool has_no_feedback = false;
  bool is_plan = false;
  bool is_forced = false;
  bool is_silent = false;               ///< Prints no results and no plan.
  std::vector<QuantizedShard> written;  ///< The files of the results or the plan; set by the run.
  std::uint64_t written_bytes = 0;      ///< Their size; set by the run.
};

/// Settles which argument is which, then plans, and works unless a plan was all that was wanted.
ExitCode run_quantize(QuantizeRequest& options, Console& console);

}  // namespace ingot::cli
