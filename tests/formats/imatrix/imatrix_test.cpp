// SPDX-License-Identifier: MIT
#include "ingot/imatrix.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "support/expect_error.hpp"
#include "support/imatrix_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<ImportanceMatrix> open_bytes(const std::vector<std::byte>& bytes) {
  return ImportanceMatrix::open_source(borrow_memory(bytes));
}

std::vector<float> weights_of(const ImportanceMatrix& matrix, std::string_view name) {
  const ImatrixEntry* entry = matrix.find(name);
  if (entry == nullptr) return {};
  std::vector<float> weights(entry->value_count);
  EXPECT_THAT(matrix.read_weights(*entry, 0, weights), Succeeds());
  return weights;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Imatrix : public testing::Test {
 protected:
  TemporaryFolder folder_;

  ImportanceMatrix open(const std::string& name) const {
    Result<ImportanceMatrix> matrix = ImportanceMatrix::open(folder_.path(name));
    EXPECT_THAT(matrix, Succeeds());
    return std::move(*matrix);
  }
  ImportanceMatrix legacy(const LegacyImatrix& bytes) const {
    folder_.write("legacy.dat", bytes.bytes());
    return open("legacy.dat");
  }
  ImportanceMatrix gguf(const std::vector<GgufImatrixEntry>& entries,
                        Endian order = Endian::little) const {
    write_gguf_imatrix(folder_.path("imatrix.gguf"), entries, order);
    return open("imatrix.gguf");
  }
};

TEST_F(Imatrix, ReadsTheOlderFormat) {
  const ImportanceMatrix matrix = legacy(LegacyImatrix()
                                             .number(3)
                                             .entry("z.weight", 4, {8, 2, 0})
                                             .entry("a.weight", 0, {3, 5})
                                             .entry("m.weight", 1, {7})
                                             .number(9)
                                             .text("wiki.txt"));
  EXPECT_EQ(matrix.format(), ImatrixFormat::legacy);
  ASSERT_EQ(matrix.entries().size(), 3u);
  EXPECT_EQ(matrix.entries()[0].name, "a.weight");
  EXPECT_THAT(weights_of(matrix, "z.weight"), ElementsAre(2.0f, 0.5f, 0.0f));
  EXPECT_THAT(weights_of(matrix, "a.weight"), ElementsAre(3.0f, 5.0f));  // means, without calls
  EXPECT_EQ(matrix.chunk_count(), 9u);
  EXPECT_EQ(matrix.chunk_size(), 0u);
  EXPECT_THAT(matrix.datasets(), ElementsAre("wiki.txt"));
  EXPECT_EQ(matrix.find("b.weight"), nullptr);
}

TEST_F(Imatrix, ReadsTheOldestFilesWithoutATail) {
  const ImportanceMatrix matrix = legacy(LegacyImatrix().number(1).entry("a.weight", 2, {4}));
  EXPECT_EQ(matrix.chunk_count(), 0u);
  EXPECT_TRUE(matrix.datasets().empty());
}

TEST_F(Imatrix, ReadsGgufInBothByteOrders) {
  for (const Endian order : {Endian::little, Endian::big}) {
    const ImportanceMatrix matrix =
        gguf({{"a.weight", {6, 9}, {3}}, {"e.weight", {4, 8, 5, 6}, {2, 0}}}, order);
    EXPECT_EQ(matrix.format(), ImatrixFormat::gguf);
    EXPECT_THAT(weights_of(matrix, "a.weight"), ElementsAre(2.0f, 3.0f));
    // An expert that was never used counts like any other.
    EXPECT_THAT(weights_of(matrix, "e.weight"), ElementsAre(2.0f, 4.0f, 1.0f, 1.0f));
    EXPECT_EQ(matrix.find("e.weight")->expert_count, 2u);
    EXPECT_EQ(matrix.find("e.weight")->column_count(), 2u);
    EXPECT_THAT(*matrix.read_counts(*matrix.find("e.weight")), ElementsAre(2.0, 0.0));
    EXPECT_EQ(matrix.chunk_count(), 7u);
    EXPECT_EQ(matrix.chunk_size(), 256u);
    const auto summary = matrix.summarize(*matrix.find("e.weight"));
    ASSERT_THAT(summary, Succeeds());
    EXPECT_EQ(summary->token_count, 2.0);
    EXPECT_EQ(summary->unused_experts, 1u);
    EXPECT_EQ(summary->mean, 2.0);
    EXPECT_EQ(summary->largest, 4.0);
  }
}

TEST_F(Imatrix, ReadsParts) {
  const ImportanceMatrix matrix = gguf({{"e.weight", {4, 8, 5, 6}, {2, 1}}});
  const ImatrixEntry& entry = matrix.entries()[0];
  std::vector<float> middle(2);
  ASSERT_THAT(matrix.read_weights(entry, 1, middle), Succeeds());
  EXPECT_THAT(middle, ElementsAre(4.0f, 5.0f));
  EXPECT_THAT(matrix.read_weights(entry, 3, middle), FailsWith(Errc::index_out_of_range));
}

TEST_F(Imatrix, DividesInSinglePrecision) {
  // Computes as the reference does: 1/3 of a float, not of a double.
  const ImportanceMatrix matrix = gguf({{"a.weight", {1.1f}, {3}}});
  EXPECT_THAT(weights_of(matrix, "a.weight"), ElementsAre(1.1f / 3.0f));
}

TEST_F(Imatrix, MergesAsIfCollectedInOneRun) {
  ImportanceMatrix matrix = gguf({{"a.weight", {6, 9}, {3}}, {"e.weight", {4, 8, 5, 6}, {2, 0}}});
  write_gguf_imatrix(folder_.path("b.gguf"),
                     {{"b.weight", {5}, {5}}, {"e.weight", {2, 2, 8, 4}, {2, 4}}});
  ASSERT_THAT(matrix.merge(open("b.gguf")), Succeeds());
  ASSERT_EQ(matrix.entries().size(), 3u);
  EXPECT_THAT(weights_of(matrix, "a.weight"), ElementsAre(2.0f, 3.0f));
  EXPECT_THAT(weights_of(matrix, "b.weight"), ElementsAre(1.0f));
  EXPECT_THAT(weights_of(matrix, "e.weight"), ElementsAre(1.5f, 2.5f, 3.25f, 2.5f));
  EXPECT_THAT(*matrix.read_counts(*matrix.find("e.weight")), ElementsAre(4.0, 4.0));
  EXPECT_EQ(matrix.chunk_count(), 14u);
  EXPECT_THAT(matrix.datasets(), ElementsAre("wiki.txt"));
}

TEST_F(Imatrix, MergesBothFormatsByTokens) {
  ImportanceMatrix matrix = gguf({{"a.weight", {256}, {256}}});  // one chunk, mean 1
  // Three chunks, mean 5.
  ASSERT_THAT(matrix.merge(legacy(LegacyImatrix().number(1).entry("a.weight", 3, {15}))),
              Succeeds());
  EXPECT_THAT(weights_of(matrix, "a.weight"), ElementsAre(4.0f));
}

TEST_F(Imatrix, RefusesToMergeOtherSizes) {
  ImportanceMatrix matrix = gguf({{"a.weight", {6, 9}, {3}}, {"b.weight", {1}, {1}}});
  const Result<void> merged =
      matrix.merge(legacy(LegacyImatrix().number(1).entry("a.weight", 1, {1, 2, 3})));
  ASSERT_THAT(merged, FailsWith(Errc::imatrix_mismatch));
  EXPECT_EQ(merged.error().subject, "a.weight");
  EXPECT_THAT(weights_of(matrix, "a.weight"), ElementsAre(2.0f, 3.0f));
}

TEST_F(Imatrix, WritesTheOlderFormatToTheByte) {
  const LegacyImatrix original = LegacyImatrix()
                                     .number(2)
                                     .entry("a.weight", 3, {1.1f, 2.3f})
                                     .entry("b.weight", 0, {5})
                                     .number(3)
                                     .text("x.txt");
  const ImportanceMatrix matrix = legacy(original);
  ASSERT_THAT(matrix.write(folder_.path("again.dat"), ImatrixFormat::legacy), Succeeds());
  EXPECT_EQ(bytes_of(folder_.path("again.dat")), bytes_of(folder_.path("legacy.dat")));
  EXPECT_THAT(matrix.write(folder_.path("again.dat"), ImatrixFormat::legacy),
              FailsWith(Errc::already_exists));
  EXPECT_THAT(matrix.write(folder_.path("again.dat"), ImatrixFormat::legacy, true), Succeeds());
}

TEST_F(Imatrix, WritesGgufToTheByte) {
  const ImportanceMatrix matrix =
      gguf({{"a.weight", {6.1f, 9}, {3}}, {"e.weight", {4, 8, 5, 6}, {2, 0}}});
  ASSERT_THAT(matrix.write(folder_.path("again.gguf"), ImatrixFormat::gguf), Succeeds());
  EXPECT_EQ(bytes_of(folder_.path("again.gguf")), bytes_of(folder_.path("imatrix.gguf")));
}

TEST_F(Imatrix, ConvertsKeepingTheMeans) {
  const ImportanceMatrix from_gguf =
      gguf({{"a.weight", {512, 1024}, {512}}, {"e.weight", {256, 512, 5, 6}, {256, 0}}});
  ASSERT_THAT(from_gguf.write(folder_.path("to.dat"), ImatrixFormat::legacy), Succeeds());
  const ImportanceMatrix dat = open("to.dat");
  EXPECT_THAT(weights_of(dat, "a.weight"), ElementsAre(1.0f, 2.0f));
  EXPECT_THAT(weights_of(dat, "e.weight"), ElementsAre(1.0f, 2.0f, 1.0f, 1.0f));
  // 512 tokens are two chunks of 256; a file of chunks without a size counts 512 for each.
  EXPECT_THAT(*dat.read_counts(*dat.find("a.weight")), ElementsAre(1024.0));
  ASSERT_THAT(dat.write(folder_.path("back.gguf"), ImatrixFormat::gguf), Succeeds());
  EXPECT_THAT(weights_of(open("back.gguf"), "a.weight"), ElementsAre(1.0f, 2.0f));
}

TEST_F(Imatrix, KeepsWhatIsWanted) {
  ImportanceMatrix matrix = gguf({{"a.weight", {6}, {3}}, {"b.weight", {8}, {2}}});
  matrix.keep_if([](std::string_view name) { return name != "a.weight"; });
  ASSERT_EQ(matrix.entries().size(), 1u);
  EXPECT_THAT(weights_of(matrix, "b.weight"), ElementsAre(4.0f));
}

TEST_F(Imatrix, RefusesValuesThatAreNone) {
  for (const float value :
       {-1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const Result<void> checked = gguf({{"a.weight", {1, value}, {3}}}).check_values();
    ASSERT_THAT(checked, FailsWith(Errc::imatrix_invalid));
    EXPECT_EQ(checked.error().subject, "a.weight");
    EXPECT_THAT(checked.error().detail, HasSubstr("value 1"));
    EXPECT_THAT(gguf({{"a.weight", {1, 2}, {value}}}).check_values(),
                FailsWith(Errc::imatrix_invalid));
  }
  EXPECT_THAT(gguf({{"a.weight", {1, 0}, {3}}}).check_values(), Succeeds());
}

TEST_F(Imatrix, RefusesWhatIsNeitherFormat) {
  const auto refuse = [](const std::vector<std::byte>& bytes) {
    EXPECT_THAT(open_bytes(bytes), FailsWith(Errc::imatrix_unknown));
  };
  refuse({});
  refuse(LegacyImatrix().number(0).bytes());
  refuse(LegacyImatrix().number(-1).bytes());
  refuse(LegacyImatrix().number(1 << 30).bytes());
  refuse(LegacyImatrix().number(1).number(1 << 30).bytes());
  ModelWriter writer;
  writer.set_string("general.architecture", "llama");
  ASSERT_THAT(writer.write(folder_.path("model.gguf")), Succeeds());
  EXPECT_THAT(ImportanceMatrix::open(folder_.path("model.gguf")), FailsWith(Errc::imatrix_unknown));
}

TEST_F(Imatrix, RefusesTruncationAtEveryByte) {
  const std::vector<std::byte> whole = LegacyImatrix()
                                           .number(2)
                                           .entry("a.weight", 4, {8, 2})
                                           .entry("b.weight", 4, {1})
                                           .number(9)
                                           .text("w")
                                           .bytes();
  const std::size_t without_tail = whole.size() - 9;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(),
                                     whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(open_bytes(cut).has_value(), size == without_tail) << size;
  }
}

TEST_F(Imatrix, RefusesEntriesThatBreakTheFormat) {
  const auto refuse = [](const LegacyImatrix& bytes) {
    EXPECT_THAT(open_bytes(bytes.bytes()), FailsWith(Errc::imatrix_invalid));
  };
  const auto two = [] { return LegacyImatrix().number(2).entry("a", 1, {1}); };
  refuse(two().entry("a", 1, {1}));                       // twice
  refuse(two().entry("b", -1, {1}));                      // calls
  refuse(two().text("b").number(1).number(-5));           // count of values
  refuse(two().text("b").number(1).number(1 << 30));      // more than the file has
  refuse(two().text(std::string(2000, 'x')));             // a name
  refuse(two().entry("b", 1, {1}).number(-1).text("x"));  // chunks
}

/// Three columns in blocks of two: the last block is one number, and a row of a column is filled
/// up.
const GgufImatrixEntry with_moments = {"m.weight", {4, 6, 8}, {2}, 2, {2, -1, -1, 3, 4, 0}};

std::vector<float> moments_of(const ImportanceMatrix& matrix, std::uint64_t block,
                              std::size_t columns, std::uint64_t expert = 0) {
  std::vector<float> moments(columns * columns);
  EXPECT_THAT(matrix.read_moments(matrix.entries()[0], expert, block, moments), Succeeds());
  return moments;
}

TEST_F(Imatrix, ReadsAndWritesSecondMoments) {
  for (const Endian order : {Endian::little, Endian::big}) {
    const ImportanceMatrix matrix = gguf({with_moments}, order);
    EXPECT_EQ(matrix.entries()[0].moment_columns, 2u);
    EXPECT_THAT(matrix.check_values(), Succeeds());
    ASSERT_THAT(matrix.write(folder_.path("again.gguf"), ImatrixFormat::gguf, true), Succeeds());
    for (const ImportanceMatrix& found : {open("imatrix.gguf"), open("again.gguf")}) {
      EXPECT_THAT(moments_of(found, 0, 2), ElementsAre(2.0F, -1.0F, -1.0F, 3.0F));
      EXPECT_THAT(moments_of(found, 1, 1), ElementsAre(4.0F));
      std::vector<float> one(1);
      EXPECT_THAT(found.read_moments(found.entries()[0], 0, 2, one),
                  FailsWith(Errc::index_out_of_range));
      EXPECT_THAT(found.read_moments(found.entries()[0], 1, 0, one),
                  FailsWith(Errc::index_out_of_range));
      EXPECT_THAT(found.read_moments(found.entries()[0], 0, 0, one),
                  FailsWith(Errc::size_mismatch));
    }
  }
}

TEST_F(Imatrix, ExpertsHaveSecondMomentsOfTheirOwn) {
  const ImportanceMatrix matrix =
      gguf({{"e.weight", {1, 1, 1, 1}, {5, 0}, 2, {1, 2, 2, 5, 9, 9, 9, 9}}});
  EXPECT_THAT(moments_of(matrix, 0, 2), ElementsAre(1.0F, 2.0F, 2.0F, 5.0F));
  EXPECT_THAT(moments_of(matrix, 0, 2, 1), ElementsAre(1.0F, 0.0F, 0.0F, 1.0F));  // never used
}

TEST_F(Imatrix, MergesSecondMomentsByTokens) {
  ImportanceMatrix matrix = gguf({with_moments});
  GgufImatrixEntry other = with_moments;
  other.counts = {6};
  other.moments = {6, 3, 3, 7, 8, 0};
  write_gguf_imatrix(folder_.path("other.gguf"), {other});
  ASSERT_THAT(matrix.merge(open("other.gguf")), Succeeds());
  EXPECT_THAT(moments_of(matrix, 0, 2), ElementsAre(5.0F, 2.0F, 2.0F, 6.0F));
  // A fact that one of the files lacks is unknown for all of them together.
  write_gguf_imatrix(folder_.path("without.gguf"), {{"m.weight", {4, 6, 8}, {2}}});
  ASSERT_THAT(matrix.merge(open("without.gguf")), Succeeds());
  EXPECT_EQ(matrix.entries()[0].moment_columns, 0u);
}

TEST_F(Imatrix, RefusesSecondMomentsThatBreakTheFormat) {
  const auto open_with = [&](std::uint64_t columns, const std::vector<float>& moments) {
    GgufImatrixEntry entry = with_moments;
    entry.moment_columns = columns;
    entry.moments = moments;
    write_gguf_imatrix(folder_.path("bad.gguf"), {entry});
    return ImportanceMatrix::open(folder_.path("bad.gguf"));
  };
  EXPECT_THAT(open_with(max_moment_columns + 1, std::vector<float>(3 * (max_moment_columns + 1))),
              FailsWith(Errc::imatrix_invalid));
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(open_with(2, {2, infinity, -1, 3, 4, 0})->check_values(),
              FailsWith(Errc::imatrix_invalid));
  EXPECT_THAT(open_with(2, {2, -1, -1, -3, 4, 0})->check_values(),
              FailsWith(Errc::imatrix_invalid));
}

TEST_F(Imatrix, RefusesExactSumsThatBreakTheFormat) {
  const auto open_with = [&](TensorType type, std::vector<std::uint64_t> shape, double first,
                             float sum = 0, float count = 1) {
    ModelWriter writer;
    writer.set_string("general.type", "imatrix");
    const auto produce = [](std::vector<std::byte> bytes) -> DataProducer {
      return [bytes](const DataSink& sink) { return sink(bytes); };
    };
    std::vector<std::byte> exact(shape[0] * shape[1] * (type == TensorType::f64 ? 8 : 4));
    std::memcpy(exact.data(), &first, sizeof first);
    const std::uint64_t values[] = {4};
    const std::uint64_t one[] = {1};
    std::vector<std::byte> sums(16);
    std::memcpy(sums.data(), &sum, sizeof sum);
    std::vector<std::byte> counts(sizeof count);
    std::memcpy(counts.data(), &count, sizeof count);
    EXPECT_THAT(writer.add_tensor("a.in_sum2", TensorType::f32, values, produce(sums)), Succeeds());
    EXPECT_THAT(writer.add_tensor("a.counts", TensorType::f32, one, produce(counts)), Succeeds());
    EXPECT_THAT(writer.add_tensor("a.in_sum2_exact", type, shape, produce(exact)), Succeeds());
    EXPECT_THAT(writer.write(folder_.path("exact.gguf"), {}, true), Succeeds());
    return ImportanceMatrix::open(folder_.path("exact.gguf"));
  };
  const auto f64 = [&](double first, float sum, float count = 1) {
    return open_with(TensorType::f64, {4, 2}, first, sum, count);
  };
  EXPECT_THAT(f64(1.0, 1.0f)->check_values(), Succeeds());
  EXPECT_THAT(f64(2.0, 1.0f)->check_values(), FailsWith(Errc::imatrix_invalid));
  EXPECT_THAT(f64(-1.0, -1.0f)->check_values(), FailsWith(Errc::imatrix_invalid));
  EXPECT_THAT(f64(0x1p45, 0x1p45f)->check_values(), FailsWith(Errc::imatrix_invalid));
  // Sums that contradict the others do not replace them in a file, nor beside another file.
  const std::string out = folder_.path("written.gguf");
  EXPECT_THAT(f64(2.0, 1.0f)->write(out, ImatrixFormat::gguf, true),
              FailsWith(Errc::imatrix_invalid));
  ImportanceMatrix both = *f64(1.0, 1.0f);
  ASSERT_THAT(both.merge(*f64(1e300, 1.0f)), Succeeds());
  std::vector<float> weights(4);
  EXPECT_THAT(both.read_weights(both.entries()[0], 0, weights), FailsWith(Errc::imatrix_invalid));
  // Beyond the limits sums would be rounded.
  ImportanceMatrix large = *f64(0x1p44, 0x1p44f);
  ASSERT_THAT(large.merge(*f64(0x1p44, 0x1p44f)), Succeeds());
  EXPECT_THAT(large.write(out, ImatrixFormat::gguf, true), FailsWith(Errc::invalid_argument));
  ImportanceMatrix lengthy = *f64(1.0, 1.0f, 0x1p22f);
  EXPECT_THAT(lengthy.write(out, ImatrixFormat::gguf, true), Succeeds());
  ASSERT_THAT(lengthy.merge(*f64(1.0, 1.0f)), Succeeds());
  EXPECT_THAT(lengthy.write(out, ImatrixFormat::gguf, true), FailsWith(Errc::invalid_argument));
  EXPECT_THAT(open_with(TensorType::f32, {4, 2}, 1.0), FailsWith(Errc::imatrix_invalid));
  EXPECT_THAT(open_with(TensorType::f64, {4, 3}, 1.0), FailsWith(Errc::imatrix_invalid));
  EXPECT_THAT(open_with(TensorType::f64, {2, 4}, 1.0), FailsWith(Errc::imatrix_invalid));
  EXPECT_THAT(open_with(TensorType::f64, {4, 2}, std::nan(""))->check_values(),
              FailsWith(Errc::imatrix_invalid));
}

TEST_F(Imatrix, RefusesTensorsThatBreakTheFormat) {
  const auto refuse = [&](std::string_view counts_name, TensorType type,
                          std::vector<std::uint64_t> counts_shape) {
    ModelWriter writer;
    writer.set_string("general.type", "imatrix");
    const std::uint64_t shape[] = {4};
    const auto zeros = [](std::size_t bytes) -> DataProducer {
      return [bytes](const DataSink& sink) { return sink(std::vector<std::byte>(bytes)); };
    };
    ASSERT_THAT(writer.add_tensor("a.in_sum2", TensorType::f32, shape, zeros(16)), Succeeds());
    const std::size_t bytes = counts_shape[0] * (type == TensorType::f32 ? 4 : 2);
    ASSERT_THAT(writer.add_tensor(counts_name, type, counts_shape, zeros(bytes)), Succeeds());
    ASSERT_THAT(writer.write(folder_.path("bad.gguf"), {}, true), Succeeds());
    EXPECT_THAT(ImportanceMatrix::open(folder_.path("bad.gguf")), FailsWith(Errc::imatrix_invalid));
  };
  refuse("b.counts", TensorType::f32, {1});  // no counts
  refuse("a.counts", TensorType::f16, {1});
  refuse("a.counts", TensorType::f32, {3});  // 4 sums for 3 counts
  refuse("a.counts", TensorType::f32, {0});
}

}  // namespace
}  // namespace ingot::test
