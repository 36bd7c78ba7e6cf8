// SPDX-License-Identifier: MIT
// Opening and closing, options, files and notices.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

#include "capi/core/sample_bytes.hpp"
#include "ingot/edit.hpp"
#include "support/little_endian.hpp"

namespace ingot::test {
namespace {

using testing::HasSubstr;

/// A folder of its own for each test.
class FolderTest : public testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& name, std::span<const std::byte> bytes) const {
    const std::filesystem::path path = folder_ / name;
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path.string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ingot_capi_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_;
};

using CapiOpen = FolderTest;

constexpr ingot_open_options defaults = {.struct_size = sizeof(ingot_open_options),
                                         .access = 0,
                                         .is_lenient = 0,
                                         .is_single_file = 0,
                                         .max_depth = 0,
                                         .max_header_bytes = 0,
                                         .max_keys = 0,
                                         .max_tensors = 0,
                                         .max_string_bytes = 0,
                                         .max_array_elements = 0,
                                         .uses_index = 0};

/// Expects `code` from opening `bytes` in memory, and that no model is handed out.
ingot_error expect_refused(ingot_code code, std::span<const std::byte> bytes,
                           const ingot_open_options* options = nullptr) {
  ingot_model* model = nullptr;
  const ingot_error error = expect_code(code, [&](ingot_error* e) {
    return ingot_open_memory(bytes.data(), bytes.size(), options, &model, e);
  });
  EXPECT_EQ(model, nullptr);
  return error;
}

// --- by path -------------------------------------------------------------------------------------

TEST_F(CapiOpen, ByPathMappedAndRead) {
  const Bytes bytes = sample_bytes();
  const std::string file = write("model.gguf", bytes);
  for (const std::uint32_t access : {INGOT_ACCESS_MAP, INGOT_ACCESS_READ}) {
    ingot_open_options options = defaults;
    options.access = access;
    ingot_model* opened = nullptr;
    ingot_error error = untouched_error();
    ASSERT_EQ(ingot_open(file.c_str(), &options, &opened, &error), INGOT_OK);
    EXPECT_TRUE(is_untouched(error));
    const ModelPointer model(opened);
    EXPECT_EQ(ingot_key_count(opened), sample_key_count);
    EXPECT_EQ(ingot_tensor_count(opened), sample_tensor_count);
    EXPECT_EQ(ingot_file_count(opened), 1U);
    EXPECT_EQ(ingot_shard_count(opened), 1U);

    ingot_file_info info = {};
    info.struct_size = sizeof info;
    ASSERT_EQ(ingot_get_file_info(opened, 0, &info, nullptr), INGOT_OK);
    EXPECT_EQ(info.path, file);
    EXPECT_EQ(info.shard, 0U);
    EXPECT_EQ(info.version, 3U);
    EXPECT_EQ(info.is_big_endian, 0U);
    EXPECT_EQ(info.has_old_magic, 0U);
    EXPECT_EQ(info.alignment, 32U);
    EXPECT_EQ(info.file_bytes, bytes.size());
    EXPECT_LT(info.infos_offset, info.header_bytes);
    EXPECT_LE(info.header_bytes, info.data_offset);
    EXPECT_EQ(info.data_offset, bytes.size() - sample_data_bytes);
    EXPECT_EQ(info.key_count, sample_key_count);
    EXPECT_EQ(info.tensor_count, sample_tensor_count);
  }
}

TEST_F(CapiOpen, MissingFile) {
  const std::string missing = path("nothing");
  ingot_model* model = nullptr;
  const ingot_error error = expect_code(INGOT_ERROR_IO_ERROR, [&](ingot_error* e) {
    return ingot_open(missing.c_str(), nullptr, &model, e);
  });
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(error.file_offset, INGOT_NO_OFFSET);
  EXPECT_THAT(std::string(error.message), HasSubstr("No such file"));
}

TEST_F(CapiOpen, FolderIsNoModel) {
  ingot_model* model = nullptr;
  expect_code(INGOT_ERROR_NOT_A_REGULAR_FILE,
              [&](ingot_error* e) { return ingot_open(path("").c_str(), nullptr, &model, e); });
  EXPECT_EQ(model, nullptr);
}

TEST_F(CapiOpen, ShardsBesideTheFile) {
  const auto shard = [](std::uint16_t index, std::string_view tensor) {
    return GgufBuilder()
        .pair("split.no", index)
        .pair("split.count", std::uint16_t{2})
        .pair("split.tensors.count", std::int32_t{2})
        .tensor(tensor, {2}, TensorType::f32, 0)
        .pad_to(32)
        .number(1.5F)
        .number(static_cast<float>(index))
        .bytes();
  };
  const std::string first = write("model-00001-of-00002.gguf", shard(0, "first"));
  const std::string second = write("model-00002-of-00002.gguf", shard(1, "second"));

  ingot_model* opened = nullptr;
  ASSERT_EQ(ingot_open(first.c_str(), nullptr, &opened, nullptr), INGOT_OK);
  const ModelPointer both(opened);
  EXPECT_EQ(ingot_file_count(opened), 2U);
  EXPECT_EQ(ingot_shard_count(opened), 2U);
  EXPECT_EQ(ingot_tensor_count(opened), 2U);
  EXPECT_EQ(ingot_find_tensor(opened, "second"), 1);
  ingot_tensor_info tensor = {};
  tensor.struct_size = sizeof tensor;
  ASSERT_EQ(ingot_get_tensor_info(opened, 1, &tensor, nullptr), INGOT_OK);
  EXPECT_EQ(tensor.file, 1U);
  ingot_file_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(ingot_get_file_info(opened, 1, &info, nullptr), INGOT_OK);
  EXPECT_EQ(info.path, second);
  EXPECT_EQ(info.shard, 1U);
  EXPECT_EQ(info.tensor_count, 1U);
  float numbers[2] = {};
  ASSERT_EQ(ingot_read_tensor(opened, 1, 0, numbers, sizeof numbers, nullptr), INGOT_OK);
  ingot::test::swap_if_big_endian(std::span<float>(numbers));
  EXPECT_EQ(numbers[1], 1.0F);

  ingot_open_options options = defaults;
  options.is_single_file = 1;
  ASSERT_EQ(ingot_open(first.c_str(), &options, &opened, nullptr), INGOT_OK);
  const ModelPointer alone(opened);
  EXPECT_EQ(ingot_file_count(opened), 1U);
  EXPECT_EQ(ingot_tensor_count(opened), 1U);
}

TEST_F(CapiOpen, MissingShardIsANotice) {
  const Bytes file = GgufBuilder()
                         .pair("split.no", std::uint16_t{0})
                         .pair("split.count", std::uint16_t{2})
                         .bytes();
  const std::string first = write("model-00001-of-00002.gguf", file);
  ingot_model* opened = nullptr;
  ASSERT_EQ(ingot_open(first.c_str(), nullptr, &opened, nullptr), INGOT_OK);
  const ModelPointer model(opened);
  EXPECT_EQ(ingot_file_count(opened), 1U);
  EXPECT_EQ(ingot_shard_count(opened), 2U);
  bool is_told = false;
  for (std::uint64_t i = 0; i < ingot_notice_count(opened); ++i) {
    ingot_error notice;
    ASSERT_EQ(ingot_get_notice(opened, i, &notice, nullptr), INGOT_OK);
    EXPECT_EQ(ingot_code_category(notice.code), INGOT_CATEGORY_NOTICE);
    is_told = is_told || notice.code == INGOT_ERROR_SHARD_MISSING;
  }
  EXPECT_TRUE(is_told);
}

// --- from memory ---------------------------------------------------------------------------------

TEST(CapiOpenMemory, RefusesWhatIsNoModel) {
  expect_refused(INGOT_ERROR_TRUNCATED, {});
  const std::vector<std::byte> zeros(64);
  const ingot_error error = expect_refused(INGOT_ERROR_NOT_GGUF, zeros);
  EXPECT_EQ(error.file_offset, 0U);
  EXPECT_THAT(std::string(error.message), HasSubstr(ingot_code_sentence(INGOT_ERROR_NOT_GGUF)));
}

TEST(CapiOpenMemory, EveryTruncationIsAnError) {
  const Bytes bytes = sample_bytes();
  // The last tensor with data ends 14 bytes before the end of the file, which may be missing.
  for (std::size_t size = 0; size < bytes.size() - 14; ++size) {
    SCOPED_TRACE(size);
    const Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    ingot_model* model = nullptr;
    ingot_error error = untouched_error();
    ASSERT_NE(ingot_open_memory(part.data(), part.size(), nullptr, &model, &error), INGOT_OK);
    ASSERT_EQ(model, nullptr);
    EXPECT_EQ(ingot_code_category(error.code), INGOT_CATEGORY_INPUT) << error.message;
  }
}

TEST(CapiOpenMemory, MessageNamesKeyAndPlaceSafely) {
  const Bytes file = GgufBuilder().pair("evil\x1b[2J", true).pair("evil\x1b[2J", true).bytes();
  const ingot_error error = expect_refused(INGOT_ERROR_KEY_DUPLICATE, file);
  EXPECT_NE(error.file_offset, INGOT_NO_OFFSET);
  EXPECT_THAT(std::string(error.message), HasSubstr("evil\\x1b[2J"));
}

TEST(CapiOpenMemory, LongMessagesAreCut) {
  // 0 columns wide each, so that no limit on columns cuts them: U+0301 is a combining accent.
  std::string key;
  for (int i = 0; i < 5000; ++i) key += "\xCC\x81";
  const Bytes file = GgufBuilder().pair(key, true).pair(key, true).bytes();
  const ingot_error error = expect_refused(INGOT_ERROR_KEY_DUPLICATE, file);
  const std::string_view message = error.message;
  EXPECT_LT(message.size(), std::size_t{INGOT_MESSAGE_BYTES});
}

TEST(CapiOpenMemory, BorrowsTheBytes) {
  const Bytes bytes = sample_bytes();
  const ModelPointer model = open_bytes(bytes);
  ingot_string name;
  ASSERT_EQ(ingot_key_name(model.get(), 0, &name, nullptr), INGOT_OK);
  EXPECT_GE(reinterpret_cast<const std::byte*>(name.data), bytes.data());
  EXPECT_LT(reinterpret_cast<const std::byte*>(name.data), bytes.data() + bytes.size());
}

TEST(CapiOpenMemory, FileHasNoPath) {
  const Bytes bytes = sample_bytes();
  const ModelPointer model = open_bytes(bytes);
  ingot_file_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(ingot_get_file_info(model.get(), 0, &info, nullptr), INGOT_OK);
  EXPECT_STREQ(info.path, "");
}

// --- by callback ---------------------------------------------------------------------------------

/// A file behind a function, which fails when it is told to.
struct Storage {
  Bytes bytes = sample_bytes();
  int reads_until_failure = -1;  // never
  bool throws = false;

