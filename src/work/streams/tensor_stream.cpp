// SPDX-License-Identifier: MIT
#include "ingot/tensor_stream.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/checked.hpp"
#include "format/tensor_layout.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"

namespace ingot {
namespace {

/// Elements that are decoded at once; whole blocks of every type.
constexpr std::uint64_t piece_elements = std::uint64_t{1} << 20;

/// Elements that one thread decodes at a time: they stay in the first caches.
constexpr std::uint64_t part_elements = std::uint64_t{1} << 13;

/// Bytes that are copied at once.
constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;

/// Pieces that reading may be ahead of writing.
constexpr std::size_t most_waiting = 3;

/// The rows of a vector, where they are reordered, are its elements.
std::uint64_t reordered_row_elements(const OutputTensor& tensor) noexcept {
  const bool is_vector = tensor.source->shape.size() < 2;
  return tensor.interleaved_rows > 0 && is_vector ? 1 : tensor.source->row_elements();
}

/// A tensor's stored bytes, in the order of the rows that are wanted.
class RowReader {
 public:
  RowReader(const Model& model, const OutputTensor& tensor, const TensorTypeInfo& type)
      : model_(model),
        tensor_(tensor),
        row_bytes_(reordered_row_elements(tensor) / type.block_elements * type.block_bytes) {}

  /// Fills `destination` with the bytes that follow those of the last call.
  Result<void> read(std::span<std::byte> destination) {
    if (tensor_.interleaved_rows == 0) {
      const std::uint64_t first = tensor_.first_row * row_bytes_ + done_bytes_;
      done_bytes_ += destination.size();
      return model_.read(*tensor_.source, first, destination);
    }
    while (!destination.empty()) {
      const std::uint64_t row = done_bytes_ / row_bytes_;
      const std::uint64_t within = done_bytes_ % row_bytes_;
      const auto count = static_cast<std::size_t>(
          std::min<std::uint64_t>(destination.size(), row_bytes_ - within));
      const std::uint64_t first = (tensor_.first_row + stored_row(row)) * row_bytes_ + within;
      INGOT_TRY_VOID(model_.read(*tensor_.source, first, destination.first(count)));
      done_bytes_ += count;
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
  std::uint64_t done_bytes_ = 0;
};

/// Makes the pieces of a tensor, one after the other.
class PieceMaker {
 public:
  PieceMaker(const Model& model, const OutputTensor& tensor, const StreamOptions& options)
      : tensor_(tensor),
        options_(options),
        source_(*find_type(tensor.source->type)),
        target_(*find_type(tensor.type)),
        stored_order_(model.files()[tensor.source->shard].byte_order),
        reader_(model, tensor, source_),
        rest_elements_(tensor.size_bytes / target_.block_bytes * target_.block_elements) {}

  [[nodiscard]] bool is_done() const noexcept { return rest_elements_ == 0; }

  /// The next piece.
  Result<void> make(std::vector<std::byte>& piece) {
    return tensor_.type == tensor_.source->type ? copy(piece) : recode(piece);
  }

 private:
  Result<void> copy(std::vector<std::byte>& piece) {
    const std::uint64_t most = piece_bytes / source_.block_bytes * source_.block_elements;
    const std::uint64_t count = std::min(most, rest_elements_);
    rest_elements_ -= count;
    piece.resize(static_cast<std::size_t>(count / source_.block_elements * source_.block_bytes));
    INGOT_TRY_VOID(reader_.read(piece));
    if (stored_order_ == options_.byte_order) return {};
    return swap_byte_order(tensor_.type, piece);
  }

  Result<void> recode(std::vector<std::byte>& piece) {
    const std::uint64_t count = std::min(piece_elements, rest_elements_);
    rest_elements_ -= count;
    stored_.resize(static_cast<std::size_t>(count / source_.block_elements * source_.block_bytes));
    piece.resize(static_cast<std::size_t>(count / target_.block_elements * target_.block_bytes));
    INGOT_TRY_VOID(reader_.read(stored_));
    return spread(
        count, part_elements, options_.thread_count,
        [&](std::uint64_t first, std::uint64_t part) { return recode_part(first, part, piece); });
  }

  Result<void> recode_part(std::uint64_t first, std::uint64_t count, std::span<std::byte> piece) {
    alignas(64) std::array<float, part_elements> floats;
    const auto decoded = std::span(floats).first(static_cast<std::size_t>(count));
    const auto part_of = [&](std::span<std::byte> bytes, const TensorTypeInfo& type) {
      return bytes.subspan(
          static_cast<std::size_t>(first / type.block_elements * type.block_bytes),
          static_cast<std::size_t>(count / type.block_elements * type.block_bytes));
    };
    INGOT_TRY_VOID(dequantize(source_.type, part_of(stored_, source_), decoded,
                              {.byte_order = stored_order_, .stores = OutputStores::cached}));
    return quantize(target_.type, decoded, decoded.size(), part_of(piece, target_),
                    {.byte_order = options_.byte_order});
  }

  const OutputTensor& tensor_;
  const StreamOptions& options_;
  const TensorTypeInfo& source_;
  const TensorTypeInfo& target_;
  Endian stored_order_;
  RowReader reader_;
  std::uint64_t rest_elements_;
  std::vector<std::byte> stored_;
};

/// Hands pieces from the thread that makes them to the thread that writes them.
class PieceQueue {
 public:
  /// False if nobody wants more. Takes the piece, and gives one back that is no longer needed.
  bool push(std::vector<std::byte>& piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_stopped_ || waiting_.size() < most_waiting; });
    if (is_stopped_) return false;
    waiting_.push_back(std::move(piece));
    piece = std::vector<std::byte>();
    if (!spare_.empty()) {
      piece = std::move(spare_.back());
      spare_.pop_back();
    }
    changed_.notify_all();
    return true;
  }

