// SPDX-License-Identifier: MIT
// Opening a model in every way there is, and what it then answers.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "support/expect_error.hpp"
#include "support/model_checks.hpp"
#include "support/pipe_writer.hpp"
#include "support/sample_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

/// Opens a file through a function that hands out its bytes.
Result<Model> open_by_callback(const std::shared_ptr<Bytes>& bytes, const OpenOptions& options) {
  return Model::open_source(
      read_through(bytes->size(),
                   [bytes](std::uint64_t at, std::span<std::byte> destination) {
                     std::memcpy(destination.data(), bytes->data() + at, destination.size());
                     return true;
                   }),
      options);
}

Result<Model> open_by_descriptor(const std::string& path, const OpenOptions& options) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  Result<Model> model = Model::open_descriptor(descriptor, options);
  ::close(descriptor);  // was ours and stayed open; the model needs it no longer
  return model;
}

/// The answers to one file of every way to open it, by the name of the way.
std::vector<std::pair<std::string, Result<Model>>> open_every_way(const std::string& path,
                                                                  OpenOptions options = {}) {
  std::vector<std::pair<std::string, Result<Model>>> models;
  const auto bytes = std::make_shared<Bytes>(read_whole(path));
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    options.access = access;
    const std::string suffix = access == FileAccess::map ? " (map)" : " (read)";
    models.emplace_back("path" + suffix, Model::open(path, options));
    models.emplace_back("descriptor" + suffix, open_by_descriptor(path, options));
  }
  models.emplace_back("callback", open_by_callback(bytes, options));
  const PipeWriter pipe(*bytes);
  models.emplace_back("pipe", Model::open_descriptor(pipe.read_end(), options));
  return models;
}

class ModelOpen : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(ModelOpen, EveryWayGivesTheSameModel) {
  for (const Format format : all_formats) {
    const Bytes bytes = file_of_everything(format);
    const auto expected = Model::open_memory(bytes);
    ASSERT_THAT(expected, Succeeds());
    EXPECT_EQ(find_inconsistency(*expected), "");
    for (const auto& [way, model] : open_every_way(folder_.write("model.gguf", bytes))) {
      SCOPED_TRACE(way);
      ASSERT_THAT(model, Succeeds());
      EXPECT_EQ(find_inconsistency(*model), "");
      EXPECT_EQ(find_difference(*expected, *model), "");
      const ModelFile& file = model->files()[0];
      EXPECT_EQ(file.version, format.version);
      EXPECT_EQ(file.byte_order, format.byte_order);
      EXPECT_EQ(file.file_bytes, bytes.size());
      EXPECT_EQ(file.alignment, 16u);
      EXPECT_EQ(file.path, way.starts_with("path") ? folder_.path("model.gguf") : "");
    }
  }
}

