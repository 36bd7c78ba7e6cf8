// SPDX-License-Identifier: MIT
// The parser on less than the whole file: it asks for more, never too much, and comes to the answer
// that the whole file gives.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"
#include "support/guarded_bytes.hpp"
#include "support/parse_bytes.hpp"
#include "support/sample_files.hpp"

namespace ingot::test {
namespace {

std::vector<Bytes> sample_files() {
  std::vector<Bytes> files;
  for (const Format format : all_formats) {
    files.push_back(file_of_everything(format));
    files.push_back(file_of_600_bytes(format));
  }
  return files;
}

/// Wrong in the middle, where a prefix does not reach at first.
std::vector<Bytes> refused_files() {
  GgufBuilder unknown_type;
  unknown_type.pair("a", "text").set_counts(0, 2).text("k").u32(13).data(99);
  GgufBuilder long_string;
  long_string.key("k", ValueType::string).u64(1000).data(99);
  GgufBuilder many;
  many.pair("a", "text").array_key("k", ValueType::uint32, 1000).data(99);
  GgufBuilder duplicate;
  duplicate.pair("a", "text").pair("a", "text").data(99);
  GgufBuilder outside;
  outside.tensor("t", {99}, TensorType::f32, 0).pad_to(32).data(99);
  return {unknown_type.bytes(), long_string.bytes(), many.bytes(), duplicate.bytes(),
          outside.bytes()};
}

/// Everything of a structure that can be compared between two buffers.
std::string describe(const format::Structure& structure) {
  std::string text =
      std::to_string(structure.version) + " " + std::to_string(structure.infos_offset) + " " +
      std::to_string(structure.header_bytes) + " " + std::to_string(structure.data_offset) + "\n";
  for (const KeyValue& entry : structure.metadata) {
    const auto bytes = entry.value.bytes();
    text += std::string(entry.key) + " " + std::string(name_of(entry.value.type())) + " " +
            std::to_string(entry.value.file_offset()) + " ";
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text += "\n";
  }
  for (const TensorInfo& tensor : structure.tensors) {
    text += std::string(tensor.name) + " " + std::to_string(tensor.data_offset) + " " +
            std::to_string(tensor.size_bytes);
    for (const std::uint64_t dimension : tensor.shape) text += " " + std::to_string(dimension);
    text += "\n";
  }
  return text;
}

std::string answer_of(const Result<format::Parsed>& parsed) {
  if (parsed) return describe(parsed->structure);
  return std::string(name_of(parsed.error().code)) + " " + parsed.error().message();
}

TEST(ParsePrefix, AsksForMoreButNeverMoreThanThereIs) {
  for (const Bytes& file : sample_files()) {
    const std::uint64_t header_bytes = parse_whole(file)->header_bytes;
    GuardedBytes memory(file.size());
    for (std::size_t size = 0; size <= file.size(); ++size) {
      const auto prefix = memory.hold(std::span(file).first(size));
      const auto parsed = format::parse(prefix, {.file_bytes = file.size()});
      ASSERT_THAT(parsed, Succeeds()) << size;
      ASSERT_EQ(parsed->is_complete(), size >= header_bytes) << size;
      // The requested bytes are part of the header.
      ASSERT_LE(size + parsed->missing_bytes, std::max<std::uint64_t>(size, header_bytes));
    }
  }
}

TEST(ParsePrefix, AsksForMoreWhenTheSizeOfTheFileIsNotKnown) {
  for (const Bytes& file : sample_files()) {
    const std::uint64_t header_bytes = parse_whole(file)->header_bytes;
    for (std::size_t size = 0; size <= file.size(); ++size) {
      const auto parsed = format::parse(std::span(file).first(size), {});
      ASSERT_THAT(parsed, Succeeds()) << size;
      ASSERT_EQ(parsed->is_complete(), size >= header_bytes) << size;
      ASSERT_LE(size + parsed->missing_bytes, std::max<std::uint64_t>(size, header_bytes));
    }
  }
}

TEST(ParsePrefix, ComesToTheAnswerOfTheWholeFileStepByStep) {
  std::vector<Bytes> files = sample_files();
  const std::vector<Bytes> refused = refused_files();
  files.insert(files.end(), refused.begin(), refused.end());
  for (const Bytes& file : files) {
    const format::ParseOptions options{.file_bytes = file.size()};
    const std::string whole = answer_of(format::parse(file, options));
    std::size_t size = 0;
    for (;;) {
      const auto parsed = format::parse(std::span(file).first(size), options);
      if (!parsed || parsed->is_complete()) {
        EXPECT_EQ(answer_of(parsed), whole);
        break;
      }
      ASSERT_NE(parsed->missing_bytes, 0u);
      ASSERT_LE(parsed->missing_bytes, file.size() - size);
      size += parsed->missing_bytes;
    }
  }
}

TEST(ParsePrefix, OfAFileThatEndsThereIsTruncatedOrComplete) {
  for (const Bytes& file : sample_files()) {
    GuardedBytes memory(file.size());
    const std::uint64_t data_end = file.size() - std::string_view("tail").size();
    for (std::size_t size = 0; size < data_end; ++size) {
      const auto prefix = memory.hold(std::span(file).first(size));
      const auto parsed = format::parse(prefix, {.file_bytes = size});
      if (!parsed) {
        EXPECT_THAT(parsed.error().code, testing::AnyOf(Errc::truncated, Errc::count_exceeds_file,
                                                        Errc::tensor_outside_file))
            << size;
        // The place where bytes are missing is where the file ends, or before.
        if (parsed.error().code == Errc::truncated) {
          EXPECT_LE(parsed.error().file_offset, size);
        }
      } else {
        EXPECT_TRUE(parsed->is_complete()) << size;
      }
    }
  }
}

/// Two arrays of 1500 strings, one of them within another array, and a key after each.
Bytes file_of_many_strings() {
  GgufBuilder file;
  const auto add_strings = [&] {
    for (int i = 0; i < 1500; ++i) file.text(std::string(static_cast<std::size_t>(i % 7), 'x'));
  };
  file.array_key("plain", ValueType::string, 1500);
  add_strings();
  file.pair("between", "text");
  file.array_key("nested", ValueType::array, 1);
  file.u32(static_cast<std::uint32_t>(ValueType::string)).u64(1500);
  add_strings();
  return file.pair("after", "text").bytes();
}

TEST(ParsePrefix, StringsThatAreKnownAreNotSteppedOverAgain) {
  const Bytes file = file_of_many_strings();
  const std::string whole = answer_of(format::parse(file, {.file_bytes = file.size()}));
  for (const std::size_t step : {1u, 100u, 5000u}) {
    format::KnownStrings known;
    const format::ParseOptions options{.file_bytes = file.size(), .known_strings = &known};
    for (std::size_t size = step; size < file.size(); size += step) {
      const auto parsed = format::parse(std::span(file).first(size), options);
      ASSERT_THAT(parsed, Succeeds());
      ASSERT_FALSE(parsed->is_complete());
    }
    EXPECT_EQ(answer_of(format::parse(file, options)), whole);
    ASSERT_EQ(known.size(), 2u);
    for (const auto& [offset, skipped] : known) EXPECT_EQ(skipped.count, 1500u);
    // Nothing reads their lengths any more.
    Bytes damaged = file;
    damaged[known.begin()->first] = std::byte{0xFF};
    EXPECT_THAT(format::parse(damaged, options), Succeeds());
    EXPECT_FALSE(format::parse(damaged, {.file_bytes = file.size()}).has_value());
  }
}

TEST(ParsePrefix, SaysHowManyBytesTheFileLacks) {
  const Bytes file = GgufBuilder().key("k", ValueType::string).u64(100).data(60).bytes();
  for (const std::size_t size : {std::size_t{45}, std::size_t{50}, file.size()}) {
    const auto parsed = format::parse(std::span(file).first(size), {.file_bytes = file.size()});
    ASSERT_THAT(parsed, FailsWith(Errc::truncated, 45, "k"));
    EXPECT_EQ(parsed.error().detail, "40 more bytes are needed here");
  }
}

TEST(ParsePrefix, AHeaderThatMustBeLongerThanTheLimitIsRefusedAtOnce) {
  const Bytes file = GgufBuilder().pair("k", std::string(5000, 'x')).bytes();
  const auto parse_first = [&](std::size_t size, std::uint64_t limit) {
    return format::parse(std::span(file).first(size), {.limits = {.max_header_bytes = limit}});
  };
  EXPECT_THAT(parse_first(100, 4000), FailsWith(Errc::limit_exceeded, 45, "k"));
  EXPECT_THAT(parse_first(file.size(), file.size() - 1), FailsWith(Errc::limit_exceeded));
  const auto parsed = parse_first(100, file.size());
  ASSERT_THAT(parsed, Succeeds());
  EXPECT_EQ(parsed->missing_bytes, file.size() - 100);
}

/// Tokens, with the keys before and behind them that models of a family have.
Bytes file_with_vocabulary(const std::string& family) {
  constexpr std::uint64_t count = 20'000;
  GgufBuilder file;
  file.pair("tokenizer.ggml.model", family);
  file.array_key("tokenizer.ggml.tokens", ValueType::string, count);
  for (std::uint64_t i = 0; i < count; ++i) file.text("token" + std::to_string(100'000 + i));
  if (family.empty()) return file.bytes();
  if (family == "llama") {
    file.array_key("tokenizer.ggml.scores", ValueType::float32, count).data(4 * count);
  }
  file.array_key("tokenizer.ggml.token_type", ValueType::int32, count).data(4 * count);
  if (family == "gpt2") {
    file.array_key("tokenizer.ggml.merges", ValueType::string, count);
    for (std::uint64_t i = 0; i < count; ++i) file.text("token 1" + std::to_string(10'000 + i));
    file.pair("tokenizer.ggml.pre", "default");
  }
  return file.bytes();
}

TEST(ParsePrefix, ExpectsTheLengthOfTheHeader) {
  for (const char* const family : {"", "gpt2", "llama", "bert"}) {
    const Bytes file = file_with_vocabulary(family);
    // Within the tokens, and, of the longer ones, in the arrays behind them.
    for (const double part : {0.25, 0.5, 0.75, 0.9}) {
      SCOPED_TRACE(std::string(family) + " " + std::to_string(part));
      const auto there = static_cast<std::size_t>(part * static_cast<double>(file.size()));
      const auto parsed = format::parse(std::span(file).first(there), {});
      ASSERT_THAT(parsed, Succeeds());
      const auto missing = static_cast<double>(file.size() - there);
      EXPECT_GE(static_cast<double>(parsed->expected_bytes), missing);
      EXPECT_LE(static_cast<double>(parsed->expected_bytes), 1.2 * missing + (1 << 16) + 100);
      EXPECT_GE(parsed->expected_bytes, parsed->missing_bytes);
    }
  }
}

TEST(ParsePrefix, ExpectsNoMoreThanTheLimitAndTheFileAllow) {
  GgufBuilder builder;
  builder.array_key("k", ValueType::string, 1 << 20).text("x").data(100);
  const Bytes file = builder.bytes();
  const auto expected = [&](const format::ParseOptions& options) {
    const auto parsed = format::parse(std::span(file).first(file.size() - 100), options);
    return parsed ? parsed->expected_bytes : 0;
  };
  const std::uint64_t there = file.size() - 100;
  EXPECT_EQ(expected({.limits = {.max_header_bytes = 1 << 20}}), (1u << 20) - there);
  EXPECT_EQ(expected({.file_bytes = (9u << 20) + there}), 9u << 20);
}

}  // namespace
}  // namespace ingot::test
