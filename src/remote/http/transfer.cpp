// SPDX-License-Identifier: MIT
#include "remote/http/transfer.hpp"

#include <algorithm>
#include <string_view>

#include "ingot/version.h"
#include "system/process.hpp"

namespace ingot::remote {
namespace {

using Clock = std::chrono::steady_clock;

constexpr long receive_buffer_bytes = 256L << 10;
constexpr long slowest_bytes_per_second = 1024;
constexpr int poll_milliseconds = 100;

/// Whole seconds, at least one: libcurl measures stalls in them.
long seconds_of(std::chrono::milliseconds time) {
  return std::max<long>(1, static_cast<long>((time.count() + 999) / 1000));
}

}  // namespace

Result<std::unique_ptr<TransferLoop>> TransferLoop::make() {
  INGOT_TRY(const CurlLibrary* const curl, curl_library());
  CURLM* const multi = curl->multi_init();
  if (multi == nullptr) return fail(Errc::out_of_memory, "libcurl");
  curl->multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  return std::unique_ptr<TransferLoop>(new TransferLoop(*curl, multi));
}

TransferLoop::TransferLoop(const CurlLibrary& curl, CURLM* multi) : curl_(curl), multi_(multi) {
  thread_ = std::thread([this] { run(); });
}

TransferLoop::~TransferLoop() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  curl_.multi_wakeup(multi_);
  thread_.join();
  curl_.multi_cleanup(multi_);
}

void TransferLoop::send(Order order, std::shared_ptr<Transfer> transfer) {
  {
    const std::lock_guard lock(mutex_);
    orders_.emplace_back(order, std::move(transfer));
  }
  curl_.multi_wakeup(multi_);
}

void TransferLoop::resume(const std::shared_ptr<Transfer>& transfer) {
  {
    const std::lock_guard lock(transfer->mutex_);
    transfer->is_paused_ = false;
  }
  send(Order::resume, transfer);
}

void TransferLoop::cancel(const std::shared_ptr<Transfer>& transfer) {
  send(Order::cancel, transfer);
  std::unique_lock lock(transfer->mutex_);
  transfer->ended_.wait(lock, [&] { return transfer->has_ended_; });
}

Waited TransferLoop::wait(Transfer& transfer, Clock::time_point deadline,
                          const std::stop_token& stop, const std::function<bool()>& should_stop) {
  const std::stop_callback wake(stop, [&transfer] {
    const std::lock_guard lock(transfer.mutex_);
    transfer.ended_.notify_all();
  });
  std::unique_lock lock(transfer.mutex_);
  for (;;) {
    if (transfer.has_ended_) return Waited::ended;
    if (transfer.is_paused_) return Waited::paused;
    const Clock::time_point now = Clock::now();
    if (now >= deadline) return Waited::timed_out;
    if (stop.stop_requested()) return Waited::interrupted;
    transfer.ended_.wait_until(
        lock, std::min(deadline, now + std::chrono::milliseconds(poll_milliseconds)));
    if (should_stop && should_stop()) return Waited::interrupted;
  }
}

void TransferLoop::run() {
  for (;;) {
    follow_orders();
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) break;
    }
    int running = 0;
    curl_.multi_perform(multi_, &running);
    collect();
    end_late();
    curl_.multi_poll(multi_, nullptr, 0, poll_milliseconds, nullptr);
  }
  while (!running_.empty()) finish(running_.back(), CURLE_ABORTED_BY_CALLBACK);
}

void TransferLoop::follow_orders() {
  std::vector<std::pair<Order, std::shared_ptr<Transfer>>> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(orders_);
  }
  for (const auto& [order, transfer] : orders) {
    if (order == Order::start) {
      begin(transfer);
    } else if (transfer->handle_ == nullptr) {
      continue;  // it has ended meanwhile
    } else if (order == Order::resume) {
      curl_.easy_pause(transfer->handle_, CURLPAUSE_CONT);
    } else {
      transfer->was_stopped = true;
      finish(transfer, CURLE_OK);
    }
  }
}

void TransferLoop::begin(const std::shared_ptr<Transfer>& transfer) {
  transfer->handle_ = curl_.easy_init();
  transfer->started_ = Clock::now();
  running_.push_back(transfer);
  if (transfer->handle_ == nullptr) return finish(transfer, CURLE_OUT_OF_MEMORY);
  for (const std::string& header : transfer->headers) {
    curl_slist* const lines = curl_.slist_append(transfer->lines_, header.c_str());
    if (lines == nullptr) return finish(transfer, CURLE_OUT_OF_MEMORY);
    transfer->lines_ = lines;
  }
  set_options(*transfer);
  if (curl_.multi_add_handle(multi_, transfer->handle_) != CURLM_OK) {
    finish(transfer, CURLE_FAILED_INIT);
  }
}

void TransferLoop::set_options(Transfer& transfer) {
  const auto set = [&](CURLoption option, auto value) {
    curl_.easy_setopt(transfer.handle_, option, value);
  };
  set(CURLOPT_URL, transfer.answer.address.url().c_str());
  set(CURLOPT_PROTOCOLS_STR, "https,http");
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTPHEADER, transfer.lines_);
  set(CURLOPT_USERAGENT, "ingot/" INGOT_VERSION_STRING);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  // Over http no connection is shared: waiting for one would put requests behind one another.
  set(CURLOPT_PIPEWAIT, static_cast<long>(transfer.answer.address.is_https));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_BUFFERSIZE, receive_buffer_bytes);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(transfer.times.connect.count()));
  set(CURLOPT_LOW_SPEED_LIMIT, slowest_bytes_per_second);
  set(CURLOPT_LOW_SPEED_TIME, seconds_of(transfer.times.stall));
  set(CURLOPT_NETRC,
      static_cast<long>(transfer.uses_netrc ? CURL_NETRC_OPTIONAL : CURL_NETRC_IGNORED));
  if (!transfer.user_info.empty()) {
    set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    set(CURLOPT_USERPWD, transfer.user_info.c_str());
  }
  if (!transfer.checks_certificates) {
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
  set(CURLOPT_ERRORBUFFER, transfer.error_text_);
  set(CURLOPT_HEADERFUNCTION, &TransferLoop::receive_line);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  set(CURLOPT_WRITEFUNCTION, &TransferLoop::receive_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  set(CURLOPT_OPENSOCKETFUNCTION, &TransferLoop::open_socket);
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(&transfer));
}

