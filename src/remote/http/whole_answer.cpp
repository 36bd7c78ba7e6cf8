// SPDX-License-Identifier: MIT
// Small answers, such as JSON, as a whole.

#include <string>
#include <utility>

#include "ingot/text.hpp"
#include "remote/http/client.hpp"

namespace ingot::remote {
namespace {

/// A body as a whole, in bounds.
class TextReceiver final : public Receiver {
 public:
  explicit TextReceiver(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  [[nodiscard]] Result<void> begin(const Answer& answer) override {
    text_.clear();  // a body that broke off comes again
    if (answer.status != 200) {
      return fail(Errc::answer_invalid, answer.address.shown(),
                  "status " + std::to_string(answer.status) + " where 200 was expected");
    }
    return {};
  }
  [[nodiscard]] Take take(std::span<const std::byte> bytes) override {
    if (text_.size() + bytes.size() > limit_bytes_) {
      is_too_long_ = true;
      return Take::stop;
    }
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Take::all;
  }

  [[nodiscard]] bool is_too_long() const noexcept { return is_too_long_; }
  [[nodiscard]] std::string take_text() noexcept { return std::move(text_); }

 private:
  std::uint64_t limit_bytes_;
  std::string text_;
  bool is_too_long_ = false;
};

}  // namespace

Result<std::pair<Answer, std::string>> Client::get(const Request& request,
                                                   std::uint64_t limit_bytes) {
  TextReceiver receiver(limit_bytes);
  INGOT_TRY(Performed performed, perform(request, receiver));
  if (receiver.is_too_long()) {
    return fail(Errc::answer_invalid, performed.answer.address.shown(),
                "the answer is longer than " + format_bytes(limit_bytes));
  }
  return std::pair(std::move(performed.answer), receiver.take_text());
}

}  // namespace ingot::remote
