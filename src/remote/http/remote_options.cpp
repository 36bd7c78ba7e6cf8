// SPDX-License-Identifier: MIT
// What the environment says about remote reading.

#include "ingot/remote_options.hpp"

#include <array>
#include <cstdlib>
#include <string>

#include "ingot/source.hpp"

namespace ingot {
namespace {

constexpr std::uint64_t max_token_bytes = 4096;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// The first line of a small file; empty if there is none.
std::string first_line_of(const std::string& path) {
  const Result<std::unique_ptr<Source>> source = read_file(path);
  if (!source || (*source)->size_bytes() > max_token_bytes) return {};
  std::string text(static_cast<std::size_t>((*source)->size_bytes()), '\0');
  if (!(*source)->read(0, std::as_writable_bytes(std::span(text)))) return {};
  return text.substr(0, text.find_first_of("\r\n \t"));
}

std::string find_token(const std::string& hub_home) {
  if (std::string token = environment("HF_TOKEN"); !token.empty()) return token;
  const std::string path = environment("HF_TOKEN_PATH");
  if (!path.empty()) return first_line_of(path);
  return hub_home.empty() ? std::string() : first_line_of(hub_home + "/token");
}

}  // namespace

std::string remote_cache_folder() {
  if (std::string own = environment("INGOT_CACHE"); !own.empty()) return own;
  if (const std::string caches = environment("XDG_CACHE_HOME"); !caches.empty()) {
    return caches + "/ingot";
  }
  const std::string home = environment("HOME");
  return home.empty() ? std::string() : home + "/.cache/ingot";
}

RemoteOptions remote_options() {
  RemoteOptions options;
  for (const char* const name : {"HF_ENDPOINT", "MODEL_ENDPOINT"}) {
    if (std::string value = environment(name); !value.empty()) options.hub_endpoint = value;
  }
  if (std::string value = environment("MS_ENDPOINT"); !value.empty()) {
    options.model_scope_endpoint = value;
  }
  if (std::string value = environment("INGOT_OLLAMA_REGISTRY"); !value.empty()) {
    options.registry = value;
  }
  options.cache_folder = remote_cache_folder();
  const std::string home = environment("HOME");
  std::string cache_home = environment("XDG_CACHE_HOME");
  if (cache_home.empty() && !home.empty()) cache_home = home + "/.cache";
  std::string hub_home = environment("HF_HOME");
  if (hub_home.empty() && !cache_home.empty()) hub_home = cache_home + "/huggingface";
  options.hub_token = find_token(hub_home);
  const std::string hub_cache = environment("HF_HUB_CACHE");
  if (!hub_cache.empty()) {
    options.hub_caches.push_back(hub_cache);
  } else if (!hub_home.empty()) {
    options.hub_caches.push_back(hub_home + "/hub");
  }
  options.ollama_models = environment("OLLAMA_MODELS");
  if (options.ollama_models.empty() && !home.empty()) {
    options.ollama_models = home + "/.ollama/models";
  }
  return options;
}

}  // namespace ingot
