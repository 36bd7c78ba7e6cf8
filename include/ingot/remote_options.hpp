// SPDX-License-Identifier: MIT
// Options for reading remote models (target ingot::remote).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ingot/export.h"

namespace ingot {

/// The times that a server may take.
struct RemoteTimes {
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds first_byte{30'000};  ///< The time from the connection to the answer.
  std::chrono::milliseconds stall{30'000};       ///< The time at less than 1 KiB each second; whole
                                                 ///< seconds.
  std::chrono::milliseconds header{120'000};     ///< The time for opening a model, all requests
                                                 ///< together.
  std::chrono::milliseconds first_wait{500};     ///< The wait before a retry; doubled for each
                                                 ///< later one.
};

/// A part of a file.
struct FileRange {
  std::uint64_t file_offset = 0;
  std::uint64_t size_bytes = 0;
};

/// One request that has ended, for logs.
struct RemoteRequest {
  std::string address;  ///< Safe to print: without password and query.
  std::string range;    ///< "0-1048575", or empty.
  int status = 0;       ///< 0: there was no answer.
  std::uint64_t body_bytes = 0;
  std::chrono::microseconds time{0};
};

/// The traffic so far.
struct RemoteTraffic {
  std::uint64_t requests = 0;
  std::uint64_t body_bytes = 0;
  std::uint64_t connections = 0;
  std::uint64_t retries = 0;
  // --- of those, the ranges of files at the addresses where they are in the end
  std::uint64_t file_requests = 0;
  std::uint64_t file_bytes = 0;
};

struct RemoteOptions {
  std::string hub_endpoint = "https://huggingface.co";
  std::string hub_token;  ///< Sent to `hub_endpoint` alone, over https or to this machine.
  std::string model_scope_endpoint = "https://www.modelscope.cn";
  std::string registry = "https://registry.ollama.ai";
  std::string revision;                   ///< The revision of references that name none.
  std::vector<std::string> headers = {};  ///< "Name: value"; for the first site alone.
  RemoteTimes times = {};
  int max_retries = 5;          ///< Retries in a row without progress.
  bool allows_private = false;  ///< Redirects may lead into local networks.
  bool checks_certificates = true;
  bool uses_netrc = false;
  bool is_offline = false;  ///< Whether to use only files that are on this system already.
  /// Folders in which the hub's own programs and Ollama keep files; they are read, never written.
  std::vector<std::string> hub_caches = {};
  std::string ollama_models;
  /// The folder that keeps headers (remote_cache.hpp); empty: none. `remote_options` names the
  /// usual folder.
  std::string cache_folder;
  /// Bytes of bodies that reading may take in all; then Errc::too_much_to_fetch.
  std::uint64_t max_fetch_bytes = ~std::uint64_t{0};
  std::function<bool()> should_stop = {};  ///< Asked while waiting; true: Errc::interrupted.
  std::function<void(const RemoteRequest&)> on_request = {};  ///< Called on any thread, one call at
                                                              ///< a time.
};

/// The options from the environment: HF_ENDPOINT, MODEL_ENDPOINT, HF_TOKEN and the files of tokens,
/// MS_ENDPOINT, INGOT_OLLAMA_REGISTRY, and the caches. docs/remote.md lists all.
[[nodiscard]] INGOT_EXPORT RemoteOptions remote_options();

/// The folder where headers are kept: $INGOT_CACHE, else $XDG_CACHE_HOME/ingot, else
/// ~/.cache/ingot. Empty if the environment names none.
[[nodiscard]] INGOT_EXPORT std::string remote_cache_folder();

/// A file that a store offers, as its server describes it.
struct RemoteFile {
  std::string name;
  std::optional<std::uint64_t> size_bytes;
  std::string sha256;      ///< 64 digits, or empty.
  std::string local_path;  ///< The path of the file on this system, if it is there already; or
                           ///< empty.
};

}  // namespace ingot
