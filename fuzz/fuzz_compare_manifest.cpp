// SPDX-License-Identifier: MIT
// Property: any text is refused with an ordinary error or read as a manifest whose digests have the
// length of their algorithm and whose tensors have different names.

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "ingot/digest_manifest.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const ingot::DigestSet& digests) {
  for (const ingot::DigestAlgorithmInfo& info : ingot::digest_algorithms) {
    const std::string& digits = digests[info.algorithm];
    require(digits.empty() || digits.size() == 2 * info.digest_bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto entries = ingot::parse_digest_manifest(text);
  if (!entries) {
    require(entries.error().code == ingot::Errc::manifest_invalid);
    return 0;
  }
  for (const ingot::ManifestEntry& entry : *entries) {
    check(entry.digests);
    check(entry.weights);
    require(entry.uuid.empty() || entry.uuid.size() == 36);
    std::set<std::string_view> names;
    for (const ingot::NamedDigests& tensor : entry.tensors) {
      check(tensor.digests);
      require(names.insert(tensor.name).second);
    }
    static_cast<void>(ingot::request_for(entry));
  }
  return 0;
}