  static int read(void* user, std::uint64_t file_offset, void* destination,
                  std::size_t size_bytes) {
    auto& self = *static_cast<Storage*>(user);
    if (self.reads_until_failure == 0) {
      if (self.throws) throw std::runtime_error("nobody may see this");
      return 17;
    }
    if (self.reads_until_failure > 0) --self.reads_until_failure;
    EXPECT_LE(file_offset, self.bytes.size());
    EXPECT_LE(size_bytes, self.bytes.size() - file_offset);
    std::memcpy(destination, self.bytes.data() + file_offset, size_bytes);
    return 0;
  }
  [[nodiscard]] ingot_code open(ingot_model** model, ingot_error* error) {
    return ingot_open_callback(bytes.size(), read, this, nullptr, model, error);
  }
};

TEST(CapiOpenCallback, ReadsThroughTheFunction) {
  Storage storage;
  ingot_model* opened = nullptr;
  ASSERT_EQ(storage.open(&opened, nullptr), INGOT_OK);
  const ModelPointer model(opened);
  EXPECT_EQ(ingot_key_count(opened), sample_key_count);
  std::uint8_t first[4] = {};
  ASSERT_EQ(ingot_read_tensor(opened, 0, 2, first, sizeof first, nullptr), INGOT_OK);
  EXPECT_THAT(first, testing::ElementsAre(3, 4, 5, 6));
  const void* data = nullptr;
  expect_code(INGOT_ERROR_NOT_MAPPED,
              [&](ingot_error* e) { return ingot_tensor_data(opened, 0, &data, nullptr, e); });
  EXPECT_EQ(data, nullptr);

  storage.reads_until_failure = 0;
  expect_code(INGOT_ERROR_IO_ERROR, [&](ingot_error* e) {
    return ingot_read_tensor(opened, 0, 0, first, sizeof first, e);
  });
}

TEST(CapiOpenCallback, FailureIsAnErrorWhileOpening) {
  Storage storage;
  storage.reads_until_failure = 0;
  ingot_model* model = nullptr;
  expect_code(INGOT_ERROR_IO_ERROR, [&](ingot_error* e) { return storage.open(&model, e); });
  EXPECT_EQ(model, nullptr);
}

TEST(CapiOpenCallback, NothingIsThrownThroughTheInterface) {
  Storage storage;
  storage.reads_until_failure = 0;
  storage.throws = true;
  ingot_model* model = nullptr;
  expect_code(INGOT_ERROR_INTERNAL, [&](ingot_error* e) { return storage.open(&model, e); });
  EXPECT_EQ(model, nullptr);
}

TEST(CapiOpenCallback, SizeThatIsTooSmallIsATruncatedFile) {
  Storage storage;
  for (const std::uint64_t size : {0U, 10U, 23U}) {
    ingot_model* model = nullptr;
    expect_code(INGOT_ERROR_TRUNCATED, [&](ingot_error* e) {
      return ingot_open_callback(size, Storage::read, &storage, nullptr, &model, e);
    });
    EXPECT_EQ(model, nullptr);
  }
}

// --- options -------------------------------------------------------------------------------------

TEST(CapiOptions, SizeMustBeThatOfAKnownVersion) {
  const Bytes bytes = sample_bytes();
  ingot_open_options options = defaults;
  constexpr std::size_t first_size = offsetof(ingot_open_options, uses_index);
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, first_size - 1, SIZE_MAX}) {
    options.struct_size = size;
    expect_refused(INGOT_ERROR_INVALID_ARGUMENT, bytes, &options);
  }
}

