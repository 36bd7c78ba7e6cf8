// SPDX-License-Identifier: MIT
#include "remote/reading/range_receiver.hpp"

#include <algorithm>

namespace ingot::remote {

Result<void> RangeReceiver::begin(const Answer& answer) {
  const std::uint64_t first = file_offset_ + received_bytes_;
  if (answer.status == 206) {
    INGOT_TRY_VOID(check_partial(answer, first, size_bytes_ - received_bytes_, identity_)
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
  const std::uint64_t room = size_bytes_ - received_bytes_;
  const bool is_too_much = bytes.size() > room;
  if (is_too_much) bytes = bytes.first(static_cast<std::size_t>(room));
  if (Result<void> written = write_(received_bytes_, bytes); !written) {
    failure_ = std::move(written).error();
    return Take::stop;
  }
  received_bytes_ += bytes.size();
  return is_too_much ? Take::stop : Take::all;
}

}  // namespace ingot::remote
