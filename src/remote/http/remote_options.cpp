// SPDX-License-Identifier: MIT
// What the environment says about remote reading.

#include "ingot/remote_options.hpp"

#include <utility>

#include "remote/http/credentials.hpp"
#include "remote/http/environment.hpp"

namespace ingot {
namespace {

using remote::environment;

/// Sets an option if the environment has a value for it.
void take_environment(const char* name, std::string& option) {
  if (std::string value = environment(name); !value.empty()) option = std::move(value);
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
  take_environment("HF_ENDPOINT", options.hub_endpoint);
  take_environment("MODEL_ENDPOINT", options.hub_endpoint);
  take_environment("MS_ENDPOINT", options.model_scope_endpoint);
  take_environment("INGOT_OLLAMA_REGISTRY", options.registry);
  options.cache_folder = remote_cache_folder();
  const std::string home = environment("HOME");
  std::string cache_home = home.empty() ? std::string() : home + "/.cache";
  take_environment("XDG_CACHE_HOME", cache_home);
  std::string hub_home = cache_home.empty() ? std::string() : cache_home + "/huggingface";
  take_environment("HF_HOME", hub_home);
  options.hub_token =
      remote::find_hub_token(environment("HF_TOKEN"), environment("HF_TOKEN_PATH"), hub_home);
  std::string hub_cache = hub_home.empty() ? std::string() : hub_home + "/hub";
  take_environment("HF_HUB_CACHE", hub_cache);
  if (!hub_cache.empty()) options.hub_caches.push_back(hub_cache);
  if (!home.empty()) options.ollama_models = home + "/.ollama/models";
  take_environment("OLLAMA_MODELS", options.ollama_models);
  return options;
}

}  // namespace ingot
