// SPDX-License-Identifier: MIT
// Importance matrices, written field by field.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/model_writer.hpp"

namespace ingot::test {

/// The older format.
class LegacyImatrix {
 public:
  LegacyImatrix& number(std::int32_t value) {
    const auto bits = static_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(std::byte(bits >> shift & 0xff));
    return *this;
  }
  LegacyImatrix& text(std::string_view value) {
    number(static_cast<std::int32_t>(value.size()));
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  LegacyImatrix& entry(std::string_view name, std::int32_t calls,
                       const std::vector<float>& values) {
    text(name).number(calls).number(static_cast<std::int32_t>(values.size()));
    for (const float value : values) number(std::bit_cast<std::int32_t>(value));
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct GgufImatrixEntry {
  std::string name;
  std::vector<float> sums;
  std::vector<float> counts;
  std::uint64_t moment_columns = 0;
  std::vector<float> moments = {};
};

inline DataProducer produce_floats(const std::vector<float>& floats, Endian order) {
  return [floats, order](const DataSink& sink) {
    std::vector<std::byte> bytes(floats.size() * sizeof(float));
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(floats[i]);
      for (std::size_t j = 0; j < 4; ++j) {
        const std::size_t shift = 8 * (order == Endian::little ? j : 3 - j);
        bytes[4 * i + j] = std::byte(bits >> shift & 0xff);
      }
    }
    return sink(bytes);
  };
}

inline void write_gguf_imatrix(const std::string& path,
                               const std::vector<GgufImatrixEntry>& entries,
                               Endian order = Endian::little) {
  ModelWriter writer;
  writer.set_string("general.type", "imatrix");
  const std::string datasets[] = {"wiki.txt"};
  writer.set_array("imatrix.datasets", std::span<const std::string>(datasets));
  writer.set("imatrix.chunk_count", std::uint32_t{7});
  writer.set("imatrix.chunk_size", std::uint32_t{256});
  for (const GgufImatrixEntry& entry : entries) {
    const std::uint64_t experts = entry.counts.size();
    const std::uint64_t sums[] = {entry.sums.size() / experts, experts};
    const std::uint64_t counts[] = {1, experts};
    const std::size_t dimensions = experts > 1 ? 2 : 1;
    if (!writer.add_tensor(entry.name + ".in_sum2", TensorType::f32,
                           std::span(sums).first(dimensions), produce_floats(entry.sums, order)) ||
        !writer.add_tensor(entry.name + ".counts", TensorType::f32,
                           std::span(counts).first(dimensions),
                           produce_floats(entry.counts, order))) {
      std::abort();
    }
    if (entry.moments.empty()) continue;
    const std::uint64_t moments[] = {entry.moment_columns, sums[0], experts};
    if (!writer.add_tensor(entry.name + ".in_moment", TensorType::f32,
                           std::span(moments).first(dimensions + 1),
                           produce_floats(entry.moments, order))) {
      std::abort();
    }
  }
  if (!writer.write(path, {.version = 3, .byte_order = order}, true)) std::abort();
}

}  // namespace ingot::test
