// SPDX-License-Identifier: MIT
#include "ingot/digest.hpp"

// Uses the functions of one algorithm instead of the EVP interface. EVP brings every other
// algorithm of OpenSSL into a static program (4 MB, and 0.3 ms at every start), reads a
// configuration file on first use, and computes with the same code.
#define OPENSSL_API_COMPAT 10100
#include <openssl/sha.h>

// xxHash is compiled in from its header, so that users of this library link no other one.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>
#include <variant>

#include "base/hexadecimal.hpp"
#include "ingot/xet.hpp"

namespace ingot {
namespace {

template <std::size_t size>
std::string digits_of(const unsigned char (&bytes)[size]) {
  std::string digits;
  for (const unsigned char byte : bytes) digits += hexadecimal(byte, 2);
  return digits;
}

// One class for each algorithm: begin, update, end. None of these functions can fail.

template <class Context, auto init, auto add, auto close, std::size_t digest_bytes>
struct Sha {
  Context context;
  void begin() noexcept { init(&context); }
  void update(const void* data, std::size_t bytes) noexcept { add(&context, data, bytes); }
  std::string end() {
    unsigned char digest[digest_bytes];
    close(digest, &context);
    return digits_of(digest);
  }
};
using Sha256 = Sha<SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final, SHA256_DIGEST_LENGTH>;
using Sha1 = Sha<SHA_CTX, SHA1_Init, SHA1_Update, SHA1_Final, SHA_DIGEST_LENGTH>;

struct Xxh64 {
  XXH64_state_t state;
  void begin() noexcept { XXH64_reset(&state, 0); }
  void update(const void* data, std::size_t bytes) noexcept { XXH64_update(&state, data, bytes); }
  std::string end() {
    XXH64_canonical_t digest;
    XXH64_canonicalFromHash(&digest, XXH64_digest(&state));
    return digits_of(digest.digest);
  }
};

struct Xxh3 {
  XXH3_state_t state;
  void begin() noexcept { XXH3_128bits_reset(&state); }
  void update(const void* data, std::size_t bytes) noexcept {
    XXH3_128bits_update(&state, data, bytes);
  }
  std::string end() {
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(&state));
    return digits_of(digest.digest);
  }
};

struct Xet {
  XetHasher hasher;
  void begin() noexcept {}
  void update(const void* data, std::size_t bytes) noexcept {
    hasher.update({static_cast<const std::byte*>(data), bytes});
  }
  std::string end() { return name_of(hasher.finish()); }
};

}  // namespace

struct Digest::State {
  DigestAlgorithm algorithm;
  // Alternatives are in the order of DigestAlgorithm.
  std::variant<Sha256, Sha1, Xxh64, Xxh3, Xet> engine;

  explicit State(DigestAlgorithm which) : algorithm(which) {
    if (which == DigestAlgorithm::sha1) engine.emplace<Sha1>();
    if (which == DigestAlgorithm::xxh64) engine.emplace<Xxh64>();
    if (which == DigestAlgorithm::xxh3_128) engine.emplace<Xxh3>();
    if (which == DigestAlgorithm::xet) engine.emplace<Xet>();
    begin();
  }

  void begin() noexcept {
    std::visit([](auto& chosen) { chosen.begin(); }, engine);
  }
};

Digest::Digest(DigestAlgorithm algorithm) : state_(std::make_unique<State>(algorithm)) {}
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

DigestAlgorithm Digest::algorithm() const noexcept { return state_->algorithm; }

void Digest::update(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  std::visit([&](auto& chosen) { chosen.update(bytes.data(), bytes.size()); }, state_->engine);
}

std::string Digest::finish() {
  std::string digits = std::visit([](auto& chosen) { return chosen.end(); }, state_->engine);
  state_->begin();
  return digits;
}

std::string digest_of(DigestAlgorithm algorithm, std::span<const std::byte> bytes) {
  Digest digest(algorithm);
  digest.update(bytes);
  return digest.finish();
}

}  // namespace ingot
