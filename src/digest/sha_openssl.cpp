// SPDX-License-Identifier: MIT
#include "digest/sha_contexts.hpp"

// Uses the functions of one algorithm instead of the EVP interface. EVP brings every other
// algorithm of OpenSSL into a static program (4 MB, and 0.3 ms at every start), reads a
// configuration file on first use, and computes with the same code.
#define OPENSSL_API_COMPAT 10100
#include <openssl/sha.h>

namespace ingot::digest {

std::unique_ptr<ShaEngine> make_sha_engine(ShaKind kind) {
  using Sha256 =
      ContextSha<SHA256_CTX, SHA256_Init, SHA256_Update, SHA256_Final, SHA256_DIGEST_LENGTH>;
  using Sha1 = ContextSha<SHA_CTX, SHA1_Init, SHA1_Update, SHA1_Final, SHA_DIGEST_LENGTH>;
  if (kind == ShaKind::sha256) return std::make_unique<Sha256>();
  return std::make_unique<Sha1>();
}

}  // namespace ingot::digest