TEST_F(ModelOpen, EveryWayGivesTheSameError) {
  GgufBuilder duplicate;
  duplicate.pair("long", std::string(100'000, 'x')).pair("k", true).pair("k", true);
  GgufBuilder cut;
  cut.pair("long", std::string(100'000, 'x')).key("k", ValueType::string).u64(1000).data(50);
  GgufBuilder no_data;
  no_data.tensor("t", {1000}, TensorType::f32, 0).pad_to(32).data(100);
  for (const Bytes& bytes : {duplicate.bytes(), cut.bytes(), no_data.bytes(), Bytes(3), Bytes()}) {
    const auto expected = Model::open_memory(bytes);
    ASSERT_FALSE(expected.has_value());
    for (const auto& [way, model] : open_every_way(folder_.write("model.gguf", bytes))) {
      SCOPED_TRACE(way);
      ASSERT_FALSE(model.has_value());
      EXPECT_EQ(model.error().message(), expected.error().message());
    }
  }
}

TEST_F(ModelOpen, OptionsReachTheParserEveryWay) {
  const GgufBuilder file = GgufBuilder().key("k", ValueType::boolean).u8(2);
  const std::string path = folder_.write("model.gguf", file.bytes());
  for (const auto& [way, model] : open_every_way(path)) {
    EXPECT_THAT(model, FailsWith(Errc::bool_invalid)) << way;
  }
  for (const auto& [way, model] : open_every_way(path, {.is_lenient = true})) {
    EXPECT_THAT(model, Succeeds()) << way;
  }
  for (const auto& [way, model] : open_every_way(path, {.limits = {.max_keys = 0}})) {
    EXPECT_THAT(model, FailsWith(Errc::limit_exceeded)) << way;
  }
}

TEST_F(ModelOpen, AHeaderOpensWithoutItsData) {
  const Bytes bytes = file_of_everything(v3);
  const auto whole = Model::open_memory(bytes);
  ASSERT_THAT(whole, Succeeds());
  const std::uint64_t data_offset = whole->files()[0].data_offset;
  const auto cut_at = [&](std::uint64_t size) {
    return folder_.write("cut.gguf", Bytes(bytes.begin(), bytes.begin() + static_cast<int>(size)));
  };
  const OpenOptions header_only{.is_header_only = true};
  for (const std::uint64_t size : {data_offset, data_offset + 1, std::uint64_t{bytes.size()}}) {
    for (const auto& [way, model] : open_every_way(cut_at(size), header_only)) {
      SCOPED_TRACE(way + " of " + std::to_string(size));
      ASSERT_THAT(model, Succeeds());
      EXPECT_EQ(model->tensors().size(), whole->tensors().size());
      EXPECT_GE(model->files()[0].file_bytes,
                whole->find_tensor("late")->data_offset + data_offset);
      Bytes part(1);
      EXPECT_THAT(model->read(*model->find_tensor("late"), 0, part), FailsWith(Errc::not_mapped));
      EXPECT_TRUE(model->data(*model->find_tensor("late")).empty());
    }
  }
  for (const auto& [way, model] : open_every_way(cut_at(data_offset / 2), header_only)) {
    EXPECT_THAT(model, FailsWith(Errc::truncated)) << way;
  }
}

TEST_F(ModelOpen, WhatIsNoFileIsRefusedWithoutWaiting) {
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    const OpenOptions options{.access = access};
    EXPECT_THAT(Model::open(folder_.path("missing.gguf"), options), FailsWith(Errc::io_error));
    EXPECT_THAT(Model::open(folder_.path(""), options), FailsWith(Errc::not_a_regular_file));
    const std::string fifo = folder_.path("fifo");
    ::mkfifo(fifo.c_str(), 0600);
    EXPECT_THAT(Model::open(fifo, options), FailsWith(Errc::not_a_regular_file));
    EXPECT_THAT(open_by_descriptor(folder_.path(""), options), FailsWith(Errc::not_a_regular_file));
    EXPECT_THAT(Model::open_descriptor(-1, options), FailsWith(Errc::io_error));
  }
  EXPECT_THAT(Model::open_source(nullptr), FailsWith(Errc::invalid_argument));
}

TEST_F(ModelOpen, ADescriptorStaysOpenAndWhereItWas) {
  const std::string path = folder_.write("model.gguf", file_of_everything(v3));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_THAT(Model::open_descriptor(descriptor), Succeeds());
  EXPECT_THAT(Model::open_descriptor(descriptor, {.access = FileAccess::read}), Succeeds());
  EXPECT_EQ(::lseek(descriptor, 0, SEEK_CUR), 0);
  EXPECT_EQ(::close(descriptor), 0);
}

TEST_F(ModelOpen, TensorDataIsTheBytesOfTheFile) {
  const Bytes bytes = file_of_everything(v3);
  for (const auto& [way, model] : open_every_way(folder_.write("model.gguf", bytes))) {
    SCOPED_TRACE(way);
    ASSERT_THAT(model, Succeeds());
    const TensorInfo* tensor = model->find_tensor("late");
    ASSERT_NE(tensor, nullptr);
    ASSERT_EQ(tensor->size_bytes, 48u);
    const std::byte* expected = bytes.data() + model->file_offset(*tensor);
    Bytes part(20);
    const auto read = model->read(*tensor, 28, part);
    if (way == "pipe") {
      EXPECT_THAT(read, FailsWith(Errc::not_mapped, model->file_offset(*tensor) + 28, "late"));
    } else {
      ASSERT_THAT(read, Succeeds());
      EXPECT_TRUE(std::equal(part.begin(), part.end(), expected + 28));
    }
    const auto data = model->data(*tensor);
    EXPECT_EQ(data.size(), way.ends_with("(map)") ? 48u : 0u);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), expected));
  }
}

