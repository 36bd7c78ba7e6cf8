// SPDX-License-Identifier: MIT
// The weights: what is not finite is found in every type, at its place, with any number of threads.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "check/data_scan.hpp"
#include "ingot/check.hpp"
#include "ingot/quantize.hpp"
#include "ingot/statistics.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

/// How many decoded numbers are not finite.
std::uint64_t decoded_bad(TensorType type, std::span<const std::byte> blocks) {
  const TensorTypeInfo& info = *find_type(type);
  std::vector<float> floats(blocks.size() / info.block_bytes * info.block_elements);
  EXPECT_THAT(dequantize(type, blocks, floats), Succeeds());
  const Statistics statistics = compute_statistics(floats);
  return statistics.nans + statistics.infinities;
}

/// Types in which something may not be finite.
std::vector<TensorType> types_with_floats() {
  std::vector<TensorType> types;
  for (const TensorTypeInfo& info : live_tensor_types) {
    if (info.type < TensorType::i8 || info.type > TensorType::i64) types.push_back(info.type);
  }
  return types;
}

class BlockScanTest : public testing::TestWithParam<TensorType> {};
INSTANTIATE_TEST_SUITE_P(EachType, BlockScanTest, testing::ValuesIn(types_with_floats()),
                         [](const auto& suite) {
                           return std::string(find_type(suite.param)->name);
                         });

/// Types whose scale may be NaN by its bits, while what the decoder makes of it is finite.
bool has_tame_scale(TensorType type) {
  return type == TensorType::nvfp4 || type == TensorType::mxfp4 || type == TensorType::q8_1;
}

TEST_P(BlockScanTest, AgreesWithTheDecoder) {
  const TensorTypeInfo& info = *find_type(GetParam());
  if (info.type == TensorType::f64) return;  // large ones are rounded to infinities
  // All harmless; but one byte more makes an exponent whose last bit is in the byte before.
  std::vector<std::byte> block(info.block_bytes, std::byte{0x91});
  std::uint64_t bad_count = 0;
  // One byte after the other takes every value; the rest of the block stays harmless.
  for (std::size_t at = 0; at < block.size(); ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      block[at] = static_cast<std::byte>(value);
      const bool is_bad = check::scan_blocks(info.type, Endian::little, block).bad_count != 0;
      const bool decodes_bad = decoded_bad(info.type, block) != 0;
      EXPECT_TRUE(is_bad || !decodes_bad) << at << " " << value;
      if (!has_tame_scale(info.type)) {
        EXPECT_EQ(is_bad, decodes_bad) << at << " " << value;
      }
      bad_count += is_bad ? 1 : 0;
    }
    block[at] = std::byte{0x91};
  }
  if (info.type == TensorType::iq1_m) return;  // its scale takes two bytes at once; see below
  EXPECT_NE(bad_count, 0u);
}

TEST_P(BlockScanTest, FindsTheSameInTheOtherByteOrder) {
  const TensorTypeInfo& info = *find_type(GetParam());
  const std::size_t block_count = 400 + 200000 / info.block_bytes;
  std::vector<std::byte> blocks(block_count * info.block_bytes);
  Random random(42);
  for (std::byte& byte : blocks) byte = static_cast<std::byte>(random());
  const auto little = check::scan_blocks(info.type, Endian::little, blocks);
  EXPECT_NE(little.bad_count, 0u);
  EXPECT_LT(little.first_bad_offset, blocks.size());
  ASSERT_THAT(swap_byte_order(info.type, blocks), Succeeds());
  const auto big = check::scan_blocks(info.type, Endian::big, blocks);
  EXPECT_EQ(big.bad_count, little.bad_count);
  EXPECT_EQ(big.first_bad_offset, little.first_bad_offset);
}

TEST(BlockScan, FindsTheScatteredScaleOfIq1M) {
  std::vector<std::byte> block(56, std::byte{0});
  block[55] = std::byte{0x70};
  EXPECT_EQ(check::scan_blocks(TensorType::iq1_m, Endian::little, block).bad_count, 0u);
  block[53] = std::byte{0xC0};
  EXPECT_EQ(check::scan_blocks(TensorType::iq1_m, Endian::little, block).bad_count, 1u);
  EXPECT_NE(decoded_bad(TensorType::iq1_m, block), 0u);
}

TEST(BlockScan, AllowsTheWildScalesOfMxfp4BlocksOfZeros) {
  std::vector<std::byte> block(17, std::byte{0});
  block[0] = std::byte{0xFE};
  EXPECT_EQ(check::scan_blocks(TensorType::mxfp4, Endian::little, block).bad_count, 0u);
  block[3] = std::byte{0x07};
  EXPECT_EQ(check::scan_blocks(TensorType::mxfp4, Endian::little, block).bad_count, 1u);
}

// --- models --------------------------------------------------------------------------------------

/// A model of one matrix of floats, with some of them set.
Bytes floats_model(std::size_t count, const std::map<std::size_t, float>& set) {
  GgufBuilder file;
  file.pair("general.architecture", "eagle3").tensor("a", {count}, TensorType::f32, 0).pad_to(32);
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = set.find(i);
    file.number(found == set.end() ? 1.0F + static_cast<float>(i) : found->second);
  }
  return file.pad_to(32).bytes();
}

std::vector<Finding> findings_with_data(const Model& model, unsigned threads) {
  std::vector<Finding> findings;
  const auto summary = check_model(model, {.with_data = true, .thread_count = threads},
                                   [&](const Finding& finding) { findings.push_back(finding); });
  EXPECT_THAT(summary, Succeeds());
  return findings;
}

