// SPDX-License-Identifier: MIT
#include "digest/sha.hpp"

// Uses the functions of one algorithm instead of the EVP interface. EVP brings every other
// algorithm of OpenSSL into a static program (4 MB, and 0.3 ms at every start), reads a
// configuration file on first use, and computes with the same code.
#define OPENSSL_API_COMPAT 10100
#include <openssl/sha.h>

#include <variant>

#include "base/hexadecimal.hpp"

namespace ingot::digest {
namespace {

template <class Context, auto init, auto add, auto close, std::size_t digest_bytes>
struct OpenSslSha {
  Context context;
  void begin() noexcept { init(&context); }
  void update(const void* data, std::size_t bytes) noexcept { add(&context, data, bytes); }
  std::string end() {
    unsigned char bytes[digest_bytes];
    close(bytes, &context);
    std::string digits;
    for (const unsigned char byte : bytes) digits += hexadecimal(byte, 2);
    return digits;
  }
};
using Sha256 =
    OpenSslSha<SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final, SHA256_DIGEST_LENGTH>;
using Sha1 = OpenSslSha<SHA_CTX, SHA1_Init, SHA1_Update, SHA1_Final, SHA_DIGEST_LENGTH>;

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
