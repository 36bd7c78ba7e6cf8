// SPDX-License-Identifier: MIT
// The options of `ingot fit` as they are typed, and what they mean.
#pragma once

#include <cstdint>
#include <ingot/estimate.hpp>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace ingot::cli {

struct FitArguments {
  std::vector<std::string> files;
  std::vector<std::string> devices;
  std::optional<std::string> host;
  std::optional<std::string> context;
  std::optional<std::string> gpu_layers;
  std::optional<std::string> tensor_split;
  std::optional<std::string> bandwidth;
  std::optional<std::string> host_bandwidth;
  std::optional<std::string> contexts;  ///< The contexts of the grid.
  std::optional<std::string> types;     ///< The types of the grid.
  std::vector<std::string> companions;
  std::optional<std::string> image_size;
  std::optional<std::string> audio_seconds;
  bool keeps_experts_on_host = false;
  bool no_mmap = false;
  bool no_repack = false;
  bool no_kv_offload = false;
  bool wants_longest_context = false;
  bool wants_table = false;
  bool for_llama_cpp = false;
  bool lists_devices = false;
  RunOptions run;  ///< The options that need no parsing.
};

/// Declares all options and arguments.
void add_fit_arguments(CLI::App& command, FitArguments& arguments);

/// The run that the arguments describe, or the fault in one of them.
[[nodiscard]] Result<RunOptions> run_options_of(const FitArguments& arguments);

/// A tensor type as the engine writes it, and as --cache-type-k takes it: "q8_0".
[[nodiscard]] std::string engine_word(TensorType type);

/// "4096", "32k" (32,768), "1M": tokens.
[[nodiscard]] std::optional<std::uint64_t> parse_token_count(std::string_view text);

}  // namespace ingot::cli
