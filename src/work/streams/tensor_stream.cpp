// SPDX-License-Identifier: MIT
#include "ingot/tensor_stream.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/messages.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"
#include "work/threads/ordered_pipeline.hpp"

namespace ingot {
namespace {

/// The elements that are decoded at once: whole blocks of every type.
constexpr std::uint64_t piece_elements = std::uint64_t{1} << 17;

/// The elements that are converted through floats at once, which stay in the first caches.
constexpr std::uint64_t part_elements = std::uint64_t{1} << 13;

/// The bytes that are copied at once.
constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;

/// The threads that copy: one writes while another reads. More would only wait for the disk.
constexpr unsigned copying_threads = 2;

/// The elements of a row that is reordered; each element of a vector is a row.
std::uint64_t reordered_row_elements(const OutputTensor& tensor) noexcept {
  const bool is_vector = tensor.source->shape.size() < 2;
  return tensor.interleaved_rows > 0 && is_vector ? 1 : tensor.source->row_elements();
}

/// Reads a tensor's stored bytes in the requested order of its rows.
class RowReader {
 public:
  RowReader(const Model& model, const OutputTensor& tensor, const TensorTypeInfo& type)
      : model_(model), tensor_(tensor), row_bytes_(type.bytes_of(reordered_row_elements(tensor))) {}

  /// Fills `destination` with the bytes from `first_byte` on.
  Result<void> read(std::uint64_t first_byte, std::span<std::byte> destination) const {
    if (tensor_.interleaved_rows == 0) {
      return model_.read(*tensor_.source, tensor_.first_row * row_bytes_ + first_byte, destination);
    }
    while (!destination.empty()) {
      const std::uint64_t row = first_byte / row_bytes_;
      const std::uint64_t within = first_byte % row_bytes_;
      const auto count = to_size(std::min<std::uint64_t>(destination.size(), row_bytes_ - within));
      const std::uint64_t first = (tensor_.first_row + stored_row(row)) * row_bytes_ + within;
      INGOT_TRY_VOID(model_.read(*tensor_.source, first, destination.first(count)));
      first_byte += count;
      destination = destination.subspan(count);
    }
    return {};
  }

 private:
  [[nodiscard]] std::uint64_t stored_row(std::uint64_t row) const noexcept {
    const std::uint64_t run = tensor_.interleaved_rows;
    const std::uint64_t half = run / 2;
    const std::uint64_t within = row % run;
    return row - within + 2 * (within % half) + within / half;
  }

  const Model& model_;
  const OutputTensor& tensor_;
  std::uint64_t row_bytes_;
};

struct Piece {
  std::vector<std::byte> bytes;
  Result<void> made;
};

/// The memory of one thread for stored bytes.
using Scratch = std::vector<std::byte>;

/// Makes the pieces of a tensor, in any order. Thread-safe.
class PieceMaker {
 public:
  PieceMaker(const Model& model, const OutputTensor& tensor, const StreamOptions& options)
      : options_(options),
        source_(*find_type(tensor.source->type)),
        target_(*find_type(tensor.type)),
        stored_order_(model.files()[tensor.source->shard].byte_order),
        reader_(model, tensor, source_),
        element_count_(target_.elements_of(tensor.size_bytes)),
        max_elements_(is_copy() ? source_.elements_of(piece_bytes) : piece_elements) {}

  [[nodiscard]] std::uint64_t piece_count() const noexcept {
    return element_count_ / max_elements_ + (element_count_ % max_elements_ != 0 ? 1 : 0);
  }
  [[nodiscard]] unsigned thread_count() const noexcept {
    const unsigned threads = threads_for(options_.thread_count, piece_count());
    return is_copy() ? std::min(threads, copying_threads) : threads;
  }

  Result<void> make(std::uint64_t index, std::vector<std::byte>& bytes, Scratch& scratch) const {
    const std::uint64_t first = index * max_elements_;
    const std::uint64_t count = std::min(max_elements_, element_count_ - first);
    bytes.resize(to_size(target_.bytes_of(count)));
    if (is_copy()) {
      INGOT_TRY_VOID(reader_.read(source_.bytes_of(first), bytes));
      return stored_order_ == options_.byte_order ? Result<void>()
                                                  : swap_byte_order(target_.type, bytes);
    }
    scratch.resize(to_size(source_.bytes_of(count)));
    INGOT_TRY_VOID(reader_.read(source_.bytes_of(first), scratch));
    return recode(scratch, bytes, count);
  }

 private:
  [[nodiscard]] bool is_copy() const noexcept { return source_.type == target_.type; }

  Result<void> recode(std::span<const std::byte> stored, std::span<std::byte> bytes,
                      std::uint64_t count) const {
    alignas(64) std::array<float, part_elements> floats;
    for (std::uint64_t done = 0; done < count; done += part_elements) {
      const std::uint64_t part = std::min(part_elements, count - done);
      const auto part_of = [&](auto all, const TensorTypeInfo& type) {
        return all.subspan(to_size(type.bytes_of(done)), to_size(type.bytes_of(part)));
      };
      const auto decoded = std::span(floats).first(to_size(part));
      INGOT_TRY_VOID(dequantize(source_.type, part_of(stored, source_), decoded,
                                {.byte_order = stored_order_, .stores = OutputStores::cached}));
      INGOT_TRY_VOID(quantize(target_.type, decoded, decoded.size(), part_of(bytes, target_),
                              {.byte_order = options_.byte_order}));
    }
    return {};
  }

