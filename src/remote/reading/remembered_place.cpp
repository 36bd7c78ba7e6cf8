// SPDX-License-Identifier: MIT
#include <map>

#include "remote/places/json_answer.hpp"
#include "remote/reading/store_state.hpp"

namespace ingot::remote {
namespace {

constexpr std::uint64_t place_layout_version = 1;

const std::string& server_of(const RemoteOptions& options, const Reference& reference) {
  if (reference.kind == ReferenceKind::registry) return options.registry;
  return reference.kind == ReferenceKind::model_scope ? options.model_scope_endpoint
                                                      : options.hub_endpoint;
}

}  // namespace

std::string place_name(const RemoteOptions& options, const Reference& reference) {
  if (reference.kind == ReferenceKind::web) return {};  // its address is all there is to know
  const Result<Address> server = parse_address(server_of(options, reference));
  return server ? server->site() + server->path + "\n" + reference.display() : std::string();
}

std::string write_place(const Place& place, std::span<const RemoteFile> files) {
  nlohmann::json notes = {{"version", place_layout_version},
                          {"name", place.name},
                          {"commit", place.commit},
                          {"immutable", place.is_immutable},
                          {"files", nlohmann::json::array()}};
  for (const RemoteFile& file : files) {
    const Address address = place.address_of(file.name);
    nlohmann::json entry = {{"name", file.name}, {"address", address.site() + address.path}};
    if (file.size_bytes) entry["size"] = *file.size_bytes;
    if (!file.sha256.empty()) entry["sha256"] = file.sha256;
    notes["files"].push_back(std::move(entry));
  }
  return json_line(notes);
}

std::optional<Place> read_place(std::string_view text) {
  const Result<nlohmann::json> notes = parse_json_answer(text, "cache");
  if (!notes || number_member(*notes, "version") != place_layout_version) return std::nullopt;
  Place place;
  place.name = text_member(*notes, "name");
  place.commit = text_member(*notes, "commit");
  place.is_listed = true;
  place.is_immutable = flag_member(*notes, "immutable");
  std::map<std::string, Address> addresses;
  for (const nlohmann::json& entry : list_member(*notes, "files")) {
    RemoteFile file = file_of(entry, "name", "size", "sha256");
    Result<Address> address = parse_address(text_member(entry, "address"));
    if (!is_safe_path(file.name) || !address) return std::nullopt;
    addresses.insert_or_assign(file.name, *std::move(address));
    place.files.push_back(std::move(file));
  }
  if (!addresses.contains(place.name)) return std::nullopt;
  place.address_of = [addresses](const std::string& name) {
    const auto found = addresses.find(name);
    return found == addresses.end() ? Address() : found->second;
  };
  return place;
}

}  // namespace ingot::remote
