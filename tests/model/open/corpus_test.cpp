// SPDX-License-Identifier: MIT
// tests/corpus: what is in valid/ opens, and is written as it was; what is in invalid/ is refused
// with the error that its name begins with.

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "support/expect_error.hpp"
#include "support/model_checks.hpp"
#include "support/shared_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpus(const char* kind) {
  return files_in(fs::path(INGOT_SOURCE_DIR) / "tests" / "corpus" / kind, ".gguf");
}
constexpr auto file_stem = [](const auto& suite) { return suite.param.stem().string(); };

class Valid : public testing::TestWithParam<fs::path> {};
INSTANTIATE_TEST_SUITE_P(Corpus, Valid, testing::ValuesIn(corpus("valid")), file_stem);

TEST_P(Valid, OpensAndIsWrittenAgain) {
  const Bytes bytes = read_whole(GetParam());
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(find_inconsistency(*model), "");
  const ModelFile& file = model->files()[0];
  if (file.alignment > 4096) return;  // much padding, nothing new

  const auto header = serialise_header(*model);
  ASSERT_THAT(header, Succeeds());
  Bytes again = *header;
  if (file.file_bytes > file.data_offset) {
    again.resize(again.size() + (file.file_bytes - file.data_offset));
  }
  const auto reopened = Model::open_memory(again);
  ASSERT_THAT(reopened, Succeeds());
  EXPECT_EQ(find_difference(*model, *reopened), "");
  const bool has_quirk = file.has_old_magic || !model->notices().empty();
  const bool is_same =
      std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(file.header_bytes),
                 header->begin());
  EXPECT_EQ(is_same, !has_quirk);
}

class Invalid : public testing::TestWithParam<fs::path> {};
INSTANTIATE_TEST_SUITE_P(Corpus, Invalid, testing::ValuesIn(corpus("invalid")), file_stem);

TEST_P(Invalid, IsRefusedWithTheErrorOfItsName) {
  const Bytes bytes = read_whole(GetParam());
  const std::string name = GetParam().stem();
  const auto model = Model::open_memory(bytes);
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(name_of(model.error().code), name.substr(0, name.find("__")));
  const bool is_lenient = category_of(model.error().code) == ErrorCategory::lenient;
  const auto leniently = Model::open_memory(bytes, {.is_lenient = true});
  EXPECT_EQ(leniently.has_value(), is_lenient);
  EXPECT_EQ(leniently ? find_inconsistency(*leniently) : "", "");
  EXPECT_EQ(model.error().message().find("lenient") != std::string::npos, is_lenient);
}

TEST(Corpus, HasEveryErrorThatOneFileInMemoryCanHave) {
  std::set<std::string> missing;
  constexpr int end_of_reading = 80;  // the numbers above are about other work and other formats
#define INGOT_ERROR(number, name, constant, category, sentence)                         \
  if (number < end_of_reading && (ErrorCategory::category == ErrorCategory::input ||    \
                                  ErrorCategory::category == ErrorCategory::lenient)) { \
    missing.insert(#name);                                                              \
  }
#include "ingot/errors.def"
  missing.erase("shard_mismatch");      // takes two files
  missing.erase("not_a_regular_file");  // is about what is not in memory
  for (const fs::path& path : corpus("invalid")) {
    const std::string name = path.stem();
    missing.erase(name.substr(0, name.find("__")));
  }
  EXPECT_THAT(missing, testing::IsEmpty());
}

}  // namespace
}  // namespace ingot::test