  void finish(Result<void> result) {
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    changed_.notify_all();
  }

  /// Nothing after the last piece, or the error of making it.
  Result<std::optional<std::vector<std::byte>>> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_.empty() || result_.has_value(); });
    if (waiting_.empty()) {
      if (!*result_) return fail(result_->error());
      return std::optional<std::vector<std::byte>>();
    }
    std::optional<std::vector<std::byte>> piece(std::move(waiting_.front()));
    waiting_.erase(waiting_.begin());
    changed_.notify_all();
    return piece;
  }

  void recycle(std::vector<std::byte> piece) {
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(piece));
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::byte>> waiting_;
  std::vector<std::vector<std::byte>> spare_;
  std::optional<Result<void>> result_;
  bool is_stopped_ = false;
};

struct StopAtEnd {
  explicit StopAtEnd(PieceQueue& stopped) : queue(stopped) {}
  StopAtEnd(const StopAtEnd&) = delete;
  StopAtEnd& operator=(const StopAtEnd&) = delete;
  ~StopAtEnd() { queue.stop(); }

  PieceQueue& queue;
};

/// The work of the thread that reads ahead.
Result<void> make_all(PieceMaker& maker, PieceQueue& queue) {
  std::vector<std::byte> piece;
  while (!maker.is_done()) {
    INGOT_TRY_VOID(maker.make(piece));
    if (!queue.push(piece)) return {};
  }
  return {};
}

Result<void> write_all(PieceQueue& queue, const DataSink& sink) {
  for (;;) {
    INGOT_TRY(std::optional<std::vector<std::byte>> piece, queue.pop());
    if (!piece) return {};
    INGOT_TRY_VOID(sink(*piece));
    queue.recycle(*std::move(piece));
  }
}

Result<void> stream_alone(PieceMaker& maker, const DataSink& sink) {
  std::vector<std::byte> piece;
  while (!maker.is_done()) {
    INGOT_TRY_VOID(maker.make(piece));
    INGOT_TRY_VOID(sink(piece));
  }
  return {};
}

Result<void> stream_ahead(PieceMaker& maker, const DataSink& sink) {
  PieceQueue queue;
  std::jthread helper;
  try {
    helper = std::jthread([&] {
      try {
        queue.finish(make_all(maker, queue));
      } catch (const std::bad_alloc&) {
        queue.finish(fail(Errc::out_of_memory, {}));
      }
    });
  } catch (const std::system_error&) {
    return stream_alone(maker, sink);  // the system has no more threads
  }
  // Before the helper is waited for, whatever the sink does.
  const StopAtEnd stop_at_end{queue};
  return write_all(queue, sink);
}

Result<void> write_zeros(std::uint64_t size_bytes, const DataSink& sink) {
  static constexpr std::array<std::byte, 65536> zeros{};
  while (size_bytes > 0) {
    const auto count = std::min<std::uint64_t>(size_bytes, zeros.size());
    INGOT_TRY_VOID(sink(std::span(zeros).first(static_cast<std::size_t>(count))));
    size_bytes -= count;
  }
  return {};
}

/// The elements of `size_bytes` of a type; nothing if they are no whole blocks.
std::optional<std::uint64_t> elements_of(std::uint64_t size_bytes, const TensorTypeInfo& type) {
  if (size_bytes % type.block_bytes != 0) return std::nullopt;
  return checked_mul(size_bytes / type.block_bytes, type.block_elements);
}

Result<void> check(const OutputTensor& tensor) {
  const TensorInfo& stored = *tensor.source;
  const TensorTypeInfo* source = find_type(stored.type);
  const TensorTypeInfo* target = find_type(tensor.type);
  if (source == nullptr || target == nullptr) {
    return fail(Errc::unsupported_type, std::string(stored.name));
  }
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

}  // namespace

TensorSink::~TensorSink() = default;

Result<OutputTensor> output_of(const TensorInfo& tensor, TensorType type) {
  const TensorTypeInfo* info = find_type(type);
  if (info == nullptr || find_type(tensor.type) == nullptr) {
    return fail(Errc::unsupported_type, std::string(tensor.name));
  }
  // A shape with a zero in it has no bytes in any type, and yet readers refuse it in a large one.
  const format::TensorSize size = format::size_of_tensor(tensor.shape, info);
  if (size.problem != format::ShapeProblem::none) {
    return format::fail_shape(size.problem, Error::no_offset, tensor.name, tensor.shape, info);
  }
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
  if (tensor.source == nullptr) return write_zeros(tensor.size_bytes, sink);
  INGOT_TRY_VOID(check(tensor));
  PieceMaker maker(model, tensor, options);
  // One piece gains nothing from a thread of its own.
  return tensor.size_bytes <= piece_bytes ? stream_alone(maker, sink) : stream_ahead(maker, sink);
}

Result<void> stream_tensors(const Model& model, std::span<const OutputTensor> tensors,
                            TensorSink& sink, const StreamOptions& options,
                            const WriteProgress& progress) {
  std::uint64_t done_bytes = 0;
  for (const OutputTensor& tensor : tensors) {
    INGOT_TRY_VOID(sink.begin(tensor));
    const DataSink write = [&](std::span<const std::byte> piece) -> Result<void> {
      INGOT_TRY_VOID(sink.write(piece));
      done_bytes += piece.size();
      if (progress && !progress(done_bytes)) return fail(Errc::interrupted, tensor.name);
      return {};
    };
    INGOT_TRY_VOID(stream_tensor(model, tensor, write, options));
    INGOT_TRY_VOID(sink.end());
  }
  return {};
}

}  // namespace ingot
