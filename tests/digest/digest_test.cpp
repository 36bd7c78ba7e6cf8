// SPDX-License-Identifier: MIT
#include "ingot/digest.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace ingot {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

struct Known {
  std::string_view text;
  std::array<std::string_view, 5> digests;  // in the order of digest_algorithms
};

// The digests are from sha256sum, sha1sum, xxhsum -H1 and xxhsum -H2 of Debian, and from npm's
// @huggingface/xetchunk-wasm.
constexpr std::array<Known, 2> known = {{
    {"",
     {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "da39a3ee5e6b4b0d3255bfef95601890afd80709", "ef46db3751d8e999",
      "99aa06d3014798d86001c324468d497f",
      "0000000000000000000000000000000000000000000000000000000000000000"}},
    {"abc",
     {"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      "a9993e364706816aba3e25717850c26c9cd0d89d", "44bc2cf5ad770999",
      "06b05ab6733a618578af5f94892f3950",
      "55b9df318a7c45f470d57b04d8ca79a15b0637ffe94b25041a58d00c3528afff"}},
}};

TEST(Digest, KnowsWhatOthersComputed) {
  for (const Known& sample : known) {
    for (const DigestAlgorithmInfo& info : digest_algorithms) {
      const std::string_view wanted = sample.digests[static_cast<std::size_t>(info.algorithm)];
      EXPECT_EQ(digest_of(info.algorithm, bytes_of(sample.text)), wanted) << info.name;
      EXPECT_EQ(wanted.size(), 2 * info.digest_bytes);
    }
  }
}

TEST(Digest, DoesNotDependOnThePieces) {
  std::vector<std::byte> bytes(10'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i / 7);
  for (const DigestAlgorithmInfo& info : digest_algorithms) {
    const std::string whole = digest_of(info.algorithm, bytes);
    for (const std::size_t piece : {1u, 63u, 64u, 65u, 255u, 4096u}) {
      Digest digest(info.algorithm);
      for (std::size_t done = 0; done < bytes.size(); done += piece) {
        digest.update(std::span(bytes).subspan(done, std::min(piece, bytes.size() - done)));
      }
      EXPECT_EQ(digest.finish(), whole) << info.name << " in pieces of " << piece;
    }
  }
}

TEST(Digest, StartsAnewAfterItsEnd) {
  for (const DigestAlgorithmInfo& info : digest_algorithms) {
    Digest digest(info.algorithm);
    EXPECT_EQ(digest.algorithm(), info.algorithm);
    digest.update(bytes_of("something else"));
    static_cast<void>(digest.finish());
    digest.update(bytes_of("a"));
    digest.update({});
    Digest moved = std::move(digest);
    moved.update(bytes_of("bc"));
    EXPECT_EQ(moved.finish(), digest_of(info.algorithm, bytes_of("abc")));
  }
}

TEST(Digest, IsFoundByName) {
  for (const DigestAlgorithmInfo& info : digest_algorithms) {
    EXPECT_EQ(find_digest_algorithm(info.name), &info_of(info.algorithm));
    EXPECT_EQ(&info_of(info.algorithm), &info);
  }
  EXPECT_EQ(find_digest_algorithm("md5"), nullptr);
  EXPECT_EQ(find_digest_algorithm(""), nullptr);
}

}  // namespace
}  // namespace ingot
