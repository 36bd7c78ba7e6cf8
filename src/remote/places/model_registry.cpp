// SPDX-License-Identifier: MIT
// The registry of Ollama: a manifest names the blobs of a model by their digests.

#include "remote/places/json_answer.hpp"
#include "remote/places/place.hpp"

namespace ingot::remote {
namespace {

constexpr std::string_view model_layer = "application/vnd.ollama.image.model";
constexpr std::string_view docker_model_layer = "application/vnd.docker.ai.gguf.v3";

/// "ollama.ai" of "registry.ollama.ai"; numbers and names without a dot stand for themselves.
std::string_view site_name(std::string_view host) {
  const bool is_number = host.find_first_not_of("0123456789.:[]abcdef") == std::string_view::npos;
  const std::size_t last = host.rfind('.');
  if (is_number || last == std::string_view::npos || last == 0) return host;
  const std::size_t before = host.rfind('.', last - 1);
  return before == std::string_view::npos ? host : host.substr(before + 1);
}

/// Asks for a token where a registry says it is given, if that is a place of the registry's own.
Result<void> log_in(Client& client, const Answer& answer) {
  const auto header = answer.headers.find("www-authenticate");
  const auto challenge = header ? parse_bearer_challenge(*header) : std::nullopt;
  if (!challenge) {
    return fail(Errc::remote_denied, answer.address.shown(),
                "it wants a way to log in that is not known");
  }
  Result<Address> realm = parse_address(challenge->realm);
  const bool is_trusted = realm && (realm->is_https || realm->is_loopback()) &&
                          site_name(realm->host) == site_name(answer.address.host);
  if (!is_trusted) {
    return fail(Errc::remote_denied, answer.address.shown(),
                "it sends to another site to log in, which is not followed");
  }
  if (!realm->query.empty()) realm->query += "&";
  realm->query +=
      "service=" + encode_value(challenge->service) + "&scope=" + encode_value(challenge->scope);
  INGOT_TRY(const auto given, client.get({*realm}, max_json_bytes));
  INGOT_TRY(const nlohmann::json parsed, parse_json_answer(given.second, realm->shown()));
  std::string token = text_member(parsed, "token");
  if (token.empty()) token = text_member(parsed, "access_token");
  if (token.empty()) return fail(Errc::remote_denied, realm->shown(), "it gives no token");
  client.add_credential(answer.address, "Authorization: Bearer " + token);
  return {};
}

/// The manifest, after logging in if that is wanted.
Result<std::string> ask_for_manifest(Client& client, const Request& request) {
  for (int i = 0; i < 2; ++i) {
    Request attempt = request;
    if (i == 0) attempt.accepted_status = 401;
    INGOT_TRY(auto answer, client.get(attempt, max_json_bytes));
    if (answer.first.status != 401) return std::move(answer.second);
    INGOT_TRY_VOID(log_in(client, answer.first));
  }
  return fail(Errc::internal, "registry");
}

}  // namespace

Result<RemoteFile> read_manifest(std::string_view text, const std::string& subject) {
  INGOT_TRY(const nlohmann::json manifest, parse_json_answer(text, subject));
  for (const nlohmann::json& layer : list_member(manifest, "layers")) {
    const std::string kind = text_member(layer, "mediaType");
    if (kind != model_layer && kind != docker_model_layer) continue;
    std::string sha256 = parse_digest(text_member(layer, "digest"));
    if (sha256.empty()) return fail(Errc::answer_invalid, subject, "a layer has no valid digest");
    return RemoteFile{{}, number_member(layer, "size"), std::move(sha256), {}};
  }
  return fail(Errc::answer_invalid, subject, "the manifest has no layer with a model");
}

Result<Place> find_in_registry(Client& client, const Reference& reference) {
  std::string base = client.options().registry;
  if (!reference.host.empty()) base = "https://" + reference.host;
  INGOT_TRY(Address registry, parse_address(base));
  if (!reference.host.empty() && registry.is_loopback()) {
    INGOT_TRY(registry, parse_address("http://" + reference.host));
  }
  client.add_named_site(registry);
  while (registry.path.ends_with('/')) registry.path.pop_back();
  registry.path += "/v2/" + reference.name_space + "/" + reference.model;

  Request request{registry, {"Accept: application/vnd.docker.distribution.manifest.v2+json"}};
  request.address.path +=
      "/manifests/" + (reference.digest.empty() ? reference.tag : reference.digest);
  INGOT_TRY(const std::string manifest, ask_for_manifest(client, request));
  INGOT_TRY(RemoteFile file, read_manifest(manifest, request.address.shown()));
  Place place;
  file.name = reference.model + "-" +
              (reference.digest.empty() ? reference.tag : file.sha256.substr(0, 12)) + ".gguf";
  place.name = file.name;
  registry.path += "/blobs/sha256:" + file.sha256;
  place.files = {std::move(file)};
  place.is_listed = true;
  place.is_immutable = true;
  place.address_of = [registry](const std::string&) { return registry; };
  return place;
}

}  // namespace ingot::remote
