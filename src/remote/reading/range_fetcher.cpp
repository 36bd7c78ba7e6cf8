// SPDX-License-Identifier: MIT
#include "remote/reading/range_fetcher.hpp"

namespace ingot::remote {

Result<void> RangeFetcher::fetch(std::uint64_t file_offset, std::uint64_t size_bytes,
                                 const WriteFunction& write) const {
  Address address;
  {
    const std::lock_guard lock(mutex_);
    address = final_address_;
  }
  Result<void> fetched = fetch_from(address, file_offset, size_bytes, write);
  if (fetched) return fetched;
  // A signed address has run out: the server gives a new one for the old name.
  const Errc code = fetched.error().code;
  const bool has_run_out = code == Errc::remote_denied || code == Errc::remote_not_found;
  if (!has_run_out || address.url() == given_.url()) return fetched;
  return fetch_from(given_, file_offset, size_bytes, write);
}

Result<void> RangeFetcher::fetch_from(const Address& address, std::uint64_t file_offset,
                                      std::uint64_t size_bytes, const WriteFunction& write) const {
  RangeReceiver receiver(identity_, file_offset, size_bytes, write);
  Request request{address};
  request.if_range = identity_.strong_tag();
  INGOT_TRY(const Performed performed, session_->perform(request, receiver));
  const std::lock_guard lock(mutex_);
  final_address_ = performed.answer.address;
  return {};
}

}  // namespace ingot::remote
