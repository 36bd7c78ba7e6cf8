// SPDX-License-Identifier: MIT
#include "tokenizer/unicode/code_point_map.hpp"

namespace ingot::tokenizer {

CodePointMap::CodePointMap(std::span<const CodePointRun> runs) {
  constexpr char32_t block_size = decltype(table_)::block_size;
  constexpr std::uint16_t no_block = 0xFFFF;
  auto& [blocks, values] = table_;
  std::array<std::uint16_t, 256> uniform_blocks;
  uniform_blocks.fill(no_block);
  std::size_t run = 0;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const char32_t first = static_cast<char32_t>(block) * block_size;
    while (run + 1 < runs.size() && runs[run + 1].first <= first) ++run;
    const bool is_uniform = run + 1 == runs.size() || runs[run + 1].first >= first + block_size;
    std::uint16_t& shared = uniform_blocks[runs[run].value];
    if (is_uniform && shared != no_block) {
      blocks[block] = shared;
      continue;
    }
    blocks[block] = static_cast<std::uint16_t>(values.size() / block_size);
    if (is_uniform) shared = blocks[block];
    for (char32_t code_point = first; code_point < first + block_size; ++code_point) {
      while (run + 1 < runs.size() && runs[run + 1].first <= code_point) ++run;
      values.push_back(runs[run].value);
    }
  }
}

}  // namespace ingot::tokenizer