  const StreamOptions& options_;
  const TensorTypeInfo& source_;
  const TensorTypeInfo& target_;
  Endian stored_order_;
  RowReader reader_;
  std::uint64_t element_count_;
  std::uint64_t max_elements_;  // the most elements of a piece
};

/// Writes the pieces. `pieces` lends its memory and keeps it for the next tensor.
Result<void> write_pieces(const PieceMaker& maker, const DataSink& sink,
                          std::vector<Piece>& pieces) {
  work::OrderedPipeline<Piece, Scratch> pipeline(
      maker.piece_count(), maker.thread_count(),
      [&](std::uint64_t index, Piece& piece, Scratch& scratch) {
        piece.made = maker.make(index, piece.bytes, scratch);
      },
      std::move(pieces));
  for (std::uint64_t i = 0; i < maker.piece_count(); ++i) {
    Piece& piece = pipeline.next();
    INGOT_TRY_VOID(std::move(piece.made));
    INGOT_TRY_VOID(sink(piece.bytes));
    pipeline.release();
  }
  pieces = pipeline.take_slots();
  return {};
}

Result<void> write_zeros(std::uint64_t size_bytes, const DataSink& sink) {
  static constexpr std::array<std::byte, 65536> zeros{};
  while (size_bytes > 0) {
    const auto count = std::min<std::uint64_t>(size_bytes, zeros.size());
    INGOT_TRY_VOID(sink(std::span(zeros).first(to_size(count))));
    size_bytes -= count;
  }
  return {};
}

/// The number of elements in `size_bytes` of a type; nothing if these are not whole blocks.
std::optional<std::uint64_t> elements_of(std::uint64_t size_bytes, const TensorTypeInfo& type) {
  if (size_bytes % type.block_bytes != 0) return std::nullopt;
  return checked_mul(size_bytes / type.block_bytes, type.block_elements);
}

Result<void> check(const OutputTensor& tensor) {
  if (tensor.is_zeros == (tensor.source != nullptr)) {
    return fail(Errc::invalid_argument, tensor.name, "it needs a source, or zeros");
  }
  const TensorTypeInfo* target = find_type(tensor.type);
  if (target == nullptr) return fail(Errc::unsupported_type, tensor.name);
  INGOT_TRY(const TensorSize size,
            with_subject(tensor.name, size_of_tensor(tensor.type, tensor.shape)));
  if (size.bytes != tensor.size_bytes) {
    return fail(Errc::size_mismatch, tensor.name,
                "its type and shape have " + std::to_string(size.bytes) + " bytes, not " +
                    std::to_string(tensor.size_bytes));
  }
  if (tensor.is_zeros) return {};
  const TensorInfo& stored = *tensor.source;
  const TensorTypeInfo* source = find_type(stored.type);
  if (source == nullptr) return fail(Errc::unsupported_type, std::string(stored.name));
  const auto elements = elements_of(tensor.size_bytes, *target);
  const std::uint64_t row = reordered_row_elements(tensor);
  const auto skipped = checked_mul(tensor.first_row, row);
  if (!elements || !skipped || *skipped > stored.element_count ||
      *elements > stored.element_count - *skipped || *elements % source->block_elements != 0) {
    return fail(Errc::size_mismatch, tensor.name, "more rows than the source has");
  }
  const std::uint64_t run = tensor.interleaved_rows;
  if (run == 0 || *elements == 0) return {};
  if (run % 2 != 0 || row % source->block_elements != 0 || *elements % row != 0 ||
      *elements / row % run != 0) {
    return fail(Errc::size_mismatch, tensor.name, "no whole number of heads");
  }
  return {};
}

Result<void> stream_tensor(const Model& model, const OutputTensor& tensor, const DataSink& sink,
                           const StreamOptions& options, std::vector<Piece>& pieces) {
  INGOT_TRY_VOID(check(tensor));
  if (tensor.is_zeros) return write_zeros(tensor.size_bytes, sink);
  return write_pieces(PieceMaker(model, tensor, options), sink, pieces);
}

}  // namespace

TensorSink::~TensorSink() = default;

Result<OutputTensor> output_of(const TensorInfo& tensor, TensorType type) {
  if (find_type(type) == nullptr || find_type(tensor.type) == nullptr) {
    return fail(Errc::unsupported_type, std::string(tensor.name));
  }
  // A shape with a zero has no bytes in any type, but readers may still refuse its other
  // dimensions.
  INGOT_TRY(const TensorSize size,
            with_subject(std::string(tensor.name), size_of_tensor(type, tensor.shape)));
  OutputTensor output;
  output.name = std::string(tensor.name);
  output.type = type;
  output.shape.assign(tensor.shape.begin(), tensor.shape.end());
  output.size_bytes = size.bytes;
  output.source = &tensor;
  return output;
}

Result<void> stream_tensor(const Model& model, const OutputTensor& tensor, const DataSink& sink,
                           const StreamOptions& options) {
  std::vector<Piece> pieces;
  return stream_tensor(model, tensor, sink, options, pieces);
}

Result<void> stream_tensors(const Model& model, std::span<const OutputTensor> tensors,
                            TensorSink& sink, const StreamOptions& options,
                            const WriteProgress& progress) {
  std::uint64_t done_bytes = 0;
  std::vector<Piece> pieces;
  for (const OutputTensor& tensor : tensors) {
    INGOT_TRY_VOID(sink.begin(tensor));
    const DataSink write = [&](std::span<const std::byte> piece) -> Result<void> {
      INGOT_TRY_VOID(sink.write(piece));
      done_bytes += piece.size();
      if (progress && !progress(done_bytes)) return fail(Errc::interrupted, tensor.name);
      return {};
    };
    INGOT_TRY_VOID(stream_tensor(model, tensor, write, options, pieces));
    INGOT_TRY_VOID(sink.end());
  }
  return {};
}

}  // namespace ingot
