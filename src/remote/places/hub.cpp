// SPDX-License-Identifier: MIT
// The Hugging Face hub, and ModelScope, which has the same addresses for files.

#include "base/hexadecimal.hpp"
#include "remote/http/redirect.hpp"
#include "remote/places/json_answer.hpp"
#include "remote/places/place.hpp"

namespace ingot::remote {
namespace {

constexpr int max_pages = 100;
constexpr std::size_t max_files = 100'000;

bool is_commit(std::string_view revision) { return is_hexadecimal(revision, 40); }

/// The address of something below an endpoint.
Address below(const Address& endpoint, const std::string& path) {
  Address address = endpoint;
  while (address.path.ends_with('/')) address.path.pop_back();
  address.path += "/" + encode_path(path);
  return address;
}

/// The addresses of files in a folder below an endpoint, by their names.
std::function<Address(const std::string&)> files_below(const Address& endpoint,
                                                       const std::string& folder) {
  return
      [endpoint, folder](const std::string& name) { return below(endpoint, folder + "/" + name); };
}

std::string repository_of(const Reference& reference) {
  return reference.organisation + "/" + reference.repository;
}

Result<std::string> ask_for_commit(Client& client, const Address& endpoint,
                                   const Reference& reference) {
  if (is_commit(reference.revision)) return reference.revision;
  const Address address = below(endpoint, "api/models/" + repository_of(reference) + "/refs");
  INGOT_TRY(const auto answer, client.get({address}, max_json_bytes));
  return read_refs(answer.second, address.shown(), reference.revision);
}

/// Asks for the pages of a listing, and reads each by read_page(text, subject, items).
template <class Item, class ReadPage>
Result<std::vector<Item>> ask_for_pages(Client& client, Address page, const ReadPage& read_page) {
  std::vector<Item> items;
  for (int i = 0; i < max_pages; ++i) {
    INGOT_TRY(const auto answer, client.get({page}, max_json_bytes));
    INGOT_TRY_VOID(read_page(answer.second, page.shown(), items));
    const auto link = answer.first.headers.find("link");
    const auto next = link ? parse_next_link(*link) : std::nullopt;
    if (!next) return items;
    INGOT_TRY(Address target, resolve_location(page, *next));
    if (target.site() != page.site()) {
      return fail(Errc::answer_invalid, page.shown(), "its next page is on another site");
    }
    page = std::move(target);
  }
  return fail(Errc::answer_invalid, page.shown(),
              "the listing has more than " + std::to_string(max_pages) + " pages");
}

Result<std::vector<RemoteFile>> ask_for_tree(Client& client, const Address& endpoint,
                                             const Reference& reference,
                                             const std::string& commit) {
  Address page = below(endpoint, "api/models/" + repository_of(reference) + "/tree/" + commit);
  page.query = "recursive=true";
  return ask_for_pages<RemoteFile>(client, std::move(page), read_tree_page);
}

Result<Address> enter_hub(Client& client) {
  INGOT_TRY(Address endpoint, parse_address(client.options().hub_endpoint));
  client.add_named_site(endpoint);
  if (!client.options().hub_token.empty()) {
    client.add_credential(endpoint, "Authorization: Bearer " + client.options().hub_token);
  }
  return endpoint;
}

}  // namespace

Result<std::string> read_refs(std::string_view text, const std::string& subject,
                              const std::string& revision) {
  INGOT_TRY(const nlohmann::json refs, parse_json_answer(text, subject));
  std::string first;
  for (const char* const kind : {"branches", "tags"}) {
    for (const nlohmann::json& entry : list_member(refs, kind)) {
      const std::string commit = text_member(entry, "targetCommit");
      if (!is_commit(commit)) continue;
      if (text_member(entry, "name") == (revision.empty() ? "main" : revision)) return commit;
      if (first.empty()) first = commit;
    }
  }
  if (!revision.empty()) return revision;  // such as refs/pr/1
  if (first.empty()) return fail(Errc::answer_invalid, subject, "the repository has no branch");
  return first;
}

Result<void> read_tree_page(std::string_view text, const std::string& subject,
                            std::vector<RemoteFile>& files) {
  INGOT_TRY(const nlohmann::json tree, parse_json_answer(text, subject));
  if (!tree.is_array()) return fail(Errc::answer_invalid, subject, "expected a list of files");
  for (const nlohmann::json& entry : tree) {
    RemoteFile file = file_of(entry, "path", "size", "sha256");
    if (text_member(entry, "type") != "file" || !is_safe_path(file.name)) continue;
    if (entry.contains("lfs")) {
      const RemoteFile stored = file_of(entry["lfs"], "path", "size", "oid");
      file.sha256 = stored.sha256;
      if (stored.size_bytes) file.size_bytes = stored.size_bytes;
    }
    if (files.size() == max_files) return fail(Errc::answer_invalid, subject, "too many files");
    files.push_back(std::move(file));
  }
  return {};
}

Result<void> read_repositories_page(std::string_view text, const std::string& subject,
                                    std::vector<std::string>& references) {
  INGOT_TRY(const nlohmann::json list, parse_json_answer(text, subject));
  if (!list.is_array()) return fail(Errc::answer_invalid, subject, "expected a list of models");
  for (const nlohmann::json& entry : list) {
    const Result<Reference> reference = parse_hub_reference(text_member(entry, "id"));
    if (!reference || !reference->path.empty()) continue;
    if (references.size() == max_files) {
      return fail(Errc::answer_invalid, subject, "too many repositories");
    }
    references.push_back(reference->display());
  }
  return {};
}

Result<std::vector<std::string>> list_hub_repositories(Client& client,
                                                       const std::string& organisation) {
  INGOT_TRY(const Address endpoint, enter_hub(client));
  Address page = below(endpoint, "api/models");
  page.query = "author=" + encode_value(organisation) + "&filter=gguf&limit=1000";
  return ask_for_pages<std::string>(client, std::move(page), read_repositories_page);
}

Result<Place> find_in_hub(Client& client, const Reference& reference, Choice choice) {
  INGOT_TRY(const Address endpoint, enter_hub(client));
  Place place;
  INGOT_TRY(place.commit, ask_for_commit(client, endpoint, reference));
  place.is_immutable = is_commit(place.commit);
  place.name = reference.path;
  place.address_of = files_below(endpoint, repository_of(reference) + "/resolve/" + place.commit);
  if (!reference.path.empty()) return place;
  INGOT_TRY(place.files, ask_for_tree(client, endpoint, reference, place.commit));
  place.is_listed = true;
  if (choice == Choice::one) {
    INGOT_TRY(place.name, choose_file(place.files, reference));
  }
  return place;
}

Result<Place> find_in_model_scope(Client& client, const Reference& reference, Choice choice) {
  INGOT_TRY(const Address endpoint, parse_address(client.options().model_scope_endpoint));
  client.add_named_site(endpoint);
  const std::string revision = reference.revision.empty() ? "master" : reference.revision;
  Place place;
  place.is_immutable = is_commit(revision);
  place.name = reference.path;
  place.address_of =
      files_below(endpoint, "models/" + repository_of(reference) + "/resolve/" + revision);
  if (reference.path.empty()) {
    Address listing = below(endpoint, "api/v1/models/" + repository_of(reference) + "/repo/files");
    listing.query = "Revision=" + encode_value(revision) + "&Recursive=true";
    INGOT_TRY(const auto answer, client.get({listing}, max_json_bytes));
    INGOT_TRY(const nlohmann::json parsed, parse_json_answer(answer.second, listing.shown()));
    const nlohmann::json data =
        parsed.is_object() ? parsed.value("Data", nlohmann::json()) : parsed;
    for (const nlohmann::json& entry : list_member(data, "Files")) {
      RemoteFile file = file_of(entry, "Path", "Size", "Sha256");
      if (text_member(entry, "Type") != "blob" || !is_safe_path(file.name)) continue;
      place.files.push_back(std::move(file));
    }
    place.is_listed = true;
    if (choice == Choice::all) return place;
    INGOT_TRY(place.name, choose_file(place.files, reference));
  }
  return place;
}

Result<Place> find_on_web(const Reference& reference) {
  INGOT_TRY(const Address address, parse_address(reference.address));
  const std::size_t slash = address.path.rfind('/');
  Place place;
  place.name = address.path.substr(slash + 1);
  if (place.name.empty()) {
    return fail(Errc::reference_invalid, address.shown(), "the address names no file");
  }
  place.address_of = [address, slash](const std::string& name) {
    Address other = address;
    other.path = address.path.substr(0, slash + 1) + name;
    return other;
  };
  return place;
}

}  // namespace ingot::remote
