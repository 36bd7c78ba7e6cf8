// SPDX-License-Identifier: MIT
#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/shard_name.hpp"
#include "ingot/split.hpp"
#include "ingot/text.hpp"

namespace ingot {
namespace {

/// The bytes of a tensor in a file: its row of the table, and its data with padding.
struct TensorBytes {
  std::uint64_t info;
  std::uint64_t data;
};

std::uint64_t info_bytes(const TensorInfo& tensor, std::uint32_t version) {
  const std::uint64_t count_bytes = version == 1 ? 4 : 8;
  return count_bytes + tensor.name.size() +       // name
         4 + tensor.shape.size() * count_bytes +  // dimensions
         4 + 8;                                   // type, offset
}

/// Cuts a list of tensors into files that keep the limits.
class Cutter {
 public:
  Cutter(std::span<const TensorInfo> tensors, std::vector<TensorBytes> sizes,
         std::uint64_t alignment, std::uint64_t first_keys_bytes, std::uint64_t other_keys_bytes,
         bool is_first_without_tensors)
      : tensors_(tensors),
        sizes_(std::move(sizes)),
        alignment_(alignment),
        first_keys_bytes_(first_keys_bytes),
        other_keys_bytes_(other_keys_bytes),
        is_first_without_tensors_(is_first_without_tensors) {}

  /// Puts as many tensors into each file as fit. Returns nothing if a single tensor or the keys are
  /// too large; `too_large` names the tensor, or is empty for the keys.
  std::optional<std::vector<PlannedShard>> cut(std::uint64_t max_bytes, std::uint64_t max_tensors) {
    std::vector<PlannedShard> shards;
    Open open(*this, true);
    if (open.file_bytes() > max_bytes) {
      too_large_.reset();
      least_bytes_ = open.file_bytes();
      return std::nullopt;
    }
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const bool is_barred = is_first_without_tensors_ && shards.empty();
      if (is_barred || open.shard.tensor_count == max_tensors ||
          open.file_bytes_with(sizes_[i]) > max_bytes) {
        // A file without tensors helps only if the keys of the first file take its room.
        if (open.shard.tensor_count > 0 || shards.empty()) {
          shards.push_back(open.close());
          open = Open(*this, false);
          open.shard.first_tensor = i;
        }
        if (open.file_bytes_with(sizes_[i]) > max_bytes) {
          too_large_ = i;
          least_bytes_ = open.file_bytes_with(sizes_[i]);
          return std::nullopt;
        }
      }
      open.add(sizes_[i]);
    }
    shards.push_back(open.close());
    return shards;
  }

  /// Cuts exactly `count` files and keeps the largest as small as possible.
  std::vector<PlannedShard> cut_evenly(std::size_t count) {
    std::uint64_t low = 0;  // a limit that is too small
    std::uint64_t high = whole_bytes();
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      const auto shards = cut(middle, no_limit);
      (shards && shards->size() <= count ? high : low) = middle;
    }
    std::vector<PlannedShard> shards = *cut(high, no_limit);
    while (shards.size() < count) halve_one(shards);
    return shards;
  }

  /// The size of a file with all tensors and keys.
  [[nodiscard]] std::uint64_t whole_bytes() const {
    Open open(*this, true);
    for (const TensorBytes& tensor : sizes_) open.add(tensor);
    // A first file without tensors can make the others larger than that together with the keys.
    return open.file_bytes() + other_keys_bytes_ + alignment_;
  }

  /// The reason why the last cut failed.
  [[nodiscard]] Failure failure(std::uint64_t max_bytes) const {
    const std::string what = too_large_ ? std::string(tensors_[*too_large_].name) : "metadata";
    return fail(Errc::split_impossible, what,
                "alone it makes a file of " + format_digits(least_bytes_) +
                    " bytes, above the limit of " + format_digits(max_bytes));
  }

  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};

 private:
  /// A file that is being filled.
  struct Open {
    Open(const Cutter& cutter, bool is_first)
        : alignment(cutter.alignment_),
          header_bytes(is_first ? cutter.first_keys_bytes_ : cutter.other_keys_bytes_) {}

    void add(const TensorBytes& tensor) {
      header_bytes += tensor.info;
      data_bytes += tensor.data;
      ++shard.tensor_count;
    }
    [[nodiscard]] std::uint64_t file_bytes() const {
      return shard.tensor_count == 0 ? header_bytes : aligned(header_bytes) + data_bytes;
    }
    [[nodiscard]] std::uint64_t file_bytes_with(const TensorBytes& tensor) const {
      return aligned(header_bytes + tensor.info) + data_bytes + tensor.data;
    }
    [[nodiscard]] std::uint64_t aligned(std::uint64_t bytes) const {
      return (bytes + alignment - 1) / alignment * alignment;
    }
    [[nodiscard]] PlannedShard close() {
      shard.file_bytes = file_bytes();
      return shard;
    }

    std::uint64_t alignment;
    std::uint64_t header_bytes;
    std::uint64_t data_bytes = 0;
    PlannedShard shard;
  };

  /// Moves the second half of the file with the most tensors into a file of its own. Tensors of
  /// equal size can make the search for a limit skip a number of files.
  void halve_one(std::vector<PlannedShard>& shards) const {
    const auto most =
        std::ranges::max_element(shards, [](const PlannedShard& a, const PlannedShard& b) {
          return a.tensor_count < b.tensor_count;
        });
    const std::size_t kept = most->tensor_count / 2;
    const PlannedShard second =
        measure(most->first_tensor + kept, most->tensor_count - kept, false);
    *most = measure(most->first_tensor, kept, most == shards.begin());
    shards.insert(most + 1, second);
  }

  [[nodiscard]] PlannedShard measure(std::size_t first, std::size_t count, bool is_first) const {
    Open open(*this, is_first);
    open.shard.first_tensor = first;
    for (std::size_t i = first; i < first + count; ++i) open.add(sizes_[i]);
    return open.close();
  }

  std::span<const TensorInfo> tensors_;
  std::vector<TensorBytes> sizes_;
  std::uint64_t alignment_;
  std::uint64_t first_keys_bytes_;
  std::uint64_t other_keys_bytes_;
  bool is_first_without_tensors_;
  std::optional<std::size_t> too_large_;
  std::uint64_t least_bytes_ = 0;
};

