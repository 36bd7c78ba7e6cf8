// SPDX-License-Identifier: MIT
#include "ingot/diff.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <limits>
#include <string>

#include "ingot/model_writer.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"
#include "ingot/shard_name.hpp"
#include "work/threads/shared_progress.hpp"

namespace ingot {
namespace {

/// Whether the strings of a model have a NUL each that does not count.
bool has_trailing_nuls(const Model& model) {
  return std::ranges::any_of(model.notices(), [](const Error& notice) {
    return notice.code == Errc::trailing_nul_stripped;
  });
}

bool has_same_encoding(const Model& a, const Model& b) {
  const ModelFile& first = a.files()[0];
  const ModelFile& second = b.files()[0];
  if (has_trailing_nuls(a) || has_trailing_nuls(b)) return false;
  return first.byte_order == second.byte_order && (first.version == 1) == (second.version == 1);
}

/// The value as it would be in a file of version 3.
std::vector<std::byte> encoded(const Value& value) {
  ModelWriter writer;
  writer.set_value("value", value);
  // Version 3 holds every value; a key and a value make no header that could be refused.
  return writer.serialise_header().value_or(std::vector<std::byte>());
}

bool is_same_value(const Value& a, const Value& b, bool is_same_encoding) {
  if (a.type() != b.type()) return false;
  if (a.is_array()) {
    const Array first = a.as_array();
    const Array second = b.as_array();
    if (first.element_type() != second.element_type() || first.size() != second.size()) {
      return false;
    }
  }
  if (is_same_encoding || a.type() == ValueType::string) {
    return std::ranges::equal(a.bytes(), b.bytes());
  }
  return encoded(a) == encoded(b);
}

bool is_same_tensor(const TensorInfo& a, const TensorInfo& b) {
  return a.type == b.type && std::ranges::equal(a.shape, b.shape);
}

void compare_keys(const Model& a, const Model& b, ModelDifference& difference) {
  const bool is_same_encoding = has_same_encoding(a, b);
  const Value* last_value = nullptr;
  for (const KeyValue& entry : a.metadata()) {
    if (is_split_key(entry.key)) continue;
    const Value* other = b.find(entry.key);
    if (other == nullptr || !is_same_value(entry.value, *other, is_same_encoding)) {
      difference.keys.push_back({entry.key, &entry.value, other});
    }
    if (other == nullptr) continue;
    // The values of a model lie in its table in the order of its keys.
    if (last_value != nullptr && other < last_value) difference.has_other_key_order = true;
    last_value = other;
  }
  for (const KeyValue& entry : b.metadata()) {
    if (is_split_key(entry.key) || a.find(entry.key) != nullptr) continue;
    difference.keys.push_back({entry.key, nullptr, &entry.value});
  }
}

/// Returns the pairs whose stored bytes can be compared.
std::vector<TensorPair> compare_tensors(const Model& a, const Model& b,
                                        ModelDifference& difference) {
  std::vector<TensorPair> pairs;
  const TensorInfo* last_tensor = nullptr;
  for (const TensorInfo& tensor : a.tensors()) {
    const TensorInfo* other = b.find_tensor(tensor.name);
    if (other == nullptr || !is_same_tensor(tensor, *other)) {
      difference.tensors.push_back({tensor.name, &tensor, other});
    } else {
      pairs.push_back({&tensor, other});
    }
    if (other == nullptr) continue;
    if (last_tensor != nullptr && other < last_tensor) difference.has_other_tensor_order = true;
    last_tensor = other;
  }
  for (const TensorInfo& tensor : b.tensors()) {
    if (a.find_tensor(tensor.name) != nullptr) continue;
    difference.tensors.push_back({tensor.name, nullptr, &tensor});
  }
  return pairs;
}

/// Bytes that one thread compares at a time.
constexpr std::uint64_t part_bytes = std::uint64_t{2} << 20;

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

/// Bytes of one tensor, piece by piece, from any kind of source.
class TensorReader {
 public:
  TensorReader(const Model& model, const TensorInfo& tensor)
      : model_(model), tensor_(tensor), mapped_(model.data(tensor)) {}

  /// Valid until the next call.
  Result<std::span<const std::byte>> read(std::uint64_t first_byte, std::size_t size_bytes) {
    if (!mapped_.empty()) {
      return mapped_.subspan(static_cast<std::size_t>(first_byte), size_bytes);
    }
    buffer_.resize(size_bytes);
    INGOT_TRY_VOID(model_.read(tensor_, first_byte, buffer_));
    return std::span<const std::byte>(buffer_);
  }

  /// Reads bytes and reverses every field of more than one byte.
  Result<std::span<const std::byte>> read_swapped(std::uint64_t first_byte,
                                                  std::size_t size_bytes) {
    INGOT_TRY(const auto bytes, read(first_byte, size_bytes));
    if (bytes.data() != buffer_.data()) buffer_.assign(bytes.begin(), bytes.end());
    INGOT_TRY_VOID(swap_byte_order(tensor_.type, buffer_));
    return std::span<const std::byte>(buffer_);
  }

  void release(std::uint64_t first_byte, std::uint64_t size_bytes) const noexcept {
    model_.release(tensor_.shard, model_.file_offset(tensor_) + first_byte, size_bytes);
  }

