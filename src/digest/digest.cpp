// SPDX-License-Identifier: MIT
#include "ingot/digest.hpp"

// xxHash is compiled in from its header, so that users of this library link no other one.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>
#include <variant>

#include "base/hexadecimal.hpp"
#include "digest/sha.hpp"
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

struct Sha256 : digest::Sha {
  Sha256() : Sha(digest::ShaKind::sha256) {}
};
struct Sha1 : digest::Sha {
  Sha1() : Sha(digest::ShaKind::sha1) {}
};

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
