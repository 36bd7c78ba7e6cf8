// SPDX-License-Identifier: MIT
#include "digest/blake3.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "base/byte_order.hpp"
#include "base/hexadecimal.hpp"
#include "support/forced_target.hpp"

namespace ingot::digest {
namespace {

struct KeyedHash {
  std::size_t size_bytes;
  std::string_view digits;
};

// The first 32 bytes of keyed_hash in the test vectors of the authors (test_vectors.json), whose
// input is the bytes 0 to 250 again and again.
constexpr KeyedHash keyed_hashes[] = {
    {0, "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26"},
    {1, "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b"},
    {1023, "c951ecdf03288d0fcc96ee3413563d8a6d3589547f2c2fb36d9786470f1b9d6e"},
    {1024, "75c46f6f3d9eb4f55ecaaee480db732e6c2105546f1e675003687c31719c7ba4"},
    {1025, "357dc55de0c7e382c900fd6e320acc04146be01db6a8ce7210b7189bd664ea69"},
    {2048, "879cf1fa2ea0e79126cb1063617a05b6ad9d0b696d0d757cf053439f60a99dd1"},
    {2049, "9f29700902f7c86e514ddc4df1e3049f258b2472b6dd5267f61bf13983b78dd5"},
    {3073, "68dede9bef00ba89e43f31a6825f4cf433389fedae75c04ee9f0cf16a427c95a"},
    {5121, "6ccf1c34753e7a044db80798ecd0782a8f76f33563accaddbfbb2e0ea4b2d024"},
    {7169, "ed9b1a922c046fdb3d423ae34e143b05ca1bf28b710432857bf738bcedbfa511"},
    {8193, "954a2a75420c8d6547e3ba5b98d963e6fa6491addc8c023189cc519821b4a1f5"},
    {16384, "9e9fc4eb7cf081ea7c47d1807790ed211bfec56aa25bb7037784c13c4b707b0d"},
    {31744, "efa53b389ab67c593dba624d898d0f7353ab99e4ac9d42302ee64cbf9939a419"},
    {102400, "1c35d1a5811083fd7119f5d5d1ba027b4d01c0c6c49fb6ff2cf75393ea5db4a7"},
};

Blake3Words key_of(std::string_view text) {
  Blake3Words key;
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = load_little<std::uint32_t>(std::as_bytes(std::span(text)).data() + 4 * i);
  }
  return key;
}

std::string digits_of(const Blake3Words& hash) {
  std::string digits;
  for (const std::uint32_t word : hash) digits += hexadecimal(byteswap(word), 8);
  return digits;
}

TEST(Blake3, HasTheHashesOfItsAuthorsOnEveryCpu) {
  const Blake3Words key = key_of("whats the Elvish word for friend");
  std::vector<std::byte> bytes(keyed_hashes[std::size(keyed_hashes) - 1].size_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 251);
  for (const std::int64_t target : test::cpu_targets()) {
    const test::ForcedTarget forced(target);
    for (const KeyedHash& sample : keyed_hashes) {
      EXPECT_EQ(digits_of(keyed_blake3(key, std::span(bytes).first(sample.size_bytes))),
                sample.digits)
          << sample.size_bytes << " bytes on " << test::target_name(target);
    }
  }
}

}  // namespace
}  // namespace ingot::digest
