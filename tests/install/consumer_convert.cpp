// SPDX-License-Identifier: MIT
// Uses the part of the installed library that has threads, and kernels of the core.
#include <ingot/parallel.hpp>
#include <vector>

int main() {
  const std::vector<float> floats(64, 1.0f);
  std::vector<std::byte> blocks(68);
  if (!ingot::quantize_spread(ingot::TensorType::q8_0, floats, 32, blocks, 2)) return 1;
  std::vector<float> decoded(64);
  if (!ingot::dequantize_spread(ingot::TensorType::q8_0, blocks, decoded, 2)) return 1;
  return decoded[63] > 0.99f && decoded[63] < 1.01f ? 0 : 1;
}
