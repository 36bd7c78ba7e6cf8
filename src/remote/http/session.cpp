// SPDX-License-Identifier: MIT
#include "remote/http/session.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <random>
#include <thread>

#include "ingot/text.hpp"

namespace ingot::remote {
namespace {

using Clock = std::chrono::steady_clock;

/// Of the body of a redirect or an error, which nobody reads; it is taken so that the connection
/// stays usable.
constexpr std::uint64_t max_ignored_bytes = std::uint64_t{64} << 10;
constexpr std::size_t max_message_bytes = 300;
constexpr std::chrono::seconds longest_wait{30};
constexpr std::chrono::seconds longest_wanted_wait{120};

bool is_redirect(int status) noexcept {
  constexpr std::array codes = {301, 302, 303, 307, 308};
  return std::find(codes.begin(), codes.end(), status) != codes.end();
}

bool is_busy(int status) noexcept {
  constexpr std::array codes = {408, 425, 429, 500, 502, 503, 504};
  return std::find(codes.begin(), codes.end(), status) != codes.end();
}

/// What a hub says about a refusal, for people.
std::string message_of(const AnswerHeaders& headers) {
  const auto message = headers.find("x-error-message");
  if (!message) return {};
  return ": " + escape(message->substr(0, max_message_bytes));
}

Error error_of_status(int status, const AnswerHeaders& headers, const Address& address) {
  Error error;
  error.subject = address.shown();
  error.detail = "status " + std::to_string(status) + message_of(headers);
  const std::string_view code = headers.find("x-error-code").value_or("");
  if (code == "GatedRepo") {
    error.code = Errc::remote_denied;
    error.detail += "; its terms have to be accepted on its page, and HF_TOKEN has to be set";
  } else if (code == "RepoNotFound") {
    error.code = status == 401 ? Errc::remote_denied : Errc::remote_not_found;
    error.detail += "; there is no such repository, or it is private: set HF_TOKEN";
  } else if (status == 401 || status == 403) {
    error.code = Errc::remote_denied;
  } else if (status == 404 || status == 410) {
    error.code = Errc::remote_not_found;
    if (code == "RevisionNotFound") error.detail += "; there is no such revision";
  } else {
    error.code = Errc::remote_failed;
  }
  return error;
}

}  // namespace

/// One transfer and all that its callbacks need. The transfer's callbacks own nothing of it: a
/// paused one is kept by whoever goes on with it.
struct Session::Hop {
  std::shared_ptr<Transfer> transfer = std::make_shared<Transfer>();
  Answer answer;
  Receiver* receiver = nullptr;
  std::optional<Error> refusal;
  bool is_received = false;  ///< The body goes to the receiver.
  std::uint64_t body_bytes = 0;
  std::string range;
  Clock::time_point started = Clock::now();
};

struct Session::Attempt {
  Result<Performed> result;
  bool may_retry = false;
  std::optional<std::chrono::seconds> wait = {};
};

Result<std::shared_ptr<Session>> Session::make(const RemoteOptions& options) {
  std::shared_ptr<Session> session(new Session(options));
  for (const std::string& header : options.headers) {
    const bool has_control = std::ranges::any_of(
        header, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    const std::size_t colon = header.find(':');
    if (has_control || colon == 0 || colon == std::string::npos) {
      return fail(Errc::reference_invalid, "header", "expected 'Name: value' without line ends");
    }
  }
  INGOT_TRY(session->loop_, TransferLoop::make());
  return session;
}

Session::~Session() = default;

void Session::add_named_site(const Address& address) {
  const std::lock_guard lock(mutex_);
  if (named_sites_.empty()) {
    for (const std::string& header : options_.headers) {
      credentials_.emplace_back(address.site(), header);
    }
  }
  named_sites_.insert(address.site());
}

void Session::add_credential(const Address& address, std::string line) {
  const bool has_line_end = line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
  if (has_line_end || !(address.is_https || address.is_loopback())) return;
  const std::lock_guard lock(mutex_);
  credentials_.emplace_back(address.site(), std::move(line));
}

bool Session::may_be_private(const Address& address) const {
  const std::lock_guard lock(mutex_);
  return options_.allows_private || is_named_private_ || named_sites_.contains(address.site());
}

std::vector<std::string> Session::header_lines(const Request& request, const Hop& hop) const {
  // An empty value removes a line that libcurl adds by itself.
  std::vector<std::string> lines = {"Accept-Encoding: identity"};
  lines.insert(lines.end(), request.headers.begin(), request.headers.end());
  if (!hop.range.empty()) lines.push_back("Range: bytes=" + hop.range);
  if (!hop.range.empty() && !request.if_range.empty()) {
    lines.push_back("If-Range: " + request.if_range);
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [site, line] : credentials_) {
    if (site == hop.answer.address.site()) lines.push_back(line);
  }
  return lines;
}

Clock::time_point Session::deadline() const {
  const std::lock_guard lock(mutex_);
  return opening_deadline_.value_or(Clock::time_point::max());
}

void Session::begin_opening() {
  const std::lock_guard lock(mutex_);
  opening_deadline_ = Clock::now() + options_.times.header;
}

void Session::end_opening() {
  const std::lock_guard lock(mutex_);
  opening_deadline_.reset();
}

RemoteTraffic Session::traffic() const {
  const std::lock_guard lock(mutex_);
  RemoteTraffic traffic = traffic_;
  traffic.body_bytes = body_bytes_.load();
  return traffic;
}

bool Session::count_bytes(std::uint64_t size_bytes) noexcept {
  return body_bytes_.fetch_add(size_bytes) + size_bytes <= max_fetch_bytes_;
}

void Session::allow_more_bytes(std::uint64_t size_bytes) noexcept {
  const std::uint64_t room = ~std::uint64_t{0} - max_fetch_bytes_;
  max_fetch_bytes_ += std::min(room, size_bytes);
}

void Session::note(const Hop& hop) {
  const std::lock_guard lock(mutex_);
  ++traffic_.requests;
  traffic_.connections += hop.transfer->new_connections;
  if (!hop.range.empty() && (hop.answer.status == 200 || hop.answer.status == 206)) {
    ++traffic_.file_requests;
    traffic_.file_bytes += hop.body_bytes;
  }
  if (hop.transfer->is_private && named_sites_.contains(hop.answer.address.site())) {
    is_named_private_ = true;
  }
  if (!options_.on_request) return;
  options_.on_request(
      {hop.answer.address.shown(), hop.range, hop.answer.status, hop.body_bytes,
       std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - hop.started)});
}

Result<Waited> Session::wait(Transfer& transfer) {
  const Waited waited = TransferLoop::wait(transfer, deadline(), [this] { return should_stop(); });
  if (waited == Waited::interrupted) return fail(Errc::interrupted, std::string());
  if (waited == Waited::timed_out) {
    return fail(Errc::remote_failed, std::string(),
                "the header did not arrive within " +
                    std::to_string(options_.times.header.count() / 1000) + " s");
  }
  return waited;
}

void Session::set_callbacks(Hop& hop) {
  hop.transfer->on_head = [&hop](int status, const AnswerHeaders& headers) {
    hop.answer.status = status;
    hop.answer.headers = headers;
    hop.is_received = (status >= 200 && status < 300) || status == 416;
    if (!hop.is_received) return true;
    Result<void> begun = hop.receiver->begin(hop.answer);
    if (!begun) hop.refusal = std::move(begun).error();
    return !hop.refusal;
  };
  hop.transfer->on_body = [&hop, this](std::span<const std::byte> bytes) {
    const Take take = hop.is_received ? hop.receiver->take(bytes) : Take::all;
    if (take == Take::later) return take;
    hop.body_bytes += bytes.size();
    if (!count_bytes(bytes.size())) {
      hop.refusal = Error{Errc::too_much_to_fetch,
                          Error::no_offset,
                          {},
                          "at most " + format_bytes(max_fetch_bytes_)};
      return Take::stop;
    }
    const bool is_enough = !hop.is_received && hop.body_bytes > max_ignored_bytes;
    return is_enough ? Take::stop : take;
  };
}

/// Runs one transfer to its end or its first pause.
Result<Waited> Session::run(Hop& hop, const Request& request, bool is_first) {
  Transfer& transfer = *hop.transfer;
  const Address& address = hop.answer.address;
  if (const auto range = hop.receiver->range()) {
    hop.range = std::to_string(range->first) + "-" + std::to_string(range->last);
  }
  transfer.url = address.url();
  if (is_first) transfer.user_info = address.user_info;
  transfer.headers = header_lines(request, hop);
  transfer.times = {options_.times.connect, options_.times.first_byte, options_.times.stall};
  transfer.refuses_private = !may_be_private(address);
  transfer.checks_certificates = options_.checks_certificates;
  transfer.uses_netrc = options_.uses_netrc && is_first;
  set_callbacks(hop);
  loop_->start(hop.transfer);
  Result<Waited> waited = wait(transfer);
  if (!waited) loop_->cancel(hop.transfer);
  note(hop);
  return waited;
}

/// What a transfer that ended or paused, and is no redirect, means.
Session::Attempt Session::judge(const std::shared_ptr<Hop>& hop, const Request& request,
                                Waited waited) {
  const Transfer& transfer = *hop->transfer;
  const auto failed = [&](Errc code, std::string detail, bool may_retry) {
    return Attempt{fail(code, hop->answer.address.shown(), std::move(detail)), may_retry};
  };
  if (waited == Waited::paused) {
    // The hop lives as long as the transfer may call it back.
    return {Performed{hop->answer, std::shared_ptr<Transfer>(hop, hop->transfer.get())}};
  }
  if (hop->refusal) {
    Error refusal = *hop->refusal;
    if (refusal.subject.empty()) refusal.subject = hop->answer.address.shown();
    return {fail(std::move(refusal))};
  }
  if (auto failure = hop->receiver->failure()) return {fail(*std::move(failure))};
  if (transfer.is_refused) return failed(Errc::answer_invalid, transfer.failure, false);
  if (!transfer.failure.empty()) return failed(Errc::remote_failed, escape(transfer.failure), true);
  if (!hop->is_received && hop->answer.status != request.accepted_status) {
    const AnswerHeaders& headers = hop->answer.headers;
    Attempt attempt{fail(error_of_status(hop->answer.status, headers, hop->answer.address)),
                    is_busy(hop->answer.status)};
    if (hop->answer.status == 429) is_throttled_ = true;
    if (const auto text = headers.find("retry-after")) {
      attempt.wait = parse_retry_after(*text, std::time(nullptr));
    }
    return attempt;
  }
  if (hop->is_received && !hop->receiver->is_complete()) {
    return failed(Errc::remote_failed, "the answer ended early", true);
  }
  return {Performed{hop->answer, nullptr}};
}

Session::Attempt Session::attempt(const Request& request, Receiver& receiver) {
  Answer answer;
  answer.address = request.address;
  for (int redirects = 0;; ++redirects) {
    const auto hop = std::make_shared<Hop>();
    hop->receiver = &receiver;
    hop->answer = answer;
    const Result<Waited> waited = run(*hop, request, redirects == 0);
    if (!waited) {
      Error error = waited.error();
      error.subject = answer.address.shown();
      return {fail(std::move(error))};
    }
    const AnswerHeaders& headers = hop->answer.headers;
    const auto location = headers.find("location");
    const bool is_whole = hop->transfer->failure.empty() && !hop->refusal;
    if (!is_whole || !location || !is_redirect(hop->answer.status)) {
      return judge(hop, request, *waited);
    }
    if (redirects == max_redirects) {
      return {fail(Errc::answer_invalid, request.address.shown(),
                   "it redirects more than " + std::to_string(max_redirects) + " times")};
    }
    if (const auto tag = headers.find("x-linked-etag")) answer.linked_tag = *tag;
    if (const auto size = headers.find("x-linked-size")) answer.linked_bytes = parse_decimal(*size);
    Result<Address> target = resolve_location(answer.address, *location);
    if (!target) return {fail(target.error())};
    answer.address = *std::move(target);
  }
}

Result<void> Session::pause_before_retry(int failures, std::optional<std::chrono::seconds> wanted,
                                         const Error& error) {
  if (wanted && *wanted > longest_wanted_wait) {
    Error late = error;
    late.detail += "; it wants no request for " + std::to_string(wanted->count()) + " s";
    return fail(std::move(late));
  }
  const double doubled = static_cast<double>(options_.times.first_wait.count()) *
                         static_cast<double>(std::uint64_t{1} << std::min(failures - 1, 16));
  thread_local std::minstd_rand random{std::random_device{}()};
  const double jitter = std::uniform_real_distribution<double>(0.75, 1.25)(random);
  Clock::duration time = std::chrono::milliseconds(static_cast<std::int64_t>(doubled * jitter));
  time = std::min<Clock::duration>(time, longest_wait);
  if (wanted) time = std::max<Clock::duration>(time, *wanted);
  const Clock::time_point end = Clock::now() + time;
  if (end > deadline()) return fail(error);
  while (Clock::now() < end) {
    if (should_stop()) return fail(Errc::interrupted, std::string());
    std::this_thread::sleep_for(
        std::min<Clock::duration>(end - Clock::now(), std::chrono::milliseconds(100)));
  }
  return {};
}

Result<Performed> Session::perform(const Request& request, Receiver& receiver) {
  int failures = 0;
  std::uint64_t received = receiver.received_bytes();
  for (;;) {
    Attempt attempt = this->attempt(request, receiver);
    if (attempt.result || !attempt.may_retry) return std::move(attempt.result);
    if (std::exchange(received, receiver.received_bytes()) != receiver.received_bytes()) {
      failures = 0;
    }
    if (++failures > options_.max_retries) {
      Error error = std::move(attempt.result).error();
      if (options_.max_retries > 0) {
        error.detail += "; tried " + std::to_string(failures) + " times";
      }
      return fail(std::move(error));
    }
    {
      const std::lock_guard lock(mutex_);
      ++traffic_.retries;
    }
    INGOT_TRY_VOID(pause_before_retry(failures, attempt.wait, attempt.result.error()));
  }
}

}  // namespace ingot::remote
