// SPDX-License-Identifier: MIT
// Requests with all rules: redirects (redirect.hpp), credentials (credentials.hpp), retries
// (retry.hpp), limits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/remote_options.hpp"
#include "remote/address/address.hpp"
#include "remote/http/answer_headers.hpp"
#include "remote/http/credentials.hpp"
#include "remote/http/transfer.hpp"
#include "work/threads/task_pool.hpp"

namespace ingot::remote {

/// A range of bytes, both ends inclusive, as HTTP has it.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Takes the body of one request, and of its retries.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// The range to ask for: after an attempt that broke off, the rest. Nothing: all.
  [[nodiscard]] virtual std::optional<ByteRange> range() const { return std::nullopt; }
  /// Looks at an answer with status 200, 206 or 416 whose body is about to come; an error refuses
  /// it. Called from the loop's thread, as `take`.
  [[nodiscard]] virtual Result<void> begin(const Answer& answer) = 0;
  [[nodiscard]] virtual Take take(std::span<const std::byte> bytes) = 0;
  /// Whether the body is complete; where it is not, the rest is asked for.
  [[nodiscard]] virtual bool is_complete() const { return true; }
  /// Why nothing more can be taken, such as a full disk; no attempt follows.
  [[nodiscard]] virtual std::optional<Error> failure() const { return std::nullopt; }
  /// Grows with what was received: an attempt after progress is not one in a row.
  [[nodiscard]] virtual std::uint64_t received_bytes() const { return 0; }
};

struct Request {
  Address address;
  std::vector<std::string> headers = {};  ///< "Name: value"
  std::string if_range = {};              ///< A strong tag; a changed file then comes whole.
  int accepted_status = 0;    ///< A status that counts as an answer, though it is an error.
  std::stop_token stop = {};  ///< The stop of the task that asks: Errc::interrupted.
};

/// All requests for one reference. Thread-safe.
class Client {
 public:
  [[nodiscard]] static Result<std::shared_ptr<Client>> make(const RemoteOptions& options);

  [[nodiscard]] const RemoteOptions& options() const noexcept { return options_; }

  /// A site that the user or the settings name: it may be anywhere.
  void add_named_site(const Address& address);
  /// A line that is sent to one site and no other.
  void add_credential(const Address& address, std::string line);

  /// Sends a request until its body is complete or pauses. Statuses other than 2xx and 416 are
  /// errors. Blocks; may be called from several threads.
  [[nodiscard]] Result<Answer> perform(const Request& request, Receiver& receiver);

  /// A small body as a whole; Errc::answer_invalid beyond `limit_bytes`.
  [[nodiscard]] Result<std::pair<Answer, std::string>> get(const Request& request,
                                                           std::uint64_t limit_bytes);

  void resume(const std::shared_ptr<Transfer>& transfer) { loop_->resume(transfer); }
  void cancel(const std::shared_ptr<Transfer>& transfer) { loop_->cancel(transfer); }
  [[nodiscard]] Result<Waited> wait(Transfer& transfer, const std::stop_token& stop = {});

  /// For requests that are on their way at the same time.
  [[nodiscard]] TaskPool& tasks() noexcept { return tasks_; }
  /// Whether the server wanted fewer requests (status 429).
  [[nodiscard]] bool is_throttled() const noexcept { return is_throttled_; }

  [[nodiscard]] RemoteTraffic traffic() const;
  /// Counts bytes of bodies; false when there are more than may be fetched.
  [[nodiscard]] bool count_bytes(std::uint64_t size_bytes) noexcept;
  /// Lets reading take this many bytes more.
  void allow_more_bytes(std::uint64_t size_bytes) noexcept;

 private:
  friend class OpeningTime;
  struct Hop;
  struct Attempt;
  class TextReceiver;
  explicit Client(const RemoteOptions& options)
      : options_(options), max_fetch_bytes_(options.max_fetch_bytes) {}
  [[nodiscard]] Attempt attempt(const Request& request, Receiver& receiver);
  [[nodiscard]] Result<Waited> run(const std::shared_ptr<Hop>& hop, const Request& request,
                                   bool is_first);
  [[nodiscard]] Attempt outcome_of(const std::shared_ptr<Hop>& hop, const Request& request,
                                   Waited waited);
  [[nodiscard]] Result<void> pause(std::chrono::milliseconds time, const Error& error,
                                   const std::stop_token& stop);
  [[nodiscard]] std::chrono::steady_clock::time_point deadline() const;
  void note(const Hop& hop);

  const RemoteOptions options_;
  std::unique_ptr<TransferLoop> loop_;
  mutable std::mutex mutex_;
  std::set<std::string> named_sites_;
  Credentials credentials_;
  std::optional<std::chrono::steady_clock::time_point> opening_deadline_;
  bool is_named_private_ = false;  ///< A named site was found in a local network.
  RemoteTraffic traffic_;
  [[nodiscard]] bool should_stop() const { return options_.should_stop && options_.should_stop(); }

  std::atomic<std::uint64_t> body_bytes_{0};
  std::atomic<std::uint64_t> max_fetch_bytes_;
  std::atomic<bool> is_throttled_{false};
  TaskPool tasks_;
};

/// As long as it is there, all requests of a client (or of none) together may take
/// RemoteTimes::header.
class OpeningTime {
 public:
  explicit OpeningTime(Client* client);
  ~OpeningTime();
  OpeningTime(const OpeningTime&) = delete;
  OpeningTime& operator=(const OpeningTime&) = delete;

 private:
  Client* client_;
};

}  // namespace ingot::remote
