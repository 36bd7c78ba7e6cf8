// SPDX-License-Identifier: MIT
#include "ingot/model_digests.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/checked.hpp"
#include "base/hexadecimal.hpp"
#include "ingot/parallel.hpp"

namespace ingot {
namespace {

/// Bytes of one update of a digest: they stay in the second cache.
constexpr std::uint64_t buffer_bytes = std::uint64_t{256} << 10;

/// The largest distance between digests of the same bytes, which the system keeps in memory
/// meanwhile. The digests wait for one another after each step; large steps make that rare, as a
/// waiting digest leaves its core idle.
constexpr std::uint64_t step_bytes = std::uint64_t{256} << 20;

/// Bytes between two reports of progress.
constexpr std::uint64_t report_bytes = std::uint64_t{16} << 20;

/// Consecutive bytes of a file, at whose end the digest so far may be wanted.
struct Segment {
  std::size_t file;
  std::uint64_t file_offset;
  std::uint64_t size_bytes;
  std::byte* result;  // nullptr: the digest goes on in the next segment
};

/// Keeps a digest, given as lower-case digits, as bytes.
void keep_digest(std::string_view digits, std::byte* result) {
  for (; !digits.empty(); digits.remove_prefix(2)) {
    *result++ = static_cast<std::byte>(*byte_of_hexadecimal(digits.substr(0, 2)));
  }
}

/// A digest that reads its segments in order, some bytes at a time.
class Lane {
 public:
  Lane(const Model& model, DigestAlgorithm algorithm) : model_(&model), digest_(algorithm) {}

  void seed(std::span<const std::byte> bytes) noexcept { digest_.update(bytes); }
  [[nodiscard]] std::string finish() { return digest_.finish(); }

  void reserve(std::size_t segment_count) { segments_.reserve(segment_count); }
  void add(const Segment& segment) {
    segments_.push_back(segment);
    left_bytes_ += segment.size_bytes;
  }
  [[nodiscard]] bool is_done() const noexcept { return next_ == segments_.size(); }
  [[nodiscard]] std::uint64_t left_bytes() const noexcept { return left_bytes_; }

  /// Reads up to `max_bytes`, and empty segments that follow. Returns the number of bytes.
  Result<std::uint64_t> advance(std::uint64_t max_bytes) {
    std::uint64_t done = 0;
    while (!is_done()) {
      const Segment& segment = segments_[next_];
      const std::uint64_t piece = std::min(max_bytes - done, segment.size_bytes - position_);
      if (piece == 0 && position_ < segment.size_bytes) break;
      INGOT_TRY_VOID(feed(segment.file, segment.file_offset + position_, piece));
      done += piece;
      position_ += piece;
      if (position_ < segment.size_bytes) break;
      if (segment.result != nullptr) keep_digest(digest_.finish(), segment.result);
      position_ = 0;
      ++next_;
    }
    left_bytes_ -= done;
    return done;
  }

 private:
  Result<void> feed(std::size_t file, std::uint64_t file_offset, std::uint64_t size_bytes) {
    if (size_bytes == 0) return {};
    buffer_.resize(
        std::max(buffer_.size(), static_cast<std::size_t>(std::min(buffer_bytes, size_bytes))));
    for (std::uint64_t done = 0; done < size_bytes; done += buffer_bytes) {
      const auto piece = static_cast<std::size_t>(std::min(buffer_bytes, size_bytes - done));
      INGOT_TRY(const std::span<const std::byte> bytes,
                model_->fetch(file, file_offset + done, std::span(buffer_).first(piece)));
      digest_.update(bytes);
    }
    return {};
  }

  const Model* model_;
  Digest digest_;
  std::vector<Segment> segments_;
  std::size_t next_ = 0;
  std::uint64_t position_ = 0;  // offset in the segment `next_`
  std::uint64_t left_bytes_ = 0;
  std::vector<std::byte> buffer_;
};

/// Tells how much is done as a share of the files, however often their bytes are read.
class Meter {
 public:
  Meter(const DigestProgress& progress, std::uint64_t file_bytes)
      : progress_(progress), file_bytes_(file_bytes) {}

  void expect(std::uint64_t work_bytes) noexcept { work_bytes_ += work_bytes; }

  Result<void> add(std::uint64_t bytes) {
    if (!progress_) return {};
    const std::lock_guard lock(mutex_);
    done_bytes_ += bytes;
    const double share = static_cast<double>(done_bytes_) / static_cast<double>(work_bytes_);
    if (progress_(static_cast<std::uint64_t>(share * static_cast<double>(file_bytes_)))) return {};
    return fail(Errc::interrupted, {});
  }

