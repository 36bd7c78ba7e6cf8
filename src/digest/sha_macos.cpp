// SPDX-License-Identifier: MIT
#include <CommonCrypto/CommonDigest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <variant>

#include "base/hexadecimal.hpp"
#include "digest/sha.hpp"

namespace ingot::digest {
namespace {

template <class Context, auto init, auto add, auto close, std::size_t digest_bytes>
struct SystemSha {
  Context context;
  void begin() noexcept { init(&context); }
  void update(const void* data, std::size_t bytes) noexcept {
    constexpr std::size_t most_of_a_call = std::numeric_limits<CC_LONG>::max();
    const auto* next = static_cast<const std::byte*>(data);
    while (bytes != 0) {
      const std::size_t piece = std::min(bytes, most_of_a_call);
      add(&context, next, static_cast<CC_LONG>(piece));
      next += piece;
      bytes -= piece;
    }
  }
  std::string end() {
    std::array<unsigned char, digest_bytes> bytes{};
    close(bytes.data(), &context);
    std::string digits;
    for (const unsigned char byte : bytes) digits += hexadecimal(byte, 2);
    return digits;
  }
};
using Sha256 = SystemSha<CC_SHA256_CTX, CC_SHA256_Init, CC_SHA256_Update, CC_SHA256_Final,
                         CC_SHA256_DIGEST_LENGTH>;
using Sha1 =
    SystemSha<CC_SHA1_CTX, CC_SHA1_Init, CC_SHA1_Update, CC_SHA1_Final, CC_SHA1_DIGEST_LENGTH>;

}  // namespace

struct Sha::State {
  std::variant<Sha256, Sha1> engine;
};

Sha::Sha(ShaKind kind) : state_(std::make_unique<State>()) {
  if (kind == ShaKind::sha1) state_->engine.emplace<Sha1>();
  begin();
}
Sha::Sha(Sha&&) noexcept = default;
Sha& Sha::operator=(Sha&&) noexcept = default;
Sha::~Sha() = default;

void Sha::begin() noexcept {
  std::visit([](auto& engine) { engine.begin(); }, state_->engine);
}

void Sha::update(const void* data, std::size_t bytes) noexcept {
  std::visit([&](auto& engine) { engine.update(data, bytes); }, state_->engine);
}

std::string Sha::end() {
  return std::visit([](auto& engine) { return engine.end(); }, state_->engine);
}

}  // namespace ingot::digest
