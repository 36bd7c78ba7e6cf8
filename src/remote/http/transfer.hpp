// SPDX-License-Identifier: MIT
// Single requests, and the thread that runs them: many at a time, over connections that are kept.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/remote_options.hpp"
#include "remote/http/answer_headers.hpp"
#include "remote/http/curl_library.hpp"

struct sockaddr;

namespace ingot::remote {

/// Whether an address is of this machine (loopback, unspecified), of a link, or of a private or
/// unique-local network, also behind an IPv6 form of an IPv4 address. Other families than IP are.
[[nodiscard]] bool is_private_network(const sockaddr& address) noexcept;
/// The same for an address as text, such as "192.168.0.1".
[[nodiscard]] bool is_private_network(const std::string& text) noexcept;

/// What a receiver does with bytes that came.
enum class Take : std::uint8_t {
  all,    ///< They are taken.
  later,  ///< They are not, and nothing more is read from the server until `resume`.
  stop,   ///< The transfer ends here; no failure.
};

/// One request and its answer, without redirects and retries.
struct Transfer {
  virtual ~Transfer() = default;
  /// Called in the thread of the loop when all header lines are there: whether the body is wanted.
  [[nodiscard]] virtual bool on_head() = 0;
  /// Called there with pieces of the body.
  [[nodiscard]] virtual Take on_body(std::span<const std::byte> bytes) = 0;

  // --- the request, to the address of the answer; not changed once it has started
  std::string user_info;
  std::vector<std::string> headers;
  RemoteTimes times;
  bool refuses_private = false;  ///< Addresses of this machine and of local networks.
  bool checks_certificates = true;
  bool uses_netrc = false;

  // --- the answer; read it when `wait` says that it has ended, the head after `on_head`
  Answer answer;
  bool is_private = false;   ///< The address connected to is of this machine or a local network.
  bool was_stopped = false;  ///< A receiver has stopped it, on purpose.
  bool is_refused = false;   ///< What came breaks a rule; `failure` says which.
  std::string failure;       ///< Empty if the answer is complete or was stopped.
  std::uint64_t new_connections = 0;

 private:
  friend class TransferLoop;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  bool is_paused_ = false;
  // --- of the loop's thread
  CURL* handle_ = nullptr;
  curl_slist* lines_ = nullptr;
  std::chrono::steady_clock::time_point started_;
  int status_ = 0;  // of the head that comes
  bool has_head_ = false;
  char error_text_[CURL_ERROR_SIZE] = {};
};

enum class Waited : std::uint8_t { ended, paused, timed_out, interrupted };

/// Runs transfers in a thread of its own. All members may be called from any thread. Destroying it
/// ends all transfers.
class TransferLoop {
 public:
  [[nodiscard]] static Result<std::unique_ptr<TransferLoop>> make();
  ~TransferLoop();
  TransferLoop(const TransferLoop&) = delete;
  TransferLoop& operator=(const TransferLoop&) = delete;

  void start(std::shared_ptr<Transfer> transfer) { send(Order::start, std::move(transfer)); }
  /// Goes on with a transfer that answered Take::later.
  void resume(const std::shared_ptr<Transfer>& transfer);
  /// Ends a transfer; returns when no more callback will run.
  void cancel(const std::shared_ptr<Transfer>& transfer);

  /// Waits until a transfer ends or pauses, a time has come, a token says that it is enough, or
  /// `should_stop` (may be empty) says so, which is asked ten times a second.
  [[nodiscard]] static Waited wait(Transfer& transfer,
                                   std::chrono::steady_clock::time_point deadline,
                                   const std::stop_token& stop,
                                   const std::function<bool()>& should_stop);

 private:
  enum class Order : std::uint8_t { start, resume, cancel };

  TransferLoop(const CurlLibrary& curl, CURLM* multi);
  void run();
  void follow_orders();
  void begin(const std::shared_ptr<Transfer>& transfer);
  void set_options(Transfer& transfer);
  void collect();
  void end_late();
  void finish(const std::shared_ptr<Transfer>& transfer, CURLcode code);
  void send(Order order, std::shared_ptr<Transfer> transfer);

  static std::size_t receive_line(char* line, std::size_t, std::size_t size, void* transfer);
  static std::size_t receive_body(char* bytes, std::size_t, std::size_t size, void* transfer);
  static curl_socket_t open_socket(void* transfer, curlsocktype purpose, curl_sockaddr* address);

  const CurlLibrary& curl_;
  CURLM* multi_;
  std::mutex mutex_;
  std::vector<std::pair<Order, std::shared_ptr<Transfer>>> orders_;
  bool is_ending_ = false;
  std::vector<std::shared_ptr<Transfer>> running_;  // of the loop's thread
  std::thread thread_;
};

}  // namespace ingot::remote
