// SPDX-License-Identifier: MIT
#include "remote/reading/range_fetcher.hpp"

#include <optional>
#include <utility>

namespace ingot::remote {
namespace {

/// Hands on a range from a place in the file on, in as many attempts as it takes.
class RangeReceiver final : public Receiver {
 public:
  /// The range must lie within the file. `write` is called from the loop's thread.
  RangeReceiver(FileIdentity identity, std::uint64_t file_offset, std::uint64_t size_bytes,
                const WriteFunction& write)
      : identity_(std::move(identity)),
        file_offset_(file_offset),
        size_bytes_(size_bytes),
        write_(write) {}

  [[nodiscard]] std::optional<ByteRange> range() const override {
    return ByteRange{file_offset_ + received_bytes_, file_offset_ + size_bytes_ - 1};
  }
  [[nodiscard]] Result<void> begin(const Answer& answer) override {
    const std::uint64_t first = file_offset_ + received_bytes_;
    if (answer.status == 206) {
      return check_partial(answer, first, size_bytes_ - received_bytes_, identity_)
          .transform([](std::uint64_t) {});
    }
    if (answer.status == 416) {
      return fail(Errc::remote_changed, first, answer.address.shown(), "it became shorter");
    }
    // The whole file: either it is another one (If-Range), or ranges are not served any more.
    INGOT_TRY_VOID(identity_.agree(answer, answer.content_bytes()));
    return fail(Errc::ranges_unsupported, first, answer.address.shown());
  }

  [[nodiscard]] Take take(std::span<const std::byte> bytes) override {
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
  [[nodiscard]] bool is_complete() const override { return received_bytes_ == size_bytes_; }
  [[nodiscard]] std::optional<Error> failure() const override { return failure_; }
  [[nodiscard]] std::uint64_t received_bytes() const override { return received_bytes_; }

 private:
  FileIdentity identity_;
  std::uint64_t file_offset_;
  std::uint64_t size_bytes_;
  const WriteFunction& write_;
  std::optional<Error> failure_;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace

Result<void> RangeFetcher::fetch(std::uint64_t file_offset, std::uint64_t size_bytes,
                                 const WriteFunction& write, const std::stop_token& stop) const {
  Address address;
  {
    const std::lock_guard lock(mutex_);
    address = final_address_;
  }
  Result<void> fetched = fetch_from(address, file_offset, size_bytes, write, stop);
  if (fetched) return fetched;
  // A signed address has run out: the server gives a new one for the old name.
  const Errc code = fetched.error().code;
  const bool has_run_out = code == Errc::remote_denied || code == Errc::remote_not_found;
  if (!has_run_out || address.url() == given_.url()) return fetched;
  return fetch_from(given_, file_offset, size_bytes, write, stop);
}

Result<void> RangeFetcher::fetch_from(const Address& address, std::uint64_t file_offset,
                                      std::uint64_t size_bytes, const WriteFunction& write,
                                      const std::stop_token& stop) const {
  RangeReceiver receiver(identity_, file_offset, size_bytes, write);
  Request request{address};
  request.if_range = identity_.strong_tag();
  request.stop = stop;
  INGOT_TRY(const Answer answer, client_->perform(request, receiver));
  const std::lock_guard lock(mutex_);
  final_address_ = answer.address;
  return {};
}

}  // namespace ingot::remote
