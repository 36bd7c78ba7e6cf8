// SPDX-License-Identifier: MIT
#include "ingot/reference.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/ascii.hpp"
#include "ingot/text.hpp"
#include "remote/address/address.hpp"

namespace ingot {
namespace {

using remote::Address;

constexpr std::size_t max_name_bytes = 96;

Failure refuse(std::string_view text, std::string detail) {
  return fail(Errc::reference_invalid, std::string(text), std::move(detail));
}

/// A name of a hub: a letter or digit, then also `-`, `_` and `.`.
bool is_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_name_bytes && is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

/// Part of the text before a separator, which is removed with it; all if there is none.
std::string_view take_until(std::string_view& text, char separator) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return taken;
}

/// Takes what follows the last `mark` away from the text; nothing if there is none.
std::optional<std::string> take_after(std::string_view& text, char mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::string taken(text.substr(at + 1));
  text = text.substr(0, at);
  return taken;
}

/// ORG/REPO[@REV][:QUANT] or ORG/REPO[@REV]/PATH, without its prefix.
Result<Reference> parse_repository(ReferenceKind kind, std::string_view text,
                                   std::string_view whole) {
  Reference reference;
  reference.kind = kind;
  reference.organisation = take_until(text, '/');
  const std::size_t slash = text.find('/');
  std::string_view repository = text.substr(0, slash);
  if (slash != std::string_view::npos) reference.path = text.substr(slash + 1);
  if (slash == std::string_view::npos) {
    if (auto quantization = take_after(repository, ':')) {
      reference.quantization = *std::move(quantization);
      if (!is_name(reference.quantization)) return refuse(whole, "no name follows the colon");
    }
  }
  if (auto revision = take_after(repository, '@')) {
    reference.revision = *std::move(revision);
    if (!remote::is_safe_segment(reference.revision))
      return refuse(whole, "no revision follows the @");
  }
  reference.repository = repository;
  if (!is_name(reference.organisation) || !is_name(reference.repository)) {
    return refuse(whole,
                  "expected ORGANISATION/REPOSITORY, each of letters, digits, '-', '_' and "
                  "'.', at most 96 of them");
  }
  if (slash != std::string_view::npos && !remote::is_safe_path(reference.path)) {
    return refuse(whole,
                  "the path has a part that is empty, '.' or '..', or a forbidden character");
  }
  return reference;
}

bool is_host_and_port(std::string_view text) {
  return remote::parse_address("http://" + std::string(text) + "/").has_value() &&
         text.find_first_of("@/?#") == std::string_view::npos;
}

/// [HOST/][NS/]MODEL[:TAG][@sha256:HEX], without its prefix.
Result<Reference> parse_registry(std::string_view text, std::string_view whole) {
  Reference reference;
  reference.kind = ReferenceKind::registry;
  reference.name_space = "library";
  reference.tag = "latest";
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    const std::string sha256 = remote::parse_digest(text.substr(at + 1));
    if (sha256.empty()) return refuse(whole, "after @ comes sha256: and 64 digits");
    reference.digest = "sha256:" + sha256;
    text = text.substr(0, at);
  }
  const auto slashes = std::count(text.begin(), text.end(), '/');
  if (slashes > 2) return refuse(whole, "expected [HOST/][NAMESPACE/]MODEL[:TAG]");
  if (slashes == 2) {
    reference.host = take_until(text, '/');
    if (!is_host_and_port(reference.host)) return refuse(whole, "the registry has no valid name");
  }
  if (slashes >= 1) reference.name_space = take_until(text, '/');
  if (text.find(':') != std::string_view::npos) {
    reference.tag = *take_after(text, ':');
  }
  reference.model = text;
  if (!is_name(reference.name_space) || !is_name(reference.model) || !is_name(reference.tag)) {
    return refuse(whole,
                  "expected [HOST/][NAMESPACE/]MODEL[:TAG], of letters, digits, '-', '_' "
                  "and '.'");
  }
  return reference;
}

constexpr std::array<std::string_view, 4> hub_hosts = {"huggingface.co", "www.huggingface.co",
                                                       "hf.co", "hf-mirror.com"};