TEST(CheckData, SaysHowManyAndWhereTheFirstIs) {
  // More than one part of 4 MiB, so that threads share it.
  const Bytes bytes = floats_model(3 << 20, {{2'000'000, std::nanf("")}, {3'000'000, INFINITY}});
  const TemporaryFolder folder;
  const std::string path = folder.write("m.gguf", bytes);
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    const auto model = Model::open(path, {.access = access});
    ASSERT_THAT(model, Succeeds());
    for (const unsigned threads : {1u, 3u}) {
      const auto findings = findings_with_data(*model, threads);
      ASSERT_EQ(findings.size(), 1u);
      EXPECT_EQ(findings[0].rule->name, "data_not_finite");
      EXPECT_EQ(findings[0].tensor, "a");
      EXPECT_EQ(findings[0].file_offset, model->files()[0].data_offset + 8'000'000);
      EXPECT_THAT(findings[0].message, testing::StartsWith("2 weights"));
    }
  }
}

TEST(CheckData, IsOnlyReadOnRequest) {
  const Bytes bytes = floats_model(8, {{0, INFINITY}});
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  std::uint64_t count = 0;
  ASSERT_THAT(check_model(*model, {}, [&](const Finding&) { ++count; }), Succeeds());
  EXPECT_EQ(count, 0u);
}

TEST(CheckData, FindsScalesZerosAndDuplicates) {
  GgufBuilder file;
  file.pair("general.architecture", "eagle3")
      .pair("general.quantization_version", std::uint32_t{2});
  file.tensor("scale", {32}, TensorType::q8_0, 0);
  file.tensor("zero", {64, 1}, TensorType::f16, 64);
  file.tensor("one", {1 << 16}, TensorType::i8, 192);
  file.tensor("two", {1 << 16}, TensorType::i8, 192 + (1 << 16));
  file.pad_to(32).raw(std::string_view("\x00\x7C", 2)).data(32).pad_to(32);
  for (int i = 0; i < 128; ++i) file.u8(0);
  file.data(1 << 16).data(1 << 16);
  const Bytes bytes = file.bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  std::map<std::string, std::string> found;
  for (const Finding& finding : findings_with_data(*model, 2)) {
    found.emplace(finding.rule->name, finding.tensor);
  }
  EXPECT_EQ(found, (std::map<std::string, std::string>{{"scale_impossible", "scale"},
                                                       {"data_all_zero", "zero"},
                                                       {"data_duplicate", "two"}}));
}

/// Rules that Q4_0 of weights breaks; the integers from -limit to limit times a scale, or any.
std::vector<std::string> broken_by_q4_0(double limit, Effort effort) {
  Random random(1);
  std::vector<float> weights(1 << 14);
  for (float& weight : weights) {
    double sum = -3.0;
    for (int i = 0; i < 6; ++i) sum += static_cast<double>(random.below(1 << 20)) * 0x1p-20;
    weight = static_cast<float>(limit == 0 ? sum : std::clamp(std::round(4 * sum), -limit, limit));
  }
  if (limit != 0) {
    for (std::size_t i = 0; i < weights.size(); i += 32) weights[i] = static_cast<float>(limit);
  }
  std::vector<std::byte> blocks(weights.size() / 32 * 18);
  EXPECT_THAT(quantize(TensorType::q4_0, weights, 1024, blocks, {.effort = effort}), Succeeds());
  GgufBuilder file;
  file.pair("general.architecture", "eagle3")
      .pair("general.quantization_version", std::uint32_t{2});
  file.tensor("weights", {1024, 16}, TensorType::q4_0, 0);
  file.pad_to(32).raw({reinterpret_cast<const char*>(blocks.data()), blocks.size()});
  const Bytes bytes = file.bytes();
  const auto model = Model::open_memory(bytes);
  EXPECT_THAT(model, Succeeds());
  std::vector<std::string> found;
  for (const Finding& finding : findings_with_data(*model, 1)) {
    found.emplace_back(finding.rule->name);
  }
  return found;
}

TEST(CheckData, FindsALatticeThatWasRoundedAgain) {
  EXPECT_THAT(broken_by_q4_0(7, Effort::reference), testing::ElementsAre("lattice_rounded"));
  EXPECT_THAT(broken_by_q4_0(7, Effort::automatic), testing::IsEmpty());
  EXPECT_THAT(broken_by_q4_0(8, Effort::reference), testing::IsEmpty());
  EXPECT_THAT(broken_by_q4_0(0, Effort::reference), testing::IsEmpty());
}

TEST(CheckData, CanBeInterrupted) {
  const Bytes bytes = floats_model(64, {});
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const CheckOptions options{.with_data = true, .progress = [](std::uint64_t) { return false; }};
  EXPECT_THAT(check_model(*model, options, [](const Finding&) {}), FailsWith(Errc::interrupted));
}

TEST(CheckData, AFailingReadIsAnError) {
  const Bytes bytes = floats_model(64, {});
  const std::uint64_t header_bytes = bytes.size() - 256;
  const auto source = [&](std::uint64_t offset, std::span<std::byte> to) {
    if (offset >= header_bytes) return false;
    std::memcpy(to.data(), bytes.data() + offset, to.size());
    return true;
  };
  // The header is all that the first read is for.
  const auto model = Model::open_source(read_through(bytes.size(), [&](auto offset, auto to) {
    if (offset == 0) {
      std::memcpy(to.data(), bytes.data(), to.size());
      return true;
    }
    return source(offset, to);
  }));
  ASSERT_THAT(model, Succeeds());
  EXPECT_THAT(check_model(*model, {.with_data = true}, [](const Finding&) {}),
              FailsWith(Errc::io_error));
}

}  // namespace
}  // namespace ingot::test
