// SPDX-License-Identifier: MIT
#include "commands/view/server.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <list>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

namespace ingot::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// A browser opens at most six connections to a place. More than this come from elsewhere.
constexpr std::size_t max_connections = 32;
/// Far more than a browser sends; what is longer is refused.
constexpr std::size_t max_head_bytes = std::size_t{8} << 10;
/// For a whole head, however slowly it comes; and for a connection without a request.
constexpr std::chrono::seconds head_time{10};
/// For a client to take the next bytes.
constexpr std::chrono::seconds stall_time{30};
constexpr std::size_t piece_bytes = std::size_t{256} << 10;

/// What every answer says: no other page may hold this one or its parts, and nothing is kept.
constexpr std::string_view constant_headers =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: frame-ancestors 'none'\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n";

/// A part of a file, cut to what is there.
struct Part {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

std::optional<Part> part_of(const std::optional<ByteRange>& range, std::uint64_t size) {
  if (!range) return Part{0, size};
  if (!range->first) {
    const std::uint64_t count = std::min(*range->last, size);
    return count == 0 ? std::nullopt : std::optional(Part{size - count, count});
  }
  if (*range->first >= size) return std::nullopt;
  const std::uint64_t last = std::min(range->last.value_or(size - 1), size - 1);
  if (last < *range->first) return std::nullopt;
  return Part{*range->first, last - *range->first + 1};
}

class Connection {
 public:
  explicit Connection(system::Socket socket) : socket_(socket) {}
  ~Connection() { system::close_socket(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] system::Socket socket() const noexcept { return socket_; }
  [[nodiscard]] bool is_answering() const noexcept { return !unsent().empty() || rest_.size > 0; }
  [[nodiscard]] Clock::time_point deadline() const noexcept { return deadline_; }

  /// Goes on with what the socket is ready for; false once it is to be closed.
  [[nodiscard]] bool go_on(const Gate& gate, const Resources& resources) {
    if (!is_answering()) {
      std::array<char, 4096> bytes{};
      const std::ptrdiff_t count = system::receive(socket_, bytes);
      if (count == system::not_now) return true;
      if (count <= 0) return false;
      received_.append(bytes.data(), static_cast<std::size_t>(count));
    }
    // A client may have sent several requests at once.
    while (is_answering() || begin_answer(gate, resources)) {
      if (!send()) return false;
      if (is_answering()) return true;
      if (!keeps_open_) return false;
      deadline_ = Clock::now() + head_time;
    }
    return true;
  }

 private:
  [[nodiscard]] std::string_view unsent() const noexcept {
    return std::string_view(answer_).substr(sent_);
  }

  /// Whether there is a request of which the whole head is here, or too much of it.
  bool begin_answer(const Gate& gate, const Resources& resources) {
    const std::size_t end = received_.find("\r\n\r\n");
    if (std::min(end, received_.size()) > max_head_bytes) {
      refuse({431, "Request Header Fields Too Large"});
      return true;
    }
    if (end == std::string::npos) return false;
    Request request;
    const std::string_view head = std::string_view(received_).substr(0, end + 2);
    const std::optional<Refusal> refusal = read_request(head, gate, request);
    refusal ? refuse(*refusal) : answer(request, resources);
    received_.erase(0, end + 4);
    return true;
  }

  /// Refuses and closes: who asks for what is not there gets no second try on this connection.
  void refuse(const Refusal& refusal, const std::string& more = {}) {
    keeps_open_ = false;
    sent_ = 0;
    answer_ = fmt::format("HTTP/1.1 {} {}\r\n{}{}{}Content-Length: 0\r\nConnection: close\r\n\r\n",
                          refusal.status, refusal.reason, constant_headers,
                          refusal.status == 405 ? "Allow: GET, HEAD\r\n" : "", more);
  }

  void answer(const Request& request, const Resources& resources) {
    const auto found = resources.find(request.target);
    if (found == resources.end()) return refuse({404, "Not Found"});
    const Resource& resource = found->second;
    const std::uint64_t size = resource.source->size_bytes();
    const std::optional<Part> part = part_of(request.range, size);
    if (!part) {
      return refuse({416, "Range Not Satisfiable"},
                    fmt::format("Content-Range: bytes */{}\r\n", size));
    }
    keeps_open_ = request.keeps_open;
    sent_ = 0;
    const std::string range = request.range
                                  ? fmt::format("Content-Range: bytes {}-{}/{}\r\n", part->offset,
                                                part->offset + part->size - 1, size)
                                  : std::string();
    answer_ = fmt::format(
        "HTTP/1.1 {}\r\n{}{}Accept-Ranges: bytes\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
        "Connection: {}\r\n\r\n",
        request.range ? "206 Partial Content" : "200 OK", constant_headers, range, resource.type,
        part->size, keeps_open_ ? "keep-alive" : "close");
    source_ = resource.source.get();
    rest_ = request.is_head ? Part{} : *part;
  }

  /// Hands over a piece, or as much of it as the other side takes now; false if it has gone.
  bool send() {
    if (unsent().empty()) {
      answer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(rest_.size, piece_bytes)));
      sent_ = 0;
      // A file that became shorter: the connection ends, and the browser knows that bytes lack.
      const std::span<char> piece(answer_);
      if (!source_->read(rest_.offset, std::as_writable_bytes(piece))) return false;
      rest_ = {rest_.offset + answer_.size(), rest_.size - answer_.size()};
    }
    const std::ptrdiff_t count = system::send(socket_, unsent());
    if (count == system::not_now) return true;
    if (count < 0) return false;
    sent_ += static_cast<std::size_t>(count);
    deadline_ = Clock::now() + stall_time;
    return true;
  }