TEST(CapiOptions, LaterOptionsPassIfTheyAreNotSet) {
  const Bytes bytes = sample_bytes();
  struct {
    ingot_open_options known = defaults;
    std::uint64_t later = 0;
  } options;
  options.known.struct_size = sizeof options;
  const ModelPointer model = open_bytes(bytes, &options.known);
  EXPECT_EQ(ingot_key_count(model.get()), sample_key_count);
  options.later = 1;
  expect_refused(INGOT_ERROR_INVALID_ARGUMENT, bytes, &options.known);
}

TEST(CapiOptions, UnknownAccess) {
  ingot_open_options options = defaults;
  options.access = 2;
  expect_refused(INGOT_ERROR_INVALID_ARGUMENT, sample_bytes(), &options);
}

TEST(CapiOptions, EveryLimitLimits) {
  const Bytes bytes = sample_bytes();
  for (const auto limit : {&ingot_open_options::max_header_bytes, &ingot_open_options::max_keys,
                           &ingot_open_options::max_tensors, &ingot_open_options::max_string_bytes,
                           &ingot_open_options::max_array_elements}) {
    ingot_open_options options = defaults;
    options.*limit = 1;
    expect_refused(INGOT_ERROR_LIMIT_EXCEEDED, bytes, &options);
    options.*limit = 1'000'000;
    EXPECT_NE(open_bytes(bytes, &options), nullptr);
  }
  ingot_open_options options = defaults;
  options.max_depth = 1;
  expect_refused(INGOT_ERROR_NESTING_TOO_DEEP, bytes, &options);
  options.max_depth = 2;
  EXPECT_NE(open_bytes(bytes, &options), nullptr);
}