 private:
  const DigestProgress& progress_;
  std::uint64_t file_bytes_;
  std::uint64_t work_bytes_ = 0;
  std::mutex mutex_;
  std::uint64_t done_bytes_ = 0;
};

/// 8-4-4-4-12 digits of a SHA-1, with the version 5 and the variant of RFC 4122.
std::string uuid_of(std::string digits) {
  digits.resize(32);
  digits[12] = '5';
  const char high = digits[16];
  const int value = high <= '9' ? high - '0' : high - 'a' + 10;
  digits[16] = "89ab"[value & 3];
  for (const std::size_t dash : {20u, 16u, 12u, 8u}) digits.insert(dash, 1, '-');
  return digits;
}

constexpr std::array<unsigned char, 16> uuid_namespace = {
    0xef, 0x00, 0x12, 0x06, 0xda, 0xdc, 0x5f, 0x6d, 0xa1, 0x5f, 0x33, 0x59, 0xe5, 0x77, 0xd4, 0xe5};

class Computation {
 public:
  Computation(const Model& model, const DigestRequest& request, const DigestProgress& progress)
      : model_(model),
        request_(request),
        threads_(threads_for(request.thread_count, std::numeric_limits<std::uint64_t>::max())),
        meter_(progress, all_file_bytes(model)) {
    if (request.has_files) files_ = {model.files().size(), request.algorithms};
    if (request.has_tensors) digests_.tensors = {model.tensors().size(), request.algorithms};
    sort_tensors();
  }

  Result<ModelDigests> run() {
    if (request_.has_files || request_.has_weights || request_.has_uuid) {
      INGOT_TRY_VOID(run_by_files());
    } else if (request_.has_tensors) {
      INGOT_TRY_VOID(run_by_tensors());
    }
    for (std::size_t i = 0; i < files_.size(); ++i) digests_.files.push_back(files_[i]);
    return std::move(digests_);
  }

 private:
  using Positions = std::vector<std::size_t>;  // positions of tensors in the model's table

  static std::uint64_t all_file_bytes(const Model& model) {
    std::uint64_t sum = 0;
    for (const ModelFile& file : model.files()) sum += file.file_bytes;
    return sum;
  }

  [[nodiscard]] Segment segment_of(std::size_t tensor, std::byte* result) const {
    const TensorInfo& info = model_.tensors()[tensor];
    return {info.shard, model_.file_offset(info), info.size_bytes, result};
  }

  /// The tensors of each file in the order of the table and in that of their data.
  void sort_tensors() {
    in_table_order_.resize(model_.files().size());
    const std::span<const TensorInfo> tensors = model_.tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      in_table_order_[tensors[i].shard].push_back(i);
    }
    in_data_order_ = in_table_order_;
    for (Positions& positions : in_data_order_) {
      std::ranges::stable_sort(positions, {},
                               [&](std::size_t i) { return tensors[i].data_offset; });
    }
  }

  // --- only tensors: each is a digest of its own -------------------------------------------------

  Result<void> run_by_tensors() {
    std::vector<Segment> segments;
    std::vector<DigestAlgorithm> algorithms;
    segments.reserve(model_.tensors().size() * request_.algorithms.size());
    algorithms.reserve(segments.capacity());
    for (const Positions& positions : in_data_order_) {
      for (const std::size_t tensor : positions) {
        for (const DigestAlgorithm algorithm : request_.algorithms) {
          segments.push_back(segment_of(tensor, digests_.tensors.place(tensor, algorithm)));
          algorithms.push_back(algorithm);
          meter_.expect(segments.back().size_bytes);
        }
      }
    }
    std::vector<std::size_t> order(segments.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (threads_ > 1) {  // a large one that begins last would keep one thread busy alone
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return segments[a].size_bytes > segments[b].size_bytes;
      });
    }
    return spread(order.size(), 1, threads_,
                  [&](std::uint64_t first, std::uint64_t) -> Result<void> {
                    const std::size_t segment = order[to_size(first)];
                    Lane lane(model_, algorithms[segment]);
                    lane.add(segments[segment]);
                    return run_alone(lane);
                  });
  }

  Result<void> run_alone(Lane& lane) {
    while (!lane.is_done()) INGOT_TRY_VOID(advance(lane, step_bytes));
    return {};
  }

  /// Reads up to `max_bytes`, and reports them.
  Result<void> advance(Lane& lane, std::uint64_t max_bytes) {
    while (max_bytes != 0 && !lane.is_done()) {
      INGOT_TRY(const std::uint64_t done, lane.advance(std::min(max_bytes, report_bytes)));
      INGOT_TRY_VOID(meter_.add(done));
      max_bytes -= done;
    }
    return {};
  }

  // --- whole files: all digests go through a file side by side -----------------------------------

  Result<void> run_by_files() {
    std::vector<Lane> whole = make_whole_lanes();
    const std::size_t file_count = model_.files().size();
    const std::size_t lanes_per_file =
        std::max<std::size_t>(1, request_.algorithms.size()) *
        (static_cast<std::size_t>(request_.has_files) + (request_.has_tensors ? 1 : 0));
    // A digest over all files takes one after the other.
    const std::size_t files_at_once =
        whole.empty() ? std::clamp<std::size_t>(threads_ / lanes_per_file, 1, file_count) : 1;
    expect_work();
    for (std::size_t first = 0; first < file_count; first += files_at_once) {
      const std::size_t last = std::min(file_count, first + files_at_once);
      std::vector<Lane> own;
      for (std::size_t file = first; file < last; ++file) add_lanes_of(file, own);
      std::vector<Lane*> lanes;
      for (Lane& lane : own) lanes.push_back(&lane);
      for (Lane& lane : whole) {
        for (const std::size_t tensor : in_table_order_[first])
          lane.add(segment_of(tensor, nullptr));
        lanes.push_back(&lane);
      }
      INGOT_TRY_VOID(run_side_by_side(lanes));
    }
    take_whole(whole);
    return {};
  }