  system::Socket socket_;
  Clock::time_point deadline_ = Clock::now() + head_time;
  std::string received_;
  std::string answer_;
  std::size_t sent_ = 0;  ///< Bytes of `answer_`.
  const Source* source_ = nullptr;
  Part rest_;  ///< Of the source, to be sent after `answer_`.
  bool keeps_open_ = true;
};

using Connections = std::list<Connection>;

/// Takes in who waits. Where that would be too many, the one whose time ends first goes.
void accept_all(system::Socket listener, Connections& connections) {
  for (;;) {
    const system::Socket socket = system::accept_next(listener);
    if (socket == system::no_socket) return;
    if (connections.size() == max_connections) {
      connections.erase(std::min_element(
          connections.begin(), connections.end(),
          [](const Connection& a, const Connection& b) { return a.deadline() < b.deadline(); }));
    }
    connections.emplace_back(socket);
  }
}

}  // namespace

void add_content(Resources& resources, const std::string& name, std::string_view type,
                 std::string content) {
  Resource& resource = resources[name];
  resource = {type, std::move(content), nullptr};
  resource.source = borrow_memory(std::as_bytes(std::span(resource.content)));
}

Result<void> serve(system::Socket listener, const Gate& gate, const Resources& resources) {
  Connections connections;
  std::vector<system::Watched> watched;
  for (;;) {
    watched.assign(1, {listener});
    auto next = Clock::now() + head_time;
    for (const Connection& connection : connections) {
      watched.push_back({connection.socket(), connection.is_answering()});
      next = std::min(next, connection.deadline());
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    if (!system::watch(watched, static_cast<int>(std::max<std::int64_t>(left.count(), 0)))) {
      return fail(Errc::io_error, "127.0.0.1", std::generic_category().message(errno));
    }
    std::size_t place = 1;
    for (auto one = connections.begin(); one != connections.end(); ++place) {
      const bool lives =
          watched[place].is_ready ? one->go_on(gate, resources) : one->deadline() > Clock::now();
      one = lives ? std::next(one) : connections.erase(one);
    }
    if (watched.front().is_ready) accept_all(listener, connections);
  }
}

}  // namespace ingot::cli