curl_socket_t TransferLoop::open_socket(void* transfer, curlsocktype, curl_sockaddr* address) {
  auto& self = *static_cast<Transfer*>(transfer);
  self.is_private = is_private_network(address->addr);
  if (self.refuses_private && self.is_private) {
    self.is_refused = true;
    self.failure = "it leads to an address of this machine or of a local network";
    return CURL_SOCKET_BAD;
  }
  return system::open_socket(address->family, address->socktype, address->protocol);
}

std::size_t TransferLoop::receive_line(char* line, std::size_t, std::size_t size, void* transfer) {
  auto& self = *static_cast<Transfer*>(transfer);
  const std::string_view text(line, size);
  const auto refuse = [&](std::string why) -> std::size_t {
    self.is_refused = true;
    self.failure = std::move(why);
    return 0;
  };
  if (text.starts_with("HTTP/")) {
    self.answer.headers.clear();
    const std::size_t blank = text.find(' ');
    const auto status =
        blank == std::string_view::npos ? std::nullopt : parse_decimal(text.substr(blank + 1, 3));
    self.status_ = status ? static_cast<int>(*status) : 0;
    return size;
  }
  if (self.has_head_) return size;  // lines behind a body in pieces
  if (!self.answer.headers.add(text))
    return refuse("it sends more header lines than any server needs");
  if (text != "\r\n" && text != "\n") return size;
  if (self.status_ >= 100 && self.status_ < 200) return size;  // another head follows
  self.has_head_ = true;
  self.answer.status = self.status_;
  if (std::string problem = self.answer.headers.contradiction(); !problem.empty()) {
    return refuse(std::move(problem));
  }
  const auto encoding = self.answer.headers.find("content-encoding");
  if (encoding && *encoding != "identity" && self.status_ < 300) {
    return refuse("it sends a compressed body, which was not asked for");
  }
  if (!self.on_head()) {
    self.was_stopped = true;
    return 0;
  }
  return size;
}

std::size_t TransferLoop::receive_body(char* bytes, std::size_t, std::size_t size, void* transfer) {
  auto& self = *static_cast<Transfer*>(transfer);
  switch (self.on_body(std::as_bytes(std::span(bytes, size)))) {
    case Take::all:
      return size;
    case Take::later: {
      const std::lock_guard lock(self.mutex_);
      self.is_paused_ = true;
      self.ended_.notify_all();
      return CURL_WRITEFUNC_PAUSE;
    }
    case Take::stop:
      break;
  }
  self.was_stopped = true;
  return 0;
}

void TransferLoop::collect() {
  int left = 0;
  while (const CURLMsg* const message = curl_.multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const auto found = std::find_if(
        running_.begin(), running_.end(),
        [&](const std::shared_ptr<Transfer>& one) { return one->handle_ == message->easy_handle; });
    if (found != running_.end()) finish(std::shared_ptr<Transfer>(*found), message->data.result);
  }
}

/// Ends transfers whose server accepts connections and then says nothing.
void TransferLoop::end_late() {
  const Clock::time_point now = Clock::now();
  for (std::size_t i = running_.size(); i-- > 0;) {
    const std::shared_ptr<Transfer> transfer = running_[i];
    if (transfer->has_head_) continue;
    if (now - transfer->started_ < transfer->times.connect + transfer->times.first_byte) continue;
    transfer->failure = "no answer came in time";
    finish(transfer, CURLE_OPERATION_TIMEDOUT);
  }
}

void TransferLoop::finish(const std::shared_ptr<Transfer>& finished, CURLcode code) {
  const std::shared_ptr<Transfer> transfer = finished;  // which may be an element of running_
  std::erase(running_, transfer);
  if (transfer->handle_ != nullptr) {
    long connections = 0;
    curl_.easy_getinfo(transfer->handle_, CURLINFO_NUM_CONNECTS, &connections);
    transfer->new_connections = static_cast<std::uint64_t>(connections);
    const char* place = nullptr;
    curl_.easy_getinfo(transfer->handle_, CURLINFO_PRIMARY_IP, &place);
    if (place != nullptr && *place != '\0')
      transfer->is_private = is_private_network(std::string(place));
    if (code != CURLE_OK && !transfer->was_stopped && transfer->failure.empty()) {
      transfer->failure =
          transfer->error_text_[0] != '\0' ? transfer->error_text_ : curl_.easy_strerror(code);
    }
    curl_.multi_remove_handle(multi_, transfer->handle_);
    curl_.easy_cleanup(transfer->handle_);
    transfer->handle_ = nullptr;
  }
  curl_.slist_free_all(transfer->lines_);
  transfer->lines_ = nullptr;
  const bool is_complete = code == CURLE_OK || transfer->was_stopped;
  if (is_complete) {
    transfer->failure.clear();
    transfer->is_refused = false;
  }
  const std::lock_guard lock(transfer->mutex_);
  transfer->has_ended_ = true;
  transfer->ended_.notify_all();
}

}  // namespace ingot::remote