TEST(CapiOptions, LenientOpensUnknownTypes) {
  const Bytes bytes = GgufBuilder()
                          .tensor("strange", {8}, static_cast<TensorType>(1000), 0)
                          .pad_to(32)
                          .data(32)
                          .bytes();
  const ingot_error error = expect_refused(INGOT_ERROR_TENSOR_TYPE_UNKNOWN, bytes);
  EXPECT_EQ(ingot_code_category(error.code), INGOT_CATEGORY_LENIENT);

  ingot_open_options options = defaults;
  options.is_lenient = 1;
  const ModelPointer model = open_bytes(bytes, &options);
  ingot_tensor_info tensor = {};
  tensor.struct_size = sizeof tensor;
  ASSERT_EQ(ingot_get_tensor_info(model.get(), 0, &tensor, nullptr), INGOT_OK);
  EXPECT_EQ(tensor.type, 1000U);
  EXPECT_EQ(tensor.size_bytes, 32U);
}

// --- arguments -----------------------------------------------------------------------------------

TEST(CapiArguments, OpeningRefusesNull) {
  const Bytes bytes = sample_bytes();
  ingot_model* model = nullptr;
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_open(nullptr, nullptr, &model, e); });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_open("model.gguf", nullptr, nullptr, e); });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_open_memory(nullptr, 1, nullptr, &model, e); });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, [&](ingot_error* e) {
    return ingot_open_memory(bytes.data(), bytes.size(), nullptr, nullptr, e);
  });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, [&](ingot_error* e) {
    return ingot_open_callback(1, nullptr, nullptr, nullptr, &model, e);
  });
  Storage storage;
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return storage.open(nullptr, e); });
  EXPECT_EQ(model, nullptr);
  ingot_close(nullptr);
}

