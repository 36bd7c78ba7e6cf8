// SPDX-License-Identifier: MIT
#include "remote/reading/range_receiver.hpp"

#include <algorithm>

namespace ingot::remote {

Result<void> RangeReceiver::begin(const Answer& answer) {
  const std::uint64_t first = file_offset_ + received_bytes_;
  if (answer.status == 206) {
    INGOT_TRY_VOID(check_partial(answer, first, destination_.size() - received_bytes_, identity_)
                       .transform([](std::uint64_t) {}));
    return {};
  }
  if (answer.status == 416) {
    return fail(Errc::remote_changed, first, answer.address.shown(), "it became shorter");
  }
  // The whole file: either it is another one (If-Range), or ranges are not served any more.
  const auto length = answer.headers.find("content-length");
  INGOT_TRY_VOID(identity_.agree(answer, length ? parse_decimal(*length) : std::nullopt));
  return fail(Errc::ranges_unsupported, first, answer.address.shown());
}

Take RangeReceiver::take(std::span<const std::byte> bytes) {
  const auto room = destination_.subspan(static_cast<std::size_t>(received_bytes_));
  const std::size_t count = std::min(bytes.size(), room.size());
  std::copy_n(bytes.begin(), count, room.begin());
  received_bytes_ += count;
  return count < bytes.size() ? Take::stop : Take::all;
}

}  // namespace ingot::remote