TEST_F(ModelOpen, OnlyPartsOfATensorCanBeRead) {
  const Bytes bytes = file_of_everything(v3);
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const TensorInfo& tensor = *model->find_tensor("late");
  Bytes part(49);
  const auto read = [&](std::uint64_t offset, std::size_t size) {
    return model->read(tensor, offset, std::span(part).first(size));
  };
  EXPECT_THAT(read(0, 48), Succeeds());
  EXPECT_THAT(read(48, 0), Succeeds());
  EXPECT_THAT(read(0, 49), FailsWith(Errc::size_mismatch));
  EXPECT_THAT(read(1, 48), FailsWith(Errc::size_mismatch));
  EXPECT_THAT(read(49, 0), FailsWith(Errc::size_mismatch));
  EXPECT_THAT(read(~std::uint64_t{0}, 2), FailsWith(Errc::size_mismatch));
}

TEST_F(ModelOpen, BytesOfTheFileCanBeRead) {
  const Bytes bytes = file_of_everything(v3);
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  Bytes all(bytes.size());
  EXPECT_THAT(model->read_file_bytes(0, 0, all), Succeeds());
  EXPECT_EQ(all, bytes);
  EXPECT_THAT(model->read_file_bytes(0, 1, all), FailsWith(Errc::truncated));
  EXPECT_THAT(model->read_file_bytes(1, 0, all), FailsWith(Errc::index_out_of_range));
}

