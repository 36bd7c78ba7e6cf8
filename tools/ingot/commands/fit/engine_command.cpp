// SPDX-License-Identifier: MIT
#include "commands/fit/engine_command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "commands/fit/fit_arguments.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

bool is_plain(char c) {
  constexpr std::string_view others = "/._-+,:@%=";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         others.find(c) != std::string_view::npos;
}

std::string share_list(const std::vector<double>& shares) {
  std::string list;
  for (const double share : shares) {
    list += (list.empty() ? "" : ",") + fmt::format("{:g}", share);
  }
  return list;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  const bool is_printable = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && static_cast<unsigned char>(c) < 0x7F;
  });
  std::string word = is_printable ? "'" : "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_printable) {
      word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    } else if (c == '\'' || c == '\\') {
      word += std::string("\\") + c;
    } else {
      word += byte >= ' ' && byte < 0x7F ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
    }
  }
  return word + "'";
}

std::string llama_cpp_command(const std::string& files, const RunOptions& options,
                              const MemoryEstimate& estimate) {
  std::string command = "llama-server" + files;
  const auto add = [&](std::string_view option, const auto& value) {
    command += fmt::format(" {} {}", option, value);
  };
  add("--ctx-size", estimate.context);
  if (options.sequences != 1) add("--parallel", options.sequences);
  if (options.batch != RunOptions{}.batch) add("--batch-size", options.batch);
  if (options.micro_batch != RunOptions{}.micro_batch) add("--ubatch-size", options.micro_batch);
  if (options.key_type != TensorType::f16) add("--cache-type-k", engine_word(options.key_type));
  if (options.value_type != TensorType::f16) add("--cache-type-v", engine_word(options.value_type));
  if (options.flash_attention == FlashAttention::off) add("--flash-attn", "off");
  // A quantized cache of values needs it, so it is not left to the engine.
  const bool needs_flash = find_type(options.value_type)->block_elements > 1;
  if (options.flash_attention == FlashAttention::on || needs_flash) add("--flash-attn", "on");
  add("--gpu-layers", estimate.gpu_layers);
  if (!options.tensor_split.empty()) add("--tensor-split", share_list(options.tensor_split));
  if (options.experts_on_host > 0) add("--n-cpu-moe", options.experts_on_host);
  if (options.is_cache_unified) command += " --kv-unified";
  if (options.keeps_full_windows) command += " --swa-full";
  if (options.wants_embeddings) command += " --embeddings";
  if (!options.offloads_cache) command += " --no-kv-offload";
  if (!options.maps_file) command += " --no-mmap";
  if (!options.repacks_weights) command += " --no-repack";
  return command;
}

}  // namespace ingot::cli
