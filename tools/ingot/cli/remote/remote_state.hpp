// SPDX-License-Identifier: MIT
// What RemoteModels holds.
#pragma once

#include <chrono>
#include <deque>
#include <ingot/remote.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/remote_models.hpp"

namespace ingot::cli {

struct RemoteModels::State {
  // --- options of the user
  std::string revision;
  std::string token_file;
  std::vector<std::string> headers;
  bool is_offline = false;
  bool allows_all_bytes = false;
  bool allows_private = false;
  bool is_insecure = false;
  bool uses_no_cache = false;
  bool uses_netrc = false;
  unsigned connect_seconds = 10;
  unsigned answer_seconds = 30;
  unsigned stall_seconds = 30;
  unsigned open_seconds = 120;
  unsigned retries = 5;
  // --- state
  std::map<std::string, std::string> secrets;  ///< Arguments as they are printed, and in full.
  std::deque<std::pair<std::string, RemoteStore>> stores;  ///< The stores by their arguments; they
                                                           ///< stay open.
  std::optional<std::chrono::steady_clock::time_point> first_request;
  std::mutex mutex;
  std::vector<RemoteRequest> requests;  ///< Requests without a remark so far.

  [[nodiscard]] Result<RemoteOptions> options();  // thread-safe
  [[nodiscard]] Result<Reference> reference_of(const std::string& argument) const;
  [[nodiscard]] RemoteStore* find_repository(const std::string& argument);
  [[nodiscard]] Result<RemoteStore*> open_repository(Console& console, const std::string& argument,
                                                     const Reference& reference);
  void remark(Console& console, const std::string& argument, const Reference& reference) const;
  void report_requests(Console& console, const std::string& argument);
  [[nodiscard]] Result<RemoteStore*> keep(Console& console, const std::string& argument,
                                          Result<RemoteStore> store);
  [[nodiscard]] Result<void> permit(Console& console, const std::string& argument,
                                    std::uint64_t size_bytes) const;
};

}  // namespace ingot::cli
