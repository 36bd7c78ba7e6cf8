// SPDX-License-Identifier: MIT
#include "digest/sha.hpp"

#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
// After windows.h.
#include <bcrypt.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/hexadecimal.hpp"

namespace ingot::digest {
namespace {

constexpr std::size_t most_digest_bytes = 32;
constexpr std::size_t most_bytes_of_a_call = std::size_t{1} << 30;

/// Algorithms are opened once; the system keeps them for all threads.
BCRYPT_ALG_HANDLE open_algorithm(ShaKind kind) noexcept {
  const auto open = [](const wchar_t* name) {
    BCRYPT_ALG_HANDLE algorithm = nullptr;
    ::BCryptOpenAlgorithmProvider(&algorithm, name, nullptr, 0);
    return algorithm;
  };
  static const BCRYPT_ALG_HANDLE sha256 = open(BCRYPT_SHA256_ALGORITHM);
  static const BCRYPT_ALG_HANDLE sha1 = open(BCRYPT_SHA1_ALGORITHM);
  return kind == ShaKind::sha256 ? sha256 : sha1;
}

class WindowsSha : public ShaEngine {
 public:
  explicit WindowsSha(ShaKind kind) : kind_(kind) {}
  WindowsSha(const WindowsSha&) = delete;
  WindowsSha& operator=(const WindowsSha&) = delete;
  ~WindowsSha() override { close(); }

  void begin() noexcept override {
    close();
    ::BCryptCreateHash(open_algorithm(kind_), &hash_, nullptr, 0, nullptr, 0, 0);
  }

  void update(const void* data, std::size_t bytes) noexcept override {
    auto* next = static_cast<UCHAR*>(const_cast<void*>(data));  // which the system only reads
    while (bytes != 0) {
      const std::size_t piece = std::min(bytes, most_bytes_of_a_call);
      ::BCryptHashData(hash_, next, static_cast<ULONG>(piece), 0);
      next += piece;
      bytes -= piece;
    }
  }

  std::string end() override {
    const std::size_t digest_bytes = kind_ == ShaKind::sha256 ? most_digest_bytes : 20;
    std::array<UCHAR, most_digest_bytes> bytes{};
    ::BCryptFinishHash(hash_, bytes.data(), static_cast<ULONG>(digest_bytes), 0);
    std::string digits;
    for (std::size_t i = 0; i < digest_bytes; ++i) digits += hexadecimal(bytes[i], 2);
    return digits;
  }

 private:
  void close() noexcept {
    if (hash_ != nullptr) ::BCryptDestroyHash(std::exchange(hash_, nullptr));
  }

  ShaKind kind_;
  BCRYPT_HASH_HANDLE hash_ = nullptr;
};

}  // namespace

std::unique_ptr<ShaEngine> make_sha_engine(ShaKind kind) {
  return std::make_unique<WindowsSha>(kind);
}

}  // namespace ingot::digest
