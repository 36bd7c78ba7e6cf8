// SPDX-License-Identifier: MIT
#include "remote/reading/head_receiver.hpp"

#include <algorithm>

#include "remote/reading/remote_source.hpp"

namespace ingot::remote {

std::optional<ByteRange> HeadReceiver::range() const {
  return ByteRange{bytes_.size(), first_range_bytes - 1};
}

Result<void> HeadReceiver::begin_empty(const Answer& answer) {
  const auto range = parse_content_range(answer.headers.find("content-range").value_or(""));
  if (!range || range->has_range || *range->total_bytes != 0) {
    return fail(Errc::remote_failed, answer.address.shown(),
                "status 416: it refuses the range from 0 on");
  }
  return identity.agree(answer, 0);
}

Result<void> HeadReceiver::begin(const Answer& answer) {
  is_stream_ = false;
  coming_bytes_ = 0;
  if (answer.status == 416) return begin_empty(answer);
  if (answer.status == 206) {
    INGOT_TRY(const std::uint64_t coming,
              check_partial(answer, bytes_.size(), first_range_bytes - bytes_.size(), identity));
    coming_bytes_ = bytes_.size() + coming;
    return {};
  }
  // All of it, from the start; what came before comes again.
  bytes_.clear();
  spare_.clear();
  position_ = 0;
  is_stream_ = true;
  return identity.agree(answer, answer.content_bytes());
}

Take HeadReceiver::take(std::span<const std::byte> bytes) {
  const std::size_t room = static_cast<std::size_t>(first_range_bytes) -
                           std::min<std::size_t>(bytes_.size(), first_range_bytes);
  if (!is_stream_) {
    bytes_.insert(bytes_.end(), bytes.begin(),
                  bytes.begin() + static_cast<std::ptrdiff_t>(std::min(room, bytes.size())));
    return bytes.size() > room ? Take::stop : Take::all;
  }
  if (position_ == bytes_.size() && room != 0) {
    const std::size_t count = std::min(room, bytes.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    position_ += count;
    spare_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(count), bytes.end());
    return Take::all;
  }
  if (wanted_.empty()) return Take::later;
  const std::size_t count = std::min(wanted_.size(), bytes.size());
  std::copy_n(bytes.begin(), count, wanted_.begin());
  wanted_ = wanted_.subspan(count);
  position_ += count;
  spare_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(count), bytes.end());
  return Take::all;
}

Result<std::uint64_t> HeadReceiver::resolve_size(const Answer& answer, const Error& unknown) {
  if (!identity.size_bytes && answer.paused == nullptr) identity.size_bytes = bytes_.size();
  if (!identity.size_bytes) return fail(unknown);
  if (answer.linked_bytes.value_or(*identity.size_bytes) != *identity.size_bytes) {
    return fail(Errc::answer_invalid, unknown.subject,
                "its size is " + std::to_string(*identity.size_bytes) + " bytes, by the hub " +
                    std::to_string(*answer.linked_bytes));
  }
  return *identity.size_bytes;
}

bool HeadReceiver::take_spare(std::span<std::byte> destination) {
  const std::size_t count = std::min(spare_.size(), destination.size());
  std::copy_n(spare_.begin(), count, destination.begin());
  spare_.erase(spare_.begin(), spare_.begin() + static_cast<std::ptrdiff_t>(count));
  position_ += count;
  wanted_ = destination.subspan(count);
  return wanted_.empty();
}

bool HeadReceiver::is_complete() const {
  if (is_stream_) return !identity.size_bytes || bytes_.size() == *identity.size_bytes;
  return bytes_.size() == coming_bytes_;
}

}  // namespace ingot::remote