Result<void> check_limits(const SplitLimits& limits, std::size_t tensor_count) {
  const bool has_limit = limits.max_bytes != 0 || limits.max_tensors != 0;
  if (!has_limit && limits.shard_count == 0) {
    return fail(Errc::invalid_argument, "limits", "give bytes, tensors or a number of shards");
  }
  if (has_limit && limits.shard_count != 0) {
    return fail(Errc::invalid_argument, "limits",
                "a number of shards cannot be combined with another limit");
  }
  const std::size_t most = std::max<std::size_t>(1, tensor_count) +
                           (limits.is_first_without_tensors && tensor_count > 0 ? 1 : 0);
  const std::size_t least = limits.is_first_without_tensors && tensor_count > 0 ? 2 : 1;
  if (limits.shard_count != 0 && (limits.shard_count > most || limits.shard_count < least)) {
    return fail(Errc::split_impossible, "shards",
                "this model can be cut into " + std::to_string(least) + " to " +
                    std::to_string(std::min<std::size_t>(most, max_shard_count)));
  }
  return {};
}

Result<std::vector<TensorBytes>> measure_tensors(std::span<const TensorInfo> tensors,
                                                 std::uint32_t version, std::uint64_t alignment) {
  std::vector<TensorBytes> sizes;
  sizes.reserve(tensors.size());
  std::uint64_t sum = 0;
  for (const TensorInfo& tensor : tensors) {
    const auto data = checked_align_up(tensor.size_bytes, alignment);
    const auto next = data ? checked_add(sum, *data) : std::nullopt;
    // Headers and padding come on top, and no real file is larger than an eighth of 2^64 bytes.
    if (!next || *next > Cutter::no_limit / 8) {
      return fail(Errc::size_overflow, std::string(tensor.name));
    }
    sum = *next;
    sizes.push_back({info_bytes(tensor, version), *data});
  }
  return sizes;
}

}  // namespace

Result<SplitPlan> plan_split(const ModelWriter& keys, std::span<const TensorInfo> tensors,
                             const SplitLimits& limits, WriteFormat format) {
  INGOT_TRY_VOID(check_limits(limits, tensors.size()));
  constexpr std::size_t max_tensors = 0x7FFFFFFF;  // split.tensors.count is an int32
  if (tensors.size() > max_tensors) {
    return fail(Errc::split_impossible, std::string(keys::split_tensors_count),
                "more tensors than it can count");
  }
  SplitPlan plan;
  plan.tensor_count = tensors.size();
  plan.shards.resize(2);  // two, for the keys of a first and of another file
  INGOT_TRY(const auto first_header, shard_keys(keys, plan, 0).serialise_header(format));
  INGOT_TRY(const auto other_header, shard_keys(keys, plan, 1).serialise_header(format));
  const std::uint64_t alignment = keys.alignment();
  INGOT_TRY(auto sizes, measure_tensors(tensors, format.version, alignment));
  Cutter cutter(tensors, std::move(sizes), alignment, first_header.size(), other_header.size(),
                limits.is_first_without_tensors && !tensors.empty());
  if (limits.shard_count != 0) {
    plan.shards = cutter.cut_evenly(limits.shard_count);
  } else {
    const auto or_none = [](std::uint64_t limit) { return limit == 0 ? Cutter::no_limit : limit; };
    auto shards = cutter.cut(or_none(limits.max_bytes), or_none(limits.max_tensors));
    if (!shards) return cutter.failure(limits.max_bytes);
    plan.shards = *std::move(shards);
  }
  if (plan.shards.size() > max_shard_count) {
    return fail(Errc::split_impossible, "shards",
                "it takes " + format_digits(plan.shards.size()) + " shards; at most " +
                    format_digits(max_shard_count) + " can be numbered");
  }
  return plan;
}

Result<SplitPlan> plan_split(const Model& model, const SplitLimits& limits) {
  return plan_split(ModelWriter::with_keys_of(model), model.tensors(), limits,
                    WriteFormat::of(model));
}

}  // namespace ingot
