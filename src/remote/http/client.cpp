// SPDX-License-Identifier: MIT
#include "remote/http/client.hpp"

#include <algorithm>
#include <ctime>
#include <thread>

#include "ingot/text.hpp"
#include "remote/http/redirect.hpp"
#include "remote/http/retry.hpp"

namespace ingot::remote {
namespace {

using Clock = std::chrono::steady_clock;

/// The bytes that are taken of the body of a redirect or an error, which nobody reads, so that the
/// connection stays usable.
constexpr std::uint64_t max_ignored_bytes = std::uint64_t{64} << 10;
constexpr std::size_t max_message_bytes = 300;

Error error_of_status(const Answer& answer) {
  const int status = answer.status;
  Error error;
  error.subject = answer.address.shown();
  error.detail = "status " + std::to_string(status);
  if (const auto message = answer.headers.find("x-error-message")) {
    error.detail += ": " + escape(message->substr(0, max_message_bytes));
  }
  const std::string_view code = answer.headers.find("x-error-code").value_or("");
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

/// A transfer whose body is for a receiver.
struct Client::Hop final : Transfer {
  Hop(Client& of_client, Receiver& of_body) : client(of_client), receiver(of_body) {}
  [[nodiscard]] bool on_head() override;
  [[nodiscard]] Take on_body(std::span<const std::byte> bytes) override;

  Client& client;
  Receiver& receiver;
  std::optional<Error> refusal;
  bool is_received = false;  ///< The body goes to the receiver.
  std::uint64_t body_bytes = 0;
  std::string range;
  Clock::time_point started = Clock::now();
};

bool Client::Hop::on_head() {
  const int status = answer.status;
  is_received = (status >= 200 && status < 300) || status == 416;
  if (!is_received) return true;
  Result<void> begun = receiver.begin(answer);
  if (!begun) refusal = std::move(begun).error();
  return !refusal;
}

Take Client::Hop::on_body(std::span<const std::byte> bytes) {
  const Take take = is_received ? receiver.take(bytes) : Take::all;
  if (take == Take::later) return take;
  body_bytes += bytes.size();
  if (!client.count_bytes(bytes.size())) {
    const std::string limit = "at most " + format_bytes(client.max_fetch_bytes_);
    refusal = Error{Errc::too_much_to_fetch, Error::no_offset, {}, limit};
    return Take::stop;
  }
  return !is_received && body_bytes > max_ignored_bytes ? Take::stop : take;
}

/// A small body as a whole, within a limit.
class Client::TextReceiver final : public Receiver {
 public:
  explicit TextReceiver(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  [[nodiscard]] Result<void> begin(const Answer& answer) override {
    text.clear();  // a body that broke off comes again
    if (answer.status == 200) return {};
    return fail(Errc::answer_invalid, answer.address.shown(),
                "status " + std::to_string(answer.status) + " where 200 was expected");
  }
  [[nodiscard]] Take take(std::span<const std::byte> bytes) override {
    is_too_long = text.size() + bytes.size() > limit_bytes_;
    if (is_too_long) return Take::stop;
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Take::all;
  }

  std::string text;
  bool is_too_long = false;

 private:
  std::uint64_t limit_bytes_;
};

struct Client::Attempt {
  Result<Answer> result;
  bool may_retry = false;
  std::optional<std::chrono::seconds> wait = {};
};

Result<std::shared_ptr<Client>> Client::make(const RemoteOptions& options) {
  std::shared_ptr<Client> client(new Client(options));
  for (const std::string& header : options.headers) INGOT_TRY_VOID(check_header_line(header));
  INGOT_TRY(client->loop_, TransferLoop::make());
  return client;
}

void Client::add_named_site(const Address& address) {
  const std::lock_guard lock(mutex_);
  if (named_sites_.empty()) {
    for (const std::string& header : options_.headers) credentials_.add_given(address, header);
  }
  named_sites_.insert(address.site());
}

void Client::add_credential(const Address& address, std::string line) {
  const std::lock_guard lock(mutex_);
  credentials_.add_secret(address, std::move(line));
}

Clock::time_point Client::deadline() const {
  const std::lock_guard lock(mutex_);
  return opening_deadline_.value_or(Clock::time_point::max());
}

OpeningTime::OpeningTime(Client* client) : client_(client) {
  if (client_ == nullptr) return;
  const std::lock_guard lock(client_->mutex_);
  client_->opening_deadline_ = Clock::now() + client_->options_.times.header;
}

OpeningTime::~OpeningTime() {
  if (client_ == nullptr) return;
  const std::lock_guard lock(client_->mutex_);
  client_->opening_deadline_.reset();
}

RemoteTraffic Client::traffic() const {
  const std::lock_guard lock(mutex_);
  RemoteTraffic traffic = traffic_;
  traffic.body_bytes = body_bytes_.load();
  return traffic;
}

bool Client::count_bytes(std::uint64_t size_bytes) noexcept {
  return body_bytes_.fetch_add(size_bytes) + size_bytes <= max_fetch_bytes_;
}

void Client::allow_more_bytes(std::uint64_t size_bytes) noexcept {
  const std::uint64_t room = ~std::uint64_t{0} - max_fetch_bytes_;
  max_fetch_bytes_ += std::min(room, size_bytes);
}

void Client::note(const Hop& hop) {
  const std::lock_guard lock(mutex_);
  ++traffic_.requests;
  traffic_.connections += hop.new_connections;
  if (!hop.range.empty() && (hop.answer.status == 200 || hop.answer.status == 206)) {
    ++traffic_.file_requests;
    traffic_.file_bytes += hop.body_bytes;
  }
  if (hop.is_private && named_sites_.contains(hop.answer.address.site())) {
    is_named_private_ = true;
  }
  if (!options_.on_request) return;
  options_.on_request(
      {hop.answer.address.shown(), hop.range, hop.answer.status, hop.body_bytes,
       std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - hop.started)});
}

Result<Waited> Client::wait(Transfer& transfer, const std::stop_token& stop) {
  const Waited waited =
      TransferLoop::wait(transfer, deadline(), stop, [this] { return should_stop(); });
  if (waited == Waited::interrupted) return fail(Errc::interrupted, std::string());
  if (waited == Waited::timed_out) {
    return fail(Errc::remote_failed, std::string(),
                "the header did not arrive within " +
                    std::to_string(options_.times.header.count() / 1000) + " s");
  }
  return waited;
}

/// Runs one transfer to its end or its first pause.
Result<Waited> Client::run(const std::shared_ptr<Hop>& hop, const Request& request, bool is_first) {
  const Address& address = hop->answer.address;
  if (const auto range = hop->receiver.range()) {
    hop->range = std::to_string(range->first) + "-" + std::to_string(range->last);
  }
  if (is_first) hop->user_info = address.user_info;
  // An empty value removes a line that libcurl adds by itself.
  hop->headers = {"Accept-Encoding: identity"};
  hop->headers.insert(hop->headers.end(), request.headers.begin(), request.headers.end());
  if (!hop->range.empty()) hop->headers.push_back("Range: bytes=" + hop->range);
  if (!hop->range.empty() && !request.if_range.empty()) {
    hop->headers.push_back("If-Range: " + request.if_range);
  }
  {
    const std::lock_guard lock(mutex_);
    credentials_.append_lines(address, hop->headers);
    hop->refuses_private =
        !options_.allows_private && !is_named_private_ && !named_sites_.contains(address.site());
  }
  hop->times = options_.times;
  hop->checks_certificates = options_.checks_certificates;
  hop->uses_netrc = options_.uses_netrc && is_first;
  loop_->start(hop);
  Result<Waited> waited = wait(*hop, request.stop);
  if (!waited) loop_->cancel(hop);
  note(*hop);
  return waited;
}

/// What a transfer that ended or paused, and is no redirect, means.
Client::Attempt Client::outcome_of(const std::shared_ptr<Hop>& hop, const Request& request,
                                   Waited waited) {
  Answer answer = hop->answer;
  const auto failed = [&](Errc code, std::string detail, bool may_retry) {
    return Attempt{fail(code, answer.address.shown(), std::move(detail)), may_retry};
  };
  if (waited == Waited::paused) {
    answer.paused = hop;
    return {std::move(answer)};
  }
  if (hop->refusal) {
    Error refusal = *hop->refusal;
    if (refusal.subject.empty()) refusal.subject = answer.address.shown();
    return {fail(std::move(refusal))};
  }
  if (auto failure = hop->receiver.failure()) return {fail(*std::move(failure))};
  if (hop->is_refused) return failed(Errc::answer_invalid, hop->failure, false);
  if (!hop->failure.empty()) return failed(Errc::remote_failed, escape(hop->failure), true);
  if (!hop->is_received && answer.status != request.accepted_status) {
    Attempt attempt{fail(error_of_status(answer)), is_busy(answer.status)};
    if (answer.status == 429) is_throttled_ = true;
    if (const auto text = answer.headers.find("retry-after")) {
      attempt.wait = parse_retry_after(*text, std::time(nullptr));
    }
    return attempt;
  }
  if (hop->is_received && !hop->receiver.is_complete()) {
    return failed(Errc::remote_failed, "the answer ended early", true);
  }
  return {std::move(answer)};
}

Client::Attempt Client::attempt(const Request& request, Receiver& receiver) {
  Answer answer;
  answer.address = request.address;
  for (int redirects = 0;; ++redirects) {
    const auto hop = std::make_shared<Hop>(*this, receiver);
    hop->answer = answer;
    const Result<Waited> waited = run(hop, request, redirects == 0);
    if (!waited) {
      Error error = waited.error();
      error.subject = answer.address.shown();
      return {fail(std::move(error))};
    }
    const auto location = hop->answer.headers.find("location");
    const bool is_whole = hop->failure.empty() && !hop->refusal;
    if (!is_whole || !location || !is_redirect(hop->answer.status)) {
      return outcome_of(hop, request, *waited);
    }
    Result<Answer> next = follow_redirect(hop->answer, *location, redirects, request.address);
    if (!next) return {fail(std::move(next).error())};
    answer = *std::move(next);
  }
}

/// Waits before the next attempt; gives the error back if that would be too late.
Result<void> Client::pause(std::chrono::milliseconds time, const Error& error,
                           const std::stop_token& stop) {
  const Clock::time_point end = Clock::now() + time;
  if (end > deadline()) return fail(error);
  while (Clock::now() < end) {
    if (stop.stop_requested() || should_stop()) return fail(Errc::interrupted, std::string());
    std::this_thread::sleep_for(
        std::min<Clock::duration>(end - Clock::now(), std::chrono::milliseconds(100)));
  }
  return {};
}

Result<Answer> Client::perform(const Request& request, Receiver& receiver) {
  Retries retries(options_.max_retries, options_.times.first_wait, receiver.received_bytes());
  for (;;) {
    Attempt attempt = this->attempt(request, receiver);
    if (attempt.result || !attempt.may_retry) return std::move(attempt.result);
    const Error& error = attempt.result.error();
    INGOT_TRY_VOID(retries.count(error, receiver.received_bytes()));
    {
      const std::lock_guard lock(mutex_);
      ++traffic_.retries;
    }
    INGOT_TRY(const auto wait, retries.wait_after(error, attempt.wait, retry_jitter()));
    INGOT_TRY_VOID(pause(wait, error, request.stop));
  }
}

Result<std::pair<Answer, std::string>> Client::get(const Request& request,
                                                   std::uint64_t limit_bytes) {
  TextReceiver receiver(limit_bytes);
  INGOT_TRY(Answer answer, perform(request, receiver));
  if (receiver.is_too_long) {
    return fail(Errc::answer_invalid, answer.address.shown(),
                "the answer is longer than " + format_bytes(limit_bytes));
  }
  return std::pair(std::move(answer), std::move(receiver.text));
}

}  // namespace ingot::remote