TEST_F(CapiOpen, ThroughAnIndexIsUnverified) {
  const std::string plain = write("plain.gguf", sample_bytes());
  const std::string indexed = path("indexed.gguf");
  auto edit = ModelEdit::open(plain);
  ASSERT_TRUE(edit);
  edit->add_index();
  ASSERT_TRUE(edit->save_as(indexed));
  ingot_open_options options = defaults;
  for (const std::uint64_t uses_index : {0u, 1u}) {
    options.uses_index = uses_index;
    for (const std::string& file : {plain, indexed}) {
      ingot_model* opened = nullptr;
      ASSERT_EQ(ingot_open(file.c_str(), &options, &opened, nullptr), INGOT_OK);
      const ModelPointer model(opened);
      EXPECT_EQ(ingot_is_verified(opened), uses_index == 1 && file == indexed ? 0 : 1);
    }
  }
  EXPECT_EQ(ingot_is_verified(nullptr), 0);
}

TEST(CapiArguments, NoModelHasNothing) {
  EXPECT_EQ(ingot_file_count(nullptr), 0U);
  EXPECT_EQ(ingot_shard_count(nullptr), 0U);
  EXPECT_EQ(ingot_notice_count(nullptr), 0U);
}

class CapiFiles : public SampleTest {};

TEST_F(CapiFiles, FileInfoRefusesNullAndWrongIndexes) {
  ingot_file_info info = {};
  info.struct_size = sizeof info;
  const ingot_file_info before = info;
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_get_file_info(nullptr, 0, &info, e); });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_get_file_info(model(), 0, nullptr, e); });
  for (const std::uint64_t index : {std::uint64_t{1}, UINT64_MAX}) {
    expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE,
                [&](ingot_error* e) { return ingot_get_file_info(model(), index, &info, e); });
  }
  EXPECT_EQ(std::memcmp(&info, &before, sizeof info), 0);
}

TEST_F(CapiFiles, FileInfoOfOtherVersions) {
  ingot_file_info info = {};
  info.struct_size = sizeof info - 1;
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_get_file_info(model(), 0, &info, e); });
  EXPECT_EQ(info.version, 0U);

  struct {
    ingot_file_info known = {};
    std::uint64_t later = 42;
  } longer;
  longer.known.struct_size = sizeof longer;
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_get_file_info(model(), 0, &longer.known, e); });
  EXPECT_EQ(longer.known.struct_size, sizeof longer);
  EXPECT_EQ(longer.known.version, 3U);
  EXPECT_EQ(longer.later, 42U);
}

TEST_F(CapiFiles, NoticesRefuseNullAndWrongIndexes) {
  ingot_error notice = untouched_error();
  EXPECT_EQ(ingot_notice_count(model()), 0U);
  expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE,
              [&](ingot_error* e) { return ingot_get_notice(model(), 0, &notice, e); });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_get_notice(nullptr, 0, &notice, e); });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT,
              [&](ingot_error* e) { return ingot_get_notice(model(), 0, nullptr, e); });
  EXPECT_TRUE(is_untouched(notice));
}

TEST_F(CapiFiles, BigEndianAndOldMagicAreTold) {
  const Bytes old_magic = GgufBuilder(v3_big, "FUGG").bytes();
  const ModelPointer old_model = open_bytes(old_magic);
  ingot_file_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(ingot_get_file_info(old_model.get(), 0, &info, nullptr), INGOT_OK);
  EXPECT_EQ(info.is_big_endian, 1U);
  EXPECT_EQ(info.has_old_magic, 1U);
  EXPECT_EQ(info.version, 3U);
}

}  // namespace
}  // namespace ingot::test
