// SPDX-License-Identifier: MIT
#include "ingot/tensor_profile.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "compare/fine_histogram.hpp"
#include "ingot/parallel.hpp"
#include "work/streams/piece_decoder.hpp"

namespace ingot {
namespace {

/// Elements of a tensor that one thread takes at a time. Long enough that adding up the counts of a
/// part costs little; short enough that their counts fit 32 bits.
constexpr std::uint64_t least_profile_part = std::uint64_t{1} << 18;
constexpr std::uint64_t max_profile_part = std::uint64_t{1} << 31;

/// The wanted number of parts of one tensor, as long as no part exceeds max_profile_part. The
/// results of each part are kept until all are done.
constexpr std::uint64_t wanted_parts = 4096;

/// The part size depends only on the tensor and not on others, so that its digits do not change.
std::uint64_t profile_part_of(const TensorInfo& tensor) noexcept {
  const std::uint64_t share = tensor.element_count / wanted_parts + 1;
  const std::uint64_t pieces = (share + statistics_piece - 1) / statistics_piece;
  return std::clamp(pieces * statistics_piece, least_profile_part, max_profile_part);
}

using work::bytes_of;
using work::PieceDecoder;

/// Consecutive elements of one tensor, and their measurements.
struct ProfilePart {
  std::size_t tensor;  ///< Position among the tensors of the call.
  std::uint64_t first_element;
  std::uint64_t element_count;
  Statistics statistics;
  QuantizationError error;
};

/// A tensor while its parts are worked on.
struct Subject {
  const TensorInfo* tensor = nullptr;
  const TensorInfo* reference = nullptr;
  std::size_t first_part = 0;
  std::size_t part_count = 0;
  std::size_t done_parts = 0;
  std::vector<std::uint64_t> fine_totals;  ///< The totals; empty before the first and after the
                                           ///< last part.
};

class Profiler {
 public:
  Profiler(const Model& model, const ProfileOptions& options, const ProfileProgress& progress)
      : model_(model), options_(options), progress_(progress) {}

  Result<std::vector<TensorProfile>> run(std::span<const TensorInfo* const> tensors) {
    for (const TensorInfo* tensor : tensors) INGOT_TRY_VOID(add(*tensor));
    profiles_.resize(subjects_.size());
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      if (subjects_[i].reference != nullptr) profiles_[i].error.emplace();
    }
    INGOT_TRY_VOID(
        spread(parts_.size(), 1, options_.thread_count, [this](std::uint64_t first, std::uint64_t) {
          return work_on(parts_[static_cast<std::size_t>(first)]);
        }));
    return std::move(profiles_);
  }

 private:
  Result<void> add(const TensorInfo& tensor) {
    if (find_type(tensor.type) == nullptr) {
      return fail(Errc::unsupported_type, std::string(tensor.name),
                  std::to_string(static_cast<std::uint32_t>(tensor.type)));
    }
    Subject subject;
    subject.tensor = &tensor;
    if (options_.reference != nullptr) {
      subject.reference = find_counterpart(*options_.reference, tensor);
    }
    subject.first_part = parts_.size();
    const std::uint64_t part_elements = profile_part_of(tensor);
    for (std::uint64_t first = 0; first < tensor.element_count; first += part_elements) {
      parts_.push_back(
          {subjects_.size(), first, std::min(part_elements, tensor.element_count - first), {}, {}});
    }
    subject.part_count = parts_.size() - subject.first_part;
    subjects_.push_back(std::move(subject));
    return {};
  }

  Result<void> work_on(ProfilePart& part) {
    Subject& subject = subjects_[part.tensor];
    std::unique_ptr<FineCounts> counts;
    if (options_.bin_count > 0 && subject.tensor->element_count > statistics_piece) {
      counts = take_counts();
    }
    INGOT_TRY_VOID(measure(subject, part, counts.get()));
    const std::lock_guard lock(mutex_);
    if (counts != nullptr) {
      subject.fine_totals.resize(detail::fine_bin_count);
      counts->move_to(subject.fine_totals);
      idle_counts_.push_back(std::move(counts));
    }
    if (++subject.done_parts == subject.part_count) finish(part.tensor);
    return report(subject, part);
  }

