// SPDX-License-Identifier: MIT
#include <CommonCrypto/CommonDigest.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "digest/sha_contexts.hpp"

namespace ingot::digest {
namespace {

/// Adds bytes by calls that count them in 32 bits.
template <class Context, auto add>
void add_in_pieces(Context* context, const void* data, std::size_t bytes) noexcept {
  constexpr std::size_t most_of_a_call = std::numeric_limits<CC_LONG>::max();
  const auto* next = static_cast<const std::byte*>(data);
  while (bytes != 0) {
    const std::size_t piece = std::min(bytes, most_of_a_call);
    add(context, next, static_cast<CC_LONG>(piece));
    next += piece;
    bytes -= piece;
  }
}

}  // namespace

std::unique_ptr<ShaEngine> make_sha_engine(ShaKind kind) {
  using Sha256 =
      ContextSha<CC_SHA256_CTX, CC_SHA256_Init, add_in_pieces<CC_SHA256_CTX, CC_SHA256_Update>,
                 CC_SHA256_Final, CC_SHA256_DIGEST_LENGTH>;
  using Sha1 = ContextSha<CC_SHA1_CTX, CC_SHA1_Init, add_in_pieces<CC_SHA1_CTX, CC_SHA1_Update>,
                          CC_SHA1_Final, CC_SHA1_DIGEST_LENGTH>;
  if (kind == ShaKind::sha256) return std::make_unique<Sha256>();
  return std::make_unique<Sha1>();
}

}  // namespace ingot::digest
