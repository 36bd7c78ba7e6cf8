// SPDX-License-Identifier: MIT
#include "remote/http/retry.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>

#include "remote/http/answer_headers.hpp"

namespace ingot::remote {
namespace {

constexpr std::chrono::milliseconds longest_wait{30'000};
constexpr std::chrono::seconds longest_wanted_wait{120};

}  // namespace

bool is_busy(int status) noexcept {
  constexpr std::array statuses = {408, 425, 429, 500, 502, 503, 504};
  return std::ranges::find(statuses, status) != statuses.end();
}

std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                      std::time_t now) noexcept {
  if (const auto seconds = parse_decimal(text)) {
    constexpr std::uint64_t longest = 1'000'000'000;
    return std::chrono::seconds(static_cast<std::int64_t>(std::min(*seconds, longest)));
  }
  // "Sun, 06 Nov 1994 08:49:37 GMT", the one form that servers may still send.
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::size_t month = months.find(text.substr(8, 3));
  const auto day = parse_decimal(text.substr(5, 2));
  const auto year = parse_decimal(text.substr(12, 4));
  const auto hour = parse_decimal(text.substr(17, 2));
  const auto minute = parse_decimal(text.substr(20, 2));
  const auto second = parse_decimal(text.substr(23, 2));
  if (month == std::string_view::npos || month % 3 != 0 || !day || !year || !hour || !minute ||
      !second) {
    return std::nullopt;
  }
  std::tm date{};
  date.tm_year = static_cast<int>(*year) - 1900;
  date.tm_mon = static_cast<int>(month / 3);
  date.tm_mday = static_cast<int>(*day);
  date.tm_hour = static_cast<int>(*hour);
  date.tm_min = static_cast<int>(*minute);
  date.tm_sec = static_cast<int>(*second);
  const std::time_t then = ::timegm(&date);
  return std::chrono::seconds(std::max<std::int64_t>(0, static_cast<std::int64_t>(then) - now));
}

Result<void> Retries::count(const Error& error, std::uint64_t received_bytes) {
  if (std::exchange(received_bytes_, received_bytes) != received_bytes) failures_ = 0;
  if (++failures_ <= most_) return {};
  Error last = error;
  if (most_ > 0) last.detail += "; tried " + std::to_string(failures_) + " times";
  return fail(std::move(last));
}

Result<std::chrono::milliseconds> Retries::wait_after(const Error& error,
                                                      std::optional<std::chrono::seconds> wanted,
                                                      double jitter) const {
  if (wanted && *wanted > longest_wanted_wait) {
    Error late = error;
    late.detail += "; it wants no request for " + std::to_string(wanted->count()) + " s";
    return fail(std::move(late));
  }
  const double doubled = static_cast<double>(first_wait_.count()) *
                         static_cast<double>(std::uint64_t{1} << std::min(failures_ - 1, 16));
  const std::chrono::milliseconds wait(static_cast<std::int64_t>(doubled * jitter));
  return std::max<std::chrono::milliseconds>(std::min(wait, longest_wait),
                                             wanted.value_or(std::chrono::seconds(0)));
}

double retry_jitter() {
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_real_distribution<double>(0.75, 1.25)(random);
}

}  // namespace ingot::remote
