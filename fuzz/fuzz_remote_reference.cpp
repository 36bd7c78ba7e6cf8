// SPDX-License-Identifier: MIT
// Property: any text is refused as a reference or taken apart into parts that lead out of no folder
// and hold no control character; what is shown of it is read as a reference again.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingot/download.hpp"
#include "ingot/reference.hpp"
#include "remote/address/address.hpp"
#include "remote/http/redirect.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

void check_address(const ingot::remote::Address& address) {
  require(is_printable(address.url()) && is_printable(address.shown()));
  require(!address.host.empty() && address.path.starts_with('/') && address.port != 0);
  const auto again = ingot::remote::parse_address(address.url());
  require(again && again->url() == address.url());
}

void check(const ingot::Reference& reference) {
  using ingot::ReferenceKind;
  const std::string shown = reference.display();
  if (reference.kind == ReferenceKind::local) return;
  if (reference.kind == ReferenceKind::web) {
    check_address(*ingot::remote::parse_address(reference.address));
    return;
  }
  for (const std::string* name :
       {&reference.organisation, &reference.repository, &reference.model}) {
    require(name->find('/') == std::string::npos && *name != ".." && *name != ".");
  }
  require(reference.path.empty() || ingot::remote::is_safe_path(reference.path));
  const auto again = ingot::parse_reference(shown);
  require(again && again->organisation == reference.organisation &&
          again->model == reference.model && again->digest == reference.digest);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& parsed : {ingot::parse_reference(text), ingot::parse_hub_reference(text)}) {
    if (parsed) {
      check(*parsed);
    } else {
      require(parsed.error().code == ingot::Errc::reference_invalid);
    }
  }
  static_cast<void>(ingot::is_hub_name(text));
  static_cast<void>(ingot::is_remote_reference(text));
  if (const auto name = ingot::local_name(std::string(text))) {
    require(ingot::remote::is_safe_segment(*name));
  }
  const auto base = ingot::remote::parse_address("https://example.org/a/b?c");
  const auto target = ingot::remote::resolve_location(*base, text);
  if (target) {
    require(target->is_https && target->user_info.empty());
    check_address(*target);
  }
  return 0;
}