  using FineCounts = detail::FineCounts;

  std::unique_ptr<FineCounts> take_counts() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_counts_.empty()) {
        std::unique_ptr<FineCounts> counts = std::move(idle_counts_.back());
        idle_counts_.pop_back();
        return counts;
      }
    }
    return std::make_unique<FineCounts>();
  }

  Result<void> measure(Subject& subject, ProfilePart& part, FineCounts* counts) {
    const std::uint64_t end = part.first_element + part.element_count;
    PieceDecoder decoder(model_, *subject.tensor, end);
    std::optional<PieceDecoder> reference;
    if (subject.reference != nullptr) {
      reference.emplace(*options_.reference, *subject.reference, end);
    }
    for (std::uint64_t done = 0; done < part.element_count;) {
      const auto count = static_cast<std::size_t>(
          std::min<std::uint64_t>(statistics_piece, part.element_count - done));
      const std::uint64_t first = part.first_element + done;
      INGOT_TRY(const Statistics statistics, decoder.statistics(first, count));
      part.statistics.add(statistics);
      INGOT_TRY(const std::span<const float> floats, decoder.decode(first, count));
      if (counts != nullptr) {
        counts->add(floats);
      } else if (options_.bin_count > 0) {  // the only piece of its tensor
        profiles_[part.tensor].histogram =
            detail::count_exactly(floats, part.statistics, options_.bin_count);
      }
      if (reference) {
        INGOT_TRY(const std::span<const float> original, reference->decode(first, count));
        part.error.add(measure_error(original, floats));
      }
      done += count;
    }
    return {};
  }

  /// Adds up the parts of a tensor in their order.
  void finish(std::size_t index) {
    Subject& subject = subjects_[index];
    TensorProfile& profile = profiles_[index];
    for (std::size_t i = 0; i < subject.part_count; ++i) {
      const ProfilePart& part = parts_[subject.first_part + i];
      profile.statistics.add(part.statistics);
      if (profile.error) profile.error->add(part.error);
    }
    if (subject.fine_totals.empty()) return;
    profile.histogram =
        detail::spread_over_bins(subject.fine_totals, profile.statistics, options_.bin_count);
    subject.fine_totals = {};
  }

  Result<void> report(const Subject& subject, const ProfilePart& part) {
    done_bytes_ += bytes_of(*subject.tensor, part.element_count);
    if (subject.reference != nullptr) {
      done_bytes_ += bytes_of(*subject.reference, part.element_count);
    }
    if (!progress_ || progress_(done_bytes_)) return {};
    return fail(Errc::interrupted, std::string(subject.tensor->name));
  }

  const Model& model_;
  const ProfileOptions& options_;
  const ProfileProgress& progress_;
  std::vector<Subject> subjects_;
  std::vector<ProfilePart> parts_;
  std::vector<TensorProfile> profiles_;
  std::mutex mutex_;  ///< Guards all members below and the data that the parts of a tensor share.
  std::vector<std::unique_ptr<FineCounts>> idle_counts_;
  std::uint64_t done_bytes_ = 0;
};

}  // namespace

const TensorInfo* find_counterpart(const Model& reference, const TensorInfo& tensor) {
  const TensorInfo* found = reference.find_tensor(tensor.name);
  const bool is_comparable = found != nullptr && find_type(found->type) != nullptr &&
                             std::ranges::equal(found->shape, tensor.shape);
  return is_comparable ? found : nullptr;
}

Result<std::vector<TensorProfile>> profile_tensors(const Model& model,
                                                   std::span<const TensorInfo* const> tensors,
                                                   const ProfileOptions& options,
                                                   const ProfileProgress& progress) {
  return Profiler(model, options, progress).run(tensors);
}

}  // namespace ingot