TEST_F(ModelOpen, KeysAreFoundByNameAndRead) {
  const Bytes bytes = file_of_everything(v3);
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  EXPECT_EQ(model->get<std::string_view>("general.architecture"), "llama");
  EXPECT_EQ(model->get<int>("number.i32"), -70'000);
  EXPECT_EQ(model->get_or<int>("number.i32", 1), -70'000);
  EXPECT_EQ(model->get_or<std::uint8_t>("number.i32", 1), 1);
  EXPECT_EQ(model->get_or<bool>("missing", true), true);
  EXPECT_THAT(model->get<int>("missing"),
              FailsWith(Errc::key_not_found, Error::no_offset, "missing"));
  const Value* text = model->find("text");
  ASSERT_NE(text, nullptr);
  EXPECT_THAT(model->get<int>("text"), FailsWith(Errc::wrong_type, text->file_offset(), "text"));
  EXPECT_EQ(model->find("tex"), nullptr);
  EXPECT_EQ(model->find(""), nullptr);
  EXPECT_EQ(model->find_tensor("missing"), nullptr);
  EXPECT_NE(model->find_tensor(""), nullptr);  // there is one without a name
}

TEST_F(ModelOpen, AModelCanBeMovedAndItsViewsStay) {
  const Bytes bytes = file_of_everything(v3);
  auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const Value* before = model->find("array.text");
  const Model moved = *std::move(model);
  EXPECT_EQ(moved.find("array.text"), before);
  EXPECT_EQ(before->as_array().get<std::string_view>(0), "<s>");
  EXPECT_EQ(find_inconsistency(moved), "");
}

TEST_F(ModelOpen, WhatIsOddIsNoticed) {
  const Bytes odd = GgufBuilder(v2).pair(std::string_view("k\0", 2), true).bytes();
  const auto model = Model::open_memory(odd);
  ASSERT_THAT(model, Succeeds());
  ASSERT_EQ(model->notices().size(), 1u);
  EXPECT_EQ(model->notices()[0].code, Errc::trailing_nul_stripped);
  EXPECT_EQ(category_of(model->notices()[0].code), ErrorCategory::notice);
  const Bytes plain = file_of_everything(v3);
  EXPECT_TRUE(Model::open_memory(plain)->notices().empty());
}

/// Reads of a model whose header is in memory and whose data is not: an endless row of zeros.
struct ReadLog {
  std::uint64_t read_bytes = 0;
  std::uint64_t last_byte = 0;
  std::size_t read_count = 0;
};

Result<Model> open_logged(const Bytes& header, std::uint64_t file_bytes, ReadLog& log) {
  return Model::open_source(
      read_through(file_bytes, [&](std::uint64_t at, std::span<std::byte> destination) {
        ++log.read_count;
        log.read_bytes += destination.size();
        log.last_byte = std::max(log.last_byte, at + destination.size());
        for (std::size_t i = 0; i < destination.size(); ++i) {
          destination[i] = at + i < header.size() ? header[at + i] : std::byte{0};
        }
        return true;
      }));
}

TEST(ModelRead, ReadsLittleMoreThanTheHeader) {
  constexpr std::uint64_t tensor_bytes = std::uint64_t{1} << 40;
  for (const std::size_t text_bytes : {10u, 60'000u, 70'000u, 1'000'000u, 5'000'000u}) {
    GgufBuilder file;
    file.pair("text", std::string(text_bytes, 'x'));
    file.array_key("tokens", ValueType::string, 1000);
    for (int i = 0; i < 1000; ++i) file.text("token");
    file.tensor("t", {tensor_bytes}, TensorType::i8, 0).pad_to(32);
    ReadLog log;
    const Bytes header = file.bytes();
    const auto model = open_logged(header, header.size() + tensor_bytes, log);
    ASSERT_THAT(model, Succeeds());
    constexpr std::uint64_t first_piece = 64 << 10;
    EXPECT_LE(log.read_bytes, std::max<std::uint64_t>(first_piece, 3 * header.size()))
        << text_bytes;
    EXPECT_LE(log.last_byte, std::max<std::uint64_t>(first_piece, 3 * header.size()));
    EXPECT_LE(log.read_count, 10u);
  }
}

TEST(ModelRead, AHeaderThatPromisesMuchIsNotReadInVain) {
  // Counts and lengths that a file of 2^50 bytes could hold, and the limits do not allow.
  const std::vector<Bytes> headers = {
      GgufBuilder().set_counts(std::uint64_t{1} << 40, 0).bytes(),
      GgufBuilder().set_counts(0, std::uint64_t{1} << 40).bytes(),
      GgufBuilder().key("k", ValueType::string).u64(std::uint64_t{1} << 49).bytes(),
      GgufBuilder().array_key("k", ValueType::uint8, std::uint64_t{1} << 49).bytes()};
  for (const Bytes& header : headers) {
    ReadLog log;
    EXPECT_THAT(open_logged(header, std::uint64_t{1} << 50, log), FailsWith(Errc::limit_exceeded));
    EXPECT_LE(log.read_bytes, 64u << 10);
  }
}

TEST(ModelRead, AReadThatFailsIsTheErrorOfOpening) {
  const Bytes file = GgufBuilder().pair("text", std::string(1'000'000, 'x')).bytes();
  for (int succeeding = 0;; ++succeeding) {
    int left = succeeding;
    const auto model = Model::open_source(
        read_through(file.size(), [&](std::uint64_t at, std::span<std::byte> destination) {
          if (left-- == 0) return false;
          std::memcpy(destination.data(), file.data() + at, destination.size());
          return true;
        }));
    if (model) {
      EXPECT_GT(succeeding, 1);  // it takes more than one read
      break;
    }
    ASSERT_THAT(model, FailsWith(Errc::io_error));
  }
}

}  // namespace
}  // namespace ingot::test