 private:
  const Model& model_;
  const TensorInfo& tensor_;
  std::span<const std::byte> mapped_;
  std::vector<std::byte> buffer_;
};

class ByteComparison {
 public:
  ByteComparison(const Model& a, const Model& b, std::span<const TensorPair> pairs,
                 const DistanceProgress& progress)
      : a_(a), b_(b), pairs_(pairs), progress_(progress) {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      first_differences_.emplace_back(none);
      const std::uint64_t size = common_bytes(pairs_[i]);
      const TensorTypeInfo* type = find_type(pairs_[i].a->type);
      const std::uint64_t block_bytes = type == nullptr ? 1 : type->block_bytes;
      const std::uint64_t step = part_bytes / block_bytes * block_bytes;
      for (std::uint64_t first = 0; first < size; first += step) {
        parts_.push_back({i, first, std::min(step, size - first)});
      }
    }
  }

  Result<std::vector<DataDifference>> run(unsigned thread_count) {
    INGOT_TRY_VOID(spread(parts_.size(), 1, thread_count, [&](std::uint64_t at, std::uint64_t) {
      return compare(parts_[static_cast<std::size_t>(at)]);
    }));
    std::vector<DataDifference> differences;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      std::uint64_t first = first_differences_[i].load();
      const bool has_same_size = pairs_[i].a->size_bytes == pairs_[i].b->size_bytes;
      if (first == none && !has_same_size) first = common_bytes(pairs_[i]);
      if (first == none) continue;
      differences.push_back({pairs_[i].a->name, pairs_[i].a, pairs_[i].b, first});
    }
    return differences;
  }

 private:
  struct Part {
    std::size_t pair;
    std::uint64_t first;
    std::uint64_t size_bytes;
  };

  /// A lenient reader takes the size of a tensor of unknown type from its neighbours.
  static std::uint64_t common_bytes(const TensorPair& pair) noexcept {
    return std::min(pair.a->size_bytes, pair.b->size_bytes);
  }

  Result<void> compare(const Part& part) {
    std::atomic<std::uint64_t>& found = first_differences_[part.pair];
    // Only earlier bytes can be the first difference.
    if (found.load(std::memory_order_relaxed) < part.first) return {};
    const TensorPair& pair = pairs_[part.pair];
    TensorReader reader_a(a_, *pair.a);
    TensorReader reader_b(b_, *pair.b);
    const bool is_swapped =
        a_.files()[pair.a->shard].byte_order != b_.files()[pair.b->shard].byte_order;
    const auto size = static_cast<std::size_t>(part.size_bytes);
    INGOT_TRY(const auto bytes_a, reader_a.read(part.first, size));
    INGOT_TRY(const auto bytes_b, is_swapped ? reader_b.read_swapped(part.first, size)
                                             : reader_b.read(part.first, size));
    const auto [differing, ignored] = std::ranges::mismatch(bytes_a, bytes_b);
    if (differing != bytes_a.end()) {
      keep_least(found, part.first + static_cast<std::uint64_t>(differing - bytes_a.begin()));
    }
    reader_a.release(part.first, part.size_bytes);
    reader_b.release(part.first, part.size_bytes);
    return progress_.add(2 * part.size_bytes);
  }

  static void keep_least(std::atomic<std::uint64_t>& least, std::uint64_t number) noexcept {
    std::uint64_t known = least.load();
    while (number < known && !least.compare_exchange_weak(known, number)) {
    }
  }

  const Model& a_;
  const Model& b_;
  std::span<const TensorPair> pairs_;
  SharedProgress progress_;
  std::vector<Part> parts_;
  std::deque<std::atomic<std::uint64_t>> first_differences_;  // the first difference of each pair
};

/// Compares the stored bytes of tensors of the same type and shape, those of `b` in the byte order
/// of `a`. One read of each, up to the first difference; the same result for any number of threads.
/// Errc::unsupported_type for a tensor of unknown type in two byte orders.
Result<std::vector<DataDifference>> compare_stored_bytes(const Model& a, const Model& b,
                                                         std::span<const TensorPair> pairs,
                                                         unsigned thread_count,
                                                         const DistanceProgress& progress) {
  return ByteComparison(a, b, pairs, progress).run(thread_count);
}

}  // namespace

Result<ModelDifference> find_differences(const Model& a, const Model& b,
                                         const DiffOptions& options) {
  ModelDifference difference;
  compare_keys(a, b, difference);
  const std::vector<TensorPair> pairs = compare_tensors(a, b, difference);
  if (!options.with_data) return difference;
  INGOT_TRY(difference.data,
            compare_stored_bytes(a, b, pairs, options.thread_count, options.progress));
  difference.has_data = true;
  difference.compared_tensors = pairs.size();
  return difference;
}

std::vector<TensorPair> find_pairs(const Model& a, const Model& b) {
  std::vector<TensorPair> pairs;
  for (const TensorInfo& tensor : a.tensors()) {
    const TensorInfo* other = b.find_tensor(tensor.name);
    if (other != nullptr && std::ranges::equal(tensor.shape, other->shape)) {
      pairs.push_back({&tensor, other});
    }
  }
  return pairs;
}

}  // namespace ingot
