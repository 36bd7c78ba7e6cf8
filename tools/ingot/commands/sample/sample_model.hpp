// SPDX-License-Identifier: MIT
// A small, valid, deterministic model for demos, tests and benchmarks.
#pragma once

#include <cstdint>
#include <ingot/architectures.hpp>
#include <ingot/model_writer.hpp>
#include <ingot/types.hpp>
#include <string_view>

#include "commands/sample/sample_shape.hpp"

namespace ingot::cli {

struct SampleOptions {
  SampleShape shape;
  /// The sample is that of the architecture, and the shape tells the vocabulary alone; nullptr: the
  /// shape tells all.
  const Architecture* architecture = nullptr;
  SampleNumbers numbers = {};         ///< The numbers of the architecture, if there is one.
  std::string_view variant = {};      ///< The type of a projector; empty: the row's own.
  TensorType type = TensorType::f16;  ///< The type of matrices; norms and biases are f32.
  std::uint64_t seed = 1;
  Endian byte_order = Endian::little;
  unsigned threads = 0;  ///< Threads that encode; 0: all cores. The bytes are the same.
};

/// A model with every key and tensor that a llama.cpp loader wants. Weights are made as they are
/// written: memory is bounded by the vocabulary. The same bytes for the same options, everywhere.
[[nodiscard]] Result<ModelWriter> make_sample(const SampleOptions& options);

}  // namespace ingot::cli