  /// The digests over all files: the weights by each algorithm, then the UUID.
  std::vector<Lane> make_whole_lanes() const {
    std::vector<Lane> lanes;
    if (request_.has_weights) {
      for (const DigestAlgorithm algorithm : request_.algorithms) {
        lanes.emplace_back(model_, algorithm);
      }
    }
    if (request_.has_uuid) {
      lanes.emplace_back(model_, DigestAlgorithm::sha1);
      lanes.back().seed(std::as_bytes(std::span(uuid_namespace)));
    }
    return lanes;
  }

  void take_whole(std::vector<Lane>& lanes) {
    std::size_t next = 0;
    if (request_.has_weights) {
      for (const DigestAlgorithm algorithm : request_.algorithms) {
        digests_.weights[algorithm] = lanes[next++].finish();
      }
    }
    if (request_.has_uuid) digests_.uuid = uuid_of(lanes[next].finish());
  }

  void add_lanes_of(std::size_t file, std::vector<Lane>& lanes) {
    for (const DigestAlgorithm algorithm : request_.algorithms) {
      if (request_.has_files) {
        lanes.emplace_back(model_, algorithm);
        lanes.back().add({file, 0, model_.files()[file].file_bytes, files_.place(file, algorithm)});
      }
      if (request_.has_tensors) {
        lanes.emplace_back(model_, algorithm);
        lanes.back().reserve(in_data_order_[file].size());
        for (const std::size_t tensor : in_data_order_[file]) {
          lanes.back().add(segment_of(tensor, digests_.tensors.place(tensor, algorithm)));
        }
      }
    }
  }

  void expect_work() {
    std::uint64_t tensor_bytes = 0;
    for (const TensorInfo& tensor : model_.tensors()) tensor_bytes += tensor.size_bytes;
    std::uint64_t file_bytes = 0;
    for (const ModelFile& file : model_.files()) file_bytes += file.file_bytes;
    const std::uint64_t per_algorithm = (request_.has_files ? file_bytes : 0) +
                                        (request_.has_tensors ? tensor_bytes : 0) +
                                        (request_.has_weights ? tensor_bytes : 0);
    meter_.expect(request_.algorithms.size() * per_algorithm +
                  (request_.has_uuid ? tensor_bytes : 0));
  }

  /// Every lane finishes a step before any lane begins the next. All read about the same part of
  /// the file while it is in memory, so large files come from the disk once.
  Result<void> run_side_by_side(std::span<Lane* const> lanes) {
    std::vector<Lane*> busy(lanes.begin(), lanes.end());
    while (true) {
      std::erase_if(busy, [](const Lane* lane) { return lane->is_done(); });
      if (busy.empty()) return {};
      INGOT_TRY_VOID(spread(busy.size(), 1, threads_, [&](std::uint64_t i, std::uint64_t) {
        return advance(*busy[to_size(i)], step_bytes);
      }));
    }
  }

  const Model& model_;
  const DigestRequest& request_;
  unsigned threads_;
  Meter meter_;
  std::vector<Positions> in_table_order_;
  std::vector<Positions> in_data_order_;
  DigestTable files_;
  ModelDigests digests_;
};

}  // namespace

DigestTable::DigestTable(std::size_t count, std::span<const DigestAlgorithm> algorithms)
    : count_(count), algorithms_(algorithms.begin(), algorithms.end()) {
  for (const DigestAlgorithm algorithm : algorithms_) row_bytes_ += info_of(algorithm).digest_bytes;
  bytes_.resize(count * row_bytes_);
}

DigestSet DigestTable::operator[](std::size_t index) const {
  DigestSet digests;
  const std::byte* next = bytes_.data() + index * row_bytes_;
  for (const DigestAlgorithm algorithm : algorithms_) {
    std::string& digits = digests[algorithm];
    digits.clear();
    for (std::size_t i = 0; i < info_of(algorithm).digest_bytes; ++i, ++next) {
      digits += hexadecimal_digits[std::to_integer<std::size_t>(*next >> 4)];
      digits += hexadecimal_digits[std::to_integer<std::size_t>(*next & std::byte{15})];
    }
  }
  return digests;
}

std::byte* DigestTable::place(std::size_t index, DigestAlgorithm algorithm) noexcept {
  std::byte* place = bytes_.data() + index * row_bytes_;
  for (const DigestAlgorithm before : algorithms_) {
    if (before == algorithm) break;
    place += info_of(before).digest_bytes;
  }
  return place;
}

Result<ModelDigests> compute_digests(const Model& model, const DigestRequest& request,
                                     const DigestProgress& progress) {
  return Computation(model, request, progress).run();
}

}  // namespace ingot
