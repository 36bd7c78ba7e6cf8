// SPDX-License-Identifier: MIT
// Digests of bytes that stream by (target ingot::convert).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ingot/export.h"

namespace ingot {

enum class DigestAlgorithm : std::uint8_t {
  sha256,    ///< FIPS 180-4; the one to publish.
  sha1,      ///< FIPS 180-4; broken against forgery, for manifests that have nothing else.
  xxh64,     ///< xxHash with seed 0: finds damage, not forgery.
  xxh3_128,  ///< XXH3 with 128 bits and seed 0: the fastest; finds damage, not forgery.
  xet,       ///< Hugging Face's hash of a file (xet.hpp), of BLAKE3; zeros for no bytes.
};

struct DigestAlgorithmInfo {
  DigestAlgorithm algorithm;
  std::string_view name;     ///< The name in manifests and JSON.
  std::size_t digest_bytes;  ///< Half the number of hexadecimal digits.
};

/// Every algorithm, in the order of the enumerators.
inline constexpr std::array<DigestAlgorithmInfo, 5> digest_algorithms = {{
    {DigestAlgorithm::sha256, "sha256", 32},
    {DigestAlgorithm::sha1, "sha1", 20},
    {DigestAlgorithm::xxh64, "xxh64", 8},
    {DigestAlgorithm::xxh3_128, "xxh3-128", 16},
    {DigestAlgorithm::xet, "xet", 32},
}};

[[nodiscard]] constexpr const DigestAlgorithmInfo& info_of(DigestAlgorithm algorithm) noexcept {
  return digest_algorithms[static_cast<std::size_t>(algorithm)];
}

/// The algorithm with a name of `digest_algorithms`; nullptr if there is none.
[[nodiscard]] constexpr const DigestAlgorithmInfo* find_digest_algorithm(
    std::string_view name) noexcept {
  for (const DigestAlgorithmInfo& info : digest_algorithms) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

/// One digest in the making. Movable, not copyable; not thread-safe, but several can work at the
/// same time. Holds less than a kilobyte, for Xet 150 KiB.
class INGOT_EXPORT Digest {
 public:
  explicit Digest(DigestAlgorithm algorithm);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  [[nodiscard]] DigestAlgorithm algorithm() const noexcept;

  /// Appends bytes. Linear; does not allocate. Pieces of some KiB or more are fastest.
  void update(std::span<const std::byte> bytes) noexcept;

  /// The digest of all bytes since the beginning or the last `finish`, as lower-case hexadecimal
  /// digits; XXH64 and XXH3 in their canonical, big-endian form, as xxhsum prints them, and Xet as
  /// Hugging Face shows it. Then it begins anew.
  [[nodiscard]] std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The digest of bytes that are all there.
[[nodiscard]] INGOT_EXPORT std::string digest_of(DigestAlgorithm algorithm,
                                                 std::span<const std::byte> bytes);

}  // namespace ingot