/// A page of the hub as the file or repository that it shows; nothing for other addresses.
std::optional<Result<Reference>> parse_hub_page(const Address& address, std::string_view whole) {
  if (std::find(hub_hosts.begin(), hub_hosts.end(), address.host) == hub_hosts.end()) {
    return std::nullopt;
  }
  std::string_view rest = std::string_view(address.path).substr(1);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const std::string_view organisation = take_until(rest, '/');
  const std::string_view repository = take_until(rest, '/');
  if (!is_name(organisation) || !is_name(repository) || organisation == "api") return std::nullopt;
  std::string name = std::string(organisation) + "/" + std::string(repository);
  if (rest.empty()) return parse_repository(ReferenceKind::hub, name, whole);
  const std::string_view view = take_until(rest, '/');
  const std::string_view revision = take_until(rest, '/');
  if (view == "tree" && rest.empty() && !revision.empty()) {
    return parse_repository(ReferenceKind::hub, name + "@" + std::string(revision), whole);
  }
  if (view != "blob" || rest.empty()) return std::nullopt;  // a file's own address stays as it is
  if (rest.find('%') != std::string_view::npos) {
    return Failure(refuse(whole,
                          "write the file as hf://ORGANISATION/REPOSITORY@REVISION/PATH, "
                          "without %"));
  }
  return parse_repository(ReferenceKind::hub,
                          name + "@" + std::string(revision) + "/" + std::string(rest), whole);
}

Result<Reference> parse_web(std::string_view text) {
  INGOT_TRY(const Address address, remote::parse_address(text));
  if (auto page = parse_hub_page(address, address.shown())) return *std::move(page);
  Reference reference;
  reference.kind = ReferenceKind::web;
  reference.address = text;
  return reference;
}

Result<Reference> parse_file(std::string_view text) {
  std::string_view path = text.substr(std::string_view("file://").size());
  if (path.starts_with("localhost/")) path.remove_prefix(std::string_view("localhost").size());
  if (!path.starts_with('/')) return refuse(text, "expected file:///PATH");
  Reference reference;
  reference.path = remote::decode_percents(path);
  if (reference.path.find('\0') != std::string::npos) return refuse(text, "a path holds no NUL");
  return reference;
}

/// How the kinds begin.
struct Prefix {
  std::string_view text;
  ReferenceKind kind;
};
constexpr std::array<Prefix, 7> prefixes = {{
    {"http://", ReferenceKind::web},
    {"https://", ReferenceKind::web},
    {"hf://", ReferenceKind::hub},
    {"hf:", ReferenceKind::hub},
    {"ollama://", ReferenceKind::registry},
    {"ollama:", ReferenceKind::registry},
    {"ms:", ReferenceKind::model_scope},
}};

const Prefix* find_prefix(std::string_view text) noexcept {
  const auto found = std::find_if(prefixes.begin(), prefixes.end(), [&](const Prefix& prefix) {
    if (text.size() < prefix.text.size()) return false;
    return std::equal(prefix.text.begin(), prefix.text.end(), text.begin(),
                      [](char a, char b) { return a == lower_case(b); });
  });
  return found == prefixes.end() ? nullptr : &*found;
}

}  // namespace

bool is_remote_reference(std::string_view text) noexcept { return find_prefix(text) != nullptr; }

bool is_hub_name(std::string_view text) noexcept {
  const std::string_view organisation = take_until(text, '/');
  const std::string_view repository = take_until(text, ':');
  const bool has_quantization = text.data() != nullptr && !text.empty();
  return is_name(organisation) && is_name(repository) && (!has_quantization || is_name(text));
}

Result<Reference> parse_hub_reference(std::string_view text) {
  return parse_repository(ReferenceKind::hub, text, text);
}

Result<Reference> parse_reference(std::string_view text) {
  if (text.starts_with("file://")) return parse_file(text);
  const Prefix* const prefix = find_prefix(text);
  if (prefix == nullptr) {
    Reference reference;
    reference.path = text;
    return reference;
  }
  if (text.size() > remote::max_address_bytes) return refuse(prefix->text, "it is too long");
  const std::string_view rest = text.substr(prefix->text.size());
  switch (prefix->kind) {
    case ReferenceKind::web:
      return parse_web(text);
    case ReferenceKind::registry:
      return parse_registry(rest, text);
    default:
      return parse_repository(prefix->kind, rest, text);
  }
}

std::string Reference::display() const {
  switch (kind) {
    case ReferenceKind::local:
      return escape(path);
    case ReferenceKind::web: {
      const Result<Address> parsed = remote::parse_address(address);
      return parsed ? parsed->shown() : std::string();
    }
    case ReferenceKind::registry:
      return "ollama:" + (host.empty() ? "" : host + "/") +
             (name_space == "library" && host.empty() ? "" : name_space + "/") + model +
             (digest.empty() ? ":" + tag : "@" + digest);
    default:
      return (kind == ReferenceKind::hub ? "hf:" : "ms:") + organisation + "/" + repository +
             (revision.empty() ? "" : "@" + escape(revision)) +
             (path.empty() ? "" : "/" + escape(path)) +
             (quantization.empty() ? "" : ":" + quantization);
  }
}

}  // namespace ingot
