// SPDX-License-Identifier: MIT
#include "commands/fit/engine_spelling.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ingot::cli {
namespace {

// CLI11 has no options of one dash and several letters.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> spellings = {{
    {"-ub", "--ubatch-size"},
    {"-np", "--parallel"},
    {"-ctk", "--cache-type-k"},
    {"-ctv", "--cache-type-v"},
    {"-fa", "--flash-attn"},
    {"-kvu", "--kv-unified"},
    {"-ngl", "--gpu-layers"},
    {"--n-gpu-layers", "--gpu-layers"},
    {"-ts", "--tensor-split"},
    {"-nkvo", "--no-kv-offload"},
    {"-cmoe", "--cpu-moe"},
    {"-ncmoe", "--n-cpu-moe"},
    {"-mm", "--with"},
    {"--mmproj", "--with"},
    {"--lora", "--with"},
}};

}  // namespace

void respell_engine_options(std::vector<std::string>& arguments) {
  auto word = std::find(arguments.begin(), arguments.end(), "fit");
  for (; word != arguments.end(); ++word) {
    const auto* row = std::find_if(spellings.begin(), spellings.end(),
                                   [&](const auto& spelling) { return spelling.first == *word; });
    if (row != spellings.end()) *word = row->second;
  }
}

}  // namespace ingot::cli
