// SPDX-License-Identifier: MIT
#include "ingot/xet.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_order.hpp"

namespace ingot {
namespace {

using testing::ElementsAre;

/// Bytes of the generator SplitMix64, as the tests of xet-core make them.
std::vector<std::byte> random_bytes(std::size_t size_bytes, std::uint64_t state) {
  std::vector<std::byte> bytes((size_bytes + 7) / 8 * 8);
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    store_little(bytes.data() + i, z ^ (z >> 31));
  }
  bytes.resize(size_bytes);
  return bytes;
}

struct Hashed {
  std::vector<XetChunk> chunks;
  XetHash file;
};

/// Hashes bytes that come in pieces.
Hashed hash_pieces(std::span<const std::byte> bytes, std::size_t piece_bytes) {
  Hashed hashed;
  XetHasher hasher([&](const XetChunk& chunk) { hashed.chunks.push_back(chunk); });
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(piece_bytes, bytes.size()));
    hasher.update(piece);
    bytes = bytes.subspan(piece.size());
  }
  hashed.file = hasher.finish();
  return hashed;
}

std::vector<std::uint64_t> ends_of(const std::vector<XetChunk>& chunks) {
  std::vector<std::uint64_t> ends;
  std::uint64_t end = 0;
  for (const XetChunk& chunk : chunks) ends.push_back(end += chunk.size_bytes);
  return ends;
}

// The ends are those of the tests of xet-core (chunking.rs), the hashes are from npm's
// @huggingface/xetchunk-wasm.
TEST(Xet, CutsChunksWhereXetCoreDoes) {
  const Hashed random = hash_pieces(random_bytes(1'000'000, 0), 1'000'000);
  EXPECT_THAT(
      ends_of(random.chunks),
      ElementsAre(84493, 134421, 144853, 243318, 271793, 336457, 467529, 494581, 582000, 596735,
                  616815, 653164, 678202, 724510, 815591, 827760, 958832, 991092, 1000000));
  EXPECT_EQ(name_of(random.chunks[0].hash),
            "6eca1e7dadaf08cca5d82d318c800f07c2ddcec115a7e8627e5edd9605b94b8d");
  EXPECT_EQ(name_of(random.file),
            "3d17b2d7d64a0e011b6717a52d9a16bd2c3f05b743fa8adf52a7d75dafab6d89");
  EXPECT_EQ(name_of(xorb_hash(random.chunks)),
            "6f2ce16ca5e317f0100ff0e7e5bf40a0de9032e9ee1ad04b6b8ff4e36cdfbf6c");
  const std::vector<std::byte> equal(1'000'000, std::byte{59});
  EXPECT_THAT(ends_of(hash_pieces(equal, 4096).chunks),
              ElementsAre(131072, 262144, 393216, 524288, 655360, 786432, 917504, 1000000));
}

// xetchunk-wasm 0.2.0 ends chunks here after 8128 bytes (huggingface.js #2421), less than the
// least.
TEST(Xet, EndsNoChunkBeforeTheLeastSize) {
  std::vector<std::byte> bytes = random_bytes(40'000, 1);
  std::fill_n(bytes.begin() + 8120, 9, std::byte{17});  // its gear number begins with 16 zeros
  for (const XetChunk& chunk : hash_pieces(bytes, bytes.size()).chunks) {
    EXPECT_GE(chunk.size_bytes, 8192u);
  }
}

TEST(Xet, DoesNotDependOnThePieces) {
  const std::vector<std::byte> bytes = random_bytes(400'000, 2);
  const Hashed whole = hash_pieces(bytes, bytes.size());
  ASSERT_GT(whole.chunks.size(), 3u);
  for (const std::size_t piece : {1u, 63u, 8127u, 8192u, 65'537u, 131'073u}) {
    const Hashed pieces = hash_pieces(bytes, piece);
    EXPECT_EQ(pieces.chunks, whole.chunks) << "in pieces of " << piece;
    EXPECT_EQ(pieces.file, whole.file) << "in pieces of " << piece;
  }
}

XetHash hash_from(std::string_view digits) { return parse_xet_hash(digits).value(); }

// The vectors of the tests of xet-core (aggregated_hashes.rs).
TEST(Xet, MakesTreesOfChunks) {
  const XetChunk zero = {};
  const XetChunk a = {hash_from("cfc5d07f6f03c29bbf424132963fe08d19a37d5757aaf520bf08119f05cd56d6"),
                      100};
  const XetChunk b = {hash_from("c3e67584b5c4fc2a89837ec39e40f2c8a6bb0b2987ac94cd4b31e5fbdd210a72"),
                      200};
  const XetChunk c = {hash_from("0d2beb91b9196929a5ddec9f6e306924ddf4a24268e3e59fd8464738d525af37"),
                      300};
  const XetChunk d = {hash_from("adf8773496a9b7319b2e50dc98093f344053b17d8ad37100b9c07d9805988784"),
                      400};
  const std::vector<std::pair<std::vector<XetChunk>, std::string_view>> trees = {
      {{}, "0000000000000000000000000000000000000000000000000000000000000000"},
      {{a}, "cfc5d07f6f03c29bbf424132963fe08d19a37d5757aaf520bf08119f05cd56d6"},
      {{a, b, c}, "71ec1275fca074724e2dd666921b3277c7cee603e4d025bcab2d4050015be2bc"},
      {{a, a, a, a}, "89f2ada89ff8c96763c6b25010e6dd76a4c05b1466207633ea559acf2093211b"},
      {{a, b, a, b, c, d}, "52c826f99507aa05d0b45e9837fa1709e0485425cfbcb1e80db3905cf98b3ee9"},
      {{zero, a, zero, a}, "e1755c85be07fd6b7a8d7becc85e6d8c5f507f2a3d38b316bcb6f97855e72188"},
      {{zero, a, zero, a, zero},
       "f36c6a6374a567efd36ed087aeb680b57e3af4e0b5b8e7be2593df4cb647a2de"},
      {std::vector<XetChunk>(32, a),
       "0a0123c1617921883b7e13902095fcb86676e77c49120c33b233003b0af0e0a6"},
  };
  for (const auto& [chunks, digits] : trees) {
    EXPECT_EQ(name_of(xorb_hash(chunks)), digits) << chunks.size() << " chunks";
  }
}

TEST(Xet, HasZerosForNothing) {
  XetHasher hasher;
  EXPECT_EQ(hasher.finish(), XetHash());
  EXPECT_EQ(name_of(XetHash()), std::string(64, '0'));
}

TEST(Xet, ReadsDigits) {
  const std::string digits = "cfc5d07f6f03c29bbf424132963fe08d19a37d5757aaf520bf08119f05cd56d6";
  EXPECT_EQ(name_of(parse_xet_hash(digits).value()), digits);
  EXPECT_EQ(parse_xet_hash(digits)->numbers[0], 0xcfc5d07f6f03c29bu);
  EXPECT_FALSE(parse_xet_hash(digits.substr(1)));
  EXPECT_FALSE(parse_xet_hash("G" + digits.substr(1)));
}

}  // namespace
}  // namespace ingot
