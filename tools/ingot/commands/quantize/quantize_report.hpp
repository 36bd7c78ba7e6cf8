// SPDX-License-Identifier: MIT
// What `ingot quantize` says about a plan and its result: for people, as JSON, as a page.
#pragma once

#include <ingot/quantize_model.hpp>
#include <span>
#include <string>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"

namespace ingot::cli {

struct QuantizeFacts {
  std::string file;
  std::string out;   ///< Empty if nothing is written.
  std::string type;  ///< The recipe, or "4.5 bits per weight".
  const Model& model;
  const QuantizePlan& plan;
  std::uint64_t file_bytes = 0;  ///< The bytes of all shards of the result.
  /// The errors of the tensors of the plan from `first_tensor` on; empty before the work.
  std::span<const TensorError> errors = {};
  std::size_t first_tensor = 0;
};

void write_quantize_json(JsonStream& json, const QuantizeFacts& facts);

/// Every tensor: from, to, size, reason.
void print_plan(Console& console, const QuantizeFacts& facts);

/// Totals, and the tensors with the largest relative error.
void print_result(Console& console, const QuantizeFacts& facts);

/// A line for each of several results.
void print_results(Console& console, std::span<const QuantizeFacts> results);

/// The files of a result, whose names may be made by the program, and their bytes together.
void print_written(Console& console, std::span<const QuantizedShard> files,
                   std::uint64_t file_bytes);

/// How types were chosen for a target, and how near to the best choice that comes; nothing where
/// there is no target.
void print_target(Console& console, const QuantizePlan& plan, const QuantizeModelOptions& options);

/// Writes the facts to a file: a page if its name ends in .html or .htm, else JSON.
[[nodiscard]] Result<void> write_quantize_report(const std::string& path,
                                                 const QuantizeFacts& facts, bool replace);

}  // namespace ingot::cli
