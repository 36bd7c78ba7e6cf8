// SPDX-License-Identifier: MIT
// Models to quantize, and what their quantized tensors should hold.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ingot/quantize.hpp"
#include "ingot/quantize_model.hpp"
#include "support/expect_error.hpp"
#include "support/imatrix_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {

/// A tensor of a source model.
struct SourceTensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::vector<float> floats;
};

inline SourceTensor make_source(std::string name, std::vector<std::uint64_t> shape) {
  std::uint64_t elements = 1;
  for (const std::uint64_t dimension : shape) elements *= dimension;
  SourceTensor source{std::move(name), std::move(shape), std::vector<float>(elements)};
  std::uint32_t state = static_cast<std::uint32_t>(source.name.size()) * 7919u + 1u;
  for (float& number : source.floats) {
    state = state * 1664525u + 1013904223u;
    number = (static_cast<float>(state >> 8) - 8388608.0f) * 0x1p-27f;
  }
  return source;
}

inline std::vector<float> make_weights(std::size_t count) {
  std::vector<float> weights(count);
  for (std::size_t i = 0; i < count; ++i) weights[i] = 0.5f + static_cast<float>(i * 37 % 101);
  return weights;
}

class QuantizeModel : public testing::Test {
 protected:
  TemporaryFolder folder_;
  QuantizeModelOptions options_;

  /// A model of float32 tensors, opened for reading.
  Model write_model(const std::vector<SourceTensor>& sources, Endian order = Endian::little) {
    ModelWriter writer;
    writer.set_string("general.architecture", "test");
    writer.set("general.alignment", std::uint32_t{64});
    writer.set("split.count", std::uint16_t{0});
    for (const SourceTensor& source : sources) {
      EXPECT_THAT(writer.add_tensor(source.name, TensorType::f32, source.shape,
                                    produce_floats(source.floats, order)),
                  Succeeds());
    }
    const std::string path = folder_.path("in.gguf");
    EXPECT_THAT(writer.write(path, {.version = 3, .byte_order = order}, true), Succeeds());
    return std::move(*Model::open(path, {.access = FileAccess::read}));
  }

  Result<std::vector<TensorError>> run(const Model& model, const std::string& out = "out.gguf") {
    const Result<QuantizePlan> plan = plan_quantization(model, options_);
    if (!plan) return Failure(plan.error());
    return quantize_model(model, *plan, options_, {.path = folder_.path(out)}, true);
  }

  Model open_result(const std::string& out = "out.gguf") const {
    return std::move(*Model::open(folder_.path(out)));
  }

  std::string file_bytes(const std::string& name) const {
    std::ifstream file(folder_.path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The result of `quantize` for the rows of a source.
  static std::vector<std::byte> expected(const SourceTensor& source, TensorType type,
                                         std::span<const float> weights = {},
                                         Endian order = Endian::little) {
    const TensorTypeInfo& info = *find_type(type);
    std::vector<std::byte> blocks(source.floats.size() / info.block_elements * info.block_bytes);
    const std::size_t matrices = source.shape.size() > 2 ? source.shape[2] : 1;
    const std::size_t elements = source.floats.size() / matrices;
    const std::size_t bytes = blocks.size() / matrices;
    for (std::size_t i = 0; i < matrices; ++i) {
      const auto own =
          weights.empty() ? weights : weights.subspan(i * source.shape[0], source.shape[0]);
      EXPECT_THAT(quantize(type, std::span(source.floats).subspan(i * elements, elements),
                           source.shape[0], std::span(blocks).subspan(i * bytes, bytes),
                           {.importance = own, .byte_order = order}),
                  Succeeds());
    }
    return blocks;
  }

  static void expect_data(const Model& model, const SourceTensor& source,
                          const std::vector<std::byte>& bytes) {
    const TensorInfo* tensor = model.find_tensor(source.name);
    ASSERT_NE(tensor, nullptr);
    const std::span<const std::byte> data = model.data(*tensor);
    ASSERT_EQ(data.size(), bytes.size());
    EXPECT_TRUE(std::equal(data.begin(), data.end(), bytes.begin())) << source.name;
  }
};

}  // namespace ingot::test
