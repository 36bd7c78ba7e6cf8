// SPDX-License-Identifier: MIT
// Stream tensors from a model to any output: read, reordered, decoded and encoded piece by piece by
// many threads (target ingot::convert). Every output format builds on this.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/tensor.hpp"
#include "ingot/types.hpp"

namespace ingot {

/// A tensor as it is to be written.
struct OutputTensor {
  std::string name = {};
  TensorType type = TensorType::f32;
  std::vector<std::uint64_t> shape = {};  ///< Dimension 0, the fastest-varying, first.
  std::uint64_t size_bytes = 0;           ///< The size of a tensor of `type` and `shape`.
  const TensorInfo* source = nullptr;     ///< The tensor that gives the values.
  bool is_zeros = false;                  ///< There is no source: all values are 0.
  /// The first row of the source, where only a part is taken.
  std::uint64_t first_row = 0;
  /// If above 0, each run of that many rows holds two interleaved halves (0, 2, 4 ... and 1, 3, 5
  /// ...), which the output holds one after the other. The number is even. The rows of a vector are
  /// its elements.
  std::uint64_t interleaved_rows = 0;
  bool is_unsigned = false;  ///< Whole numbers, for formats that tell these from others.
};

/// The whole tensor, in another type or its own. Fails with Errc::row_not_whole_blocks or
/// Errc::unsupported_type.
[[nodiscard]] INGOT_EXPORT Result<OutputTensor> output_of(const TensorInfo& tensor,
                                                          TensorType type);

/// Receives tensors, one after the other. Implement it to write a further format.
class INGOT_EXPORT TensorSink {
 public:
  virtual ~TensorSink();
  [[nodiscard]] virtual Result<void> begin(const OutputTensor& tensor) = 0;
  /// Consecutive pieces: in all, size_bytes of the tensor that has begun.
  [[nodiscard]] virtual Result<void> write(std::span<const std::byte> piece) = 0;
  [[nodiscard]] virtual Result<void> end() = 0;
};

struct StreamOptions {
  Endian byte_order = Endian::little;  ///< The byte order of the output.
  unsigned thread_count = 0;           ///< 0: as many as the machine has cores.
};

/// Receives the bytes written so far; false ends the work with Errc::interrupted.
using WriteProgress = std::function<bool(std::uint64_t bytes_done)>;

/// Writes one tensor to `sink`, in order. Its own type is copied bit for bit (bytes swapped where
/// the byte order differs); any other type is decoded to floats and encoded anew, see quantize.hpp:
/// the same bytes for any number of threads. Reading and decoding run ahead of `sink` by a few
/// pieces. Memory: at most 2 MiB a thread and 16 MiB, whatever the size of the tensor and of its
/// rows.
/// @return  Errc::size_mismatch if rows or bytes do not fit together; Errc::invalid_argument for a
///          tensor that has neither a source nor zeros; errors of reading and of `sink`.
[[nodiscard]] INGOT_EXPORT Result<void> stream_tensor(const Model& model,
                                                      const OutputTensor& tensor,
                                                      const DataSink& sink,
                                                      const StreamOptions& options = {});

/// Writes all of `tensors` to `sink`, in their order.
[[nodiscard]] INGOT_EXPORT Result<void> stream_tensors(const Model& model,
                                                       std::span<const OutputTensor> tensors,
                                                       TensorSink& sink,
                                                       const StreamOptions& options = {},
                                                       const WriteProgress& progress = {});

}  // namespace ingot
