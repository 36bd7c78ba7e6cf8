// SPDX-License-Identifier: MIT
// Decodes or encodes standard input with one kernel: how scripts compare Ingot with other codecs.
//
//   code_blocks decode TYPE CPU < blocks > floats
//   code_blocks encode TYPE CPU ROW_ELEMENTS [WEIGHTS_FILE] < floats > blocks
//   code_blocks cpus
//
// CPU is a name that `cpus` lists, or `reference`.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "codec/codec.hpp"
#include "support/forced_target.hpp"

namespace {

using Bytes = std::vector<char>;

Bytes read_all(std::istream& in) {
  return Bytes(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::vector<float> floats_of(const Bytes& bytes) {
  std::vector<float> floats(bytes.size() / sizeof(float));
  if (!floats.empty()) std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  return floats;
}

[[noreturn]] void die(const std::string& message) {
  std::cerr << "code_blocks: " << message << '\n';
  std::exit(2);
}

std::int64_t target_of(const std::string& name) {
  const auto targets = ingot::test::cpu_targets();
  const auto found = std::find_if(targets.begin(), targets.end(), [&](std::int64_t target) {
    return ingot::test::target_name(target) == name;
  });
  if (found == targets.end()) die("no such CPU target: " + name);
  return *found;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() == 1 && words[0] == "cpus") {
    for (const std::int64_t target : ingot::test::cpu_targets()) {
      std::cout << ingot::test::target_name(target) << '\n';
    }
    return 0;
  }
  if (words.size() < 3) die("see the comment in the source");
  const ingot::TensorTypeInfo* info = ingot::find_type(words[1]);
  if (info == nullptr) die("no such type: " + words[1]);
  const ingot::codec::Codec& codec = *ingot::codec::find_codec(info->type);
  const bool is_reference = words[2] == "reference";
  const ingot::test::ForcedTarget forced(is_reference ? 0 : target_of(words[2]));
  const Bytes input = read_all(std::cin);

  if (words[0] == "decode") {
    const std::size_t block_count = input.size() / info->block_bytes;
    std::vector<float> floats(block_count * info->block_elements);
    const auto* blocks = reinterpret_cast<const std::byte*>(input.data());
    if (is_reference) {
      codec.dequantize_ref(blocks, floats.data(), block_count);
    } else {
      codec.dequantize(blocks, floats.data(), block_count, ingot::codec::Stores::cached);
    }
    std::fwrite(floats.data(), sizeof(float), floats.size(), stdout);
    return 0;
  }
  if (words.size() < 4) die("how many elements has a row?");
  const std::vector<float> floats = floats_of(input);
  const std::size_t row_elements = std::stoull(words[3]);
  std::vector<float> weights;
  if (words.size() > 4) {
    std::ifstream file(words[4], std::ios::binary);
    weights = floats_of(read_all(file));
    if (weights.size() != row_elements) die("there must be a weight for each element of a row");
  }
  std::vector<std::byte> blocks(floats.size() / info->block_elements * info->block_bytes);
  const ingot::codec::FloatRows rows = {.src = floats.data(),
                                        .dst = blocks.data(),
                                        .row_elements = row_elements,
                                        .row_count = floats.size() / row_elements,
                                        .importances = weights.empty() ? nullptr : weights.data()};
  (is_reference ? codec.quantize_ref : codec.quantize)(rows);
  std::fwrite(blocks.data(), 1, blocks.size(), stdout);
  return 0;
}
