// SPDX-License-Identifier: MIT
// Making and changing files through the C interface.
#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "capi/core/sample_bytes.hpp"
#include "ingot/writer.h"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

struct FreeWriter {
  void operator()(ingot_writer* writer) const { ingot_writer_free(writer); }
};
using WriterPointer = std::unique_ptr<ingot_writer, FreeWriter>;

constexpr std::array<std::uint64_t, 2> shape = {4, 2};
constexpr std::array<float, 8> floats = {1, 2, 3, 4, 5, 6, 7, 8};

class CapiWriter : public SampleTest {
 protected:
  static WriterPointer new_writer() {
    ingot_writer* writer = nullptr;
    expect_code(INGOT_OK, [&](ingot_error* e) {
      ingot_writer_free(writer);
      return ingot_writer_new(&writer, e);
    });
    return WriterPointer(writer);
  }
  WriterPointer edit() const {
    ingot_writer* writer = nullptr;
    EXPECT_EQ(ingot_writer_edit(path_.c_str(), &writer, nullptr), INGOT_OK);
    return WriterPointer(writer);
  }
  ModelPointer open() const {
    ingot_model* model = nullptr;
    EXPECT_EQ(ingot_open(path_.c_str(), nullptr, &model, nullptr), INGOT_OK);
    return ModelPointer(model);
  }
  void write_sample() const {
    ingot_writer* writer = nullptr;
    ASSERT_EQ(ingot_writer_from(model(), &writer, nullptr), INGOT_OK);
    const WriterPointer owner(writer);
    ASSERT_EQ(ingot_writer_write(writer, path_.c_str(), nullptr, nullptr), INGOT_OK);
  }
  /// A number of the model, whatever its type.
  static std::int64_t number(const ingot_model* model, const char* key) {
    std::int64_t found = 0;
    EXPECT_EQ(ingot_get_i64(model, key, &found, nullptr), INGOT_OK) << key;
    return found;
  }
  static std::string text(const ingot_model* model, const char* key) {
    ingot_string found = {nullptr, 0};
    EXPECT_EQ(ingot_get_string(model, key, &found, nullptr), INGOT_OK) << key;
    return std::string(view(found));
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.path("model.gguf");
};

template <class T>
void set(ingot_writer* writer, const char* key, std::uint32_t type, T value) {
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_writer_set(writer, key, type, &value, e); });
}

TEST_F(CapiWriter, WritesEveryKindOfValue) {
  const WriterPointer writer = new_writer();
  ingot_writer* w = writer.get();
  expect_code(INGOT_OK, [&](ingot_error* e) {
    return ingot_writer_set_string(w, "general.architecture", "llama", e);
  });
  set(w, "u8", INGOT_VALUE_UINT8, std::uint8_t{200});
  set(w, "i8", INGOT_VALUE_INT8, std::int8_t{-5});
  set(w, "u16", INGOT_VALUE_UINT16, std::uint16_t{60000});
  set(w, "i16", INGOT_VALUE_INT16, std::int16_t{-300});
  set(w, "u32", INGOT_VALUE_UINT32, std::uint32_t{4'000'000'000});
  set(w, "i32", INGOT_VALUE_INT32, std::int32_t{-70000});
  set(w, "u64", INGOT_VALUE_UINT64, std::uint64_t{1} << 62);
  set(w, "i64", INGOT_VALUE_INT64, INT64_MIN);
  set(w, "f32", INGOT_VALUE_FLOAT32, 1.5F);
  set(w, "f64", INGOT_VALUE_FLOAT64, 0.1);
  set(w, "flag", INGOT_VALUE_BOOL, true);
  const std::array<ingot_string, 2> texts = {{{"a\0b", 3}, {nullptr, 0}}};
  const std::array<std::int32_t, 3> numbers = {-1, 0, 7};
  const std::array<bool, 2> flags = {true, false};
  const auto set_array = [&](const char* key, std::uint32_t type, const void* elements,
                             std::uint64_t count) {
    expect_code(INGOT_OK, [&](ingot_error* e) {
      return ingot_writer_set_array(w, key, type, elements, count, e);
    });
  };
  set_array("texts", INGOT_VALUE_STRING, texts.data(), texts.size());
  set_array("numbers", INGOT_VALUE_INT32, numbers.data(), numbers.size());
  set_array("flags", INGOT_VALUE_BOOL, flags.data(), flags.size());
  set_array("none", INGOT_VALUE_FLOAT32, nullptr, 0);
  const ingot_value nested = value("array.nested");
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_writer_set_value(w, "nested", &nested, e); });
  expect_code(INGOT_OK, [&](ingot_error* e) {
    const ingot_write_options options = {sizeof options, 1, 0, 0, 0};
    return ingot_writer_write(w, path_.c_str(), &options, e);
  });

  const ModelPointer made = open();
  EXPECT_EQ(ingot_key_count(made.get()), 17U);
  EXPECT_EQ(number(made.get(), "u8"), 200);
  EXPECT_EQ(number(made.get(), "i8"), -5);
  EXPECT_EQ(number(made.get(), "u16"), 60000);
  EXPECT_EQ(number(made.get(), "i16"), -300);
  EXPECT_EQ(number(made.get(), "u32"), 4'000'000'000);
  EXPECT_EQ(number(made.get(), "i32"), -70000);
  EXPECT_EQ(number(made.get(), "u64"), std::int64_t{1} << 62);
  EXPECT_EQ(number(made.get(), "i64"), INT64_MIN);
  double real = 0;
  EXPECT_EQ(ingot_get_f64(made.get(), "f32", &real, nullptr), INGOT_OK);
  EXPECT_EQ(real, 1.5);
  EXPECT_EQ(ingot_get_f64(made.get(), "f64", &real, nullptr), INGOT_OK);
  EXPECT_EQ(real, 0.1);
  bool flag = false;
  EXPECT_EQ(ingot_get_bool(made.get(), "flag", &flag, nullptr), INGOT_OK);
  EXPECT_TRUE(flag);
  ingot_value found = {};
  ASSERT_EQ(ingot_get_value(made.get(), "texts", &found, nullptr), INGOT_OK);
  std::array<ingot_string, 2> copied = {};
  EXPECT_EQ(ingot_value_copy_strings(&found, 0, 2, copied.data(), nullptr), INGOT_OK);
  EXPECT_EQ(view(copied[0]), std::string_view("a\0b", 3));
  EXPECT_EQ(copied[1].size, 0U);
  for (const auto& [key, type, count] :
       {std::tuple{"numbers", INGOT_VALUE_INT32, 3U}, std::tuple{"flags", INGOT_VALUE_BOOL, 2U},
        std::tuple{"none", INGOT_VALUE_FLOAT32, 0U}, std::tuple{"nested", INGOT_VALUE_ARRAY, 3U}}) {
    ASSERT_EQ(ingot_get_value(made.get(), key, &found, nullptr), INGOT_OK) << key;
    EXPECT_EQ(ingot_value_element_type(&found), type) << key;
    EXPECT_EQ(ingot_value_element_count(&found), count) << key;
  }
}

/// Gives the floats as bytes from an offset on.
int read_floats(void* user, std::uint64_t offset, void* destination, std::size_t size) {
  if (user != nullptr) return 1;
  std::memcpy(destination, reinterpret_cast<const char*>(floats.data()) + offset, size);
  return 0;
}

TEST_F(CapiWriter, TensorsComeFromMemoryFunctionsAndModels) {
  const WriterPointer writer = new_writer();
  ingot_writer* w = writer.get();
  ASSERT_EQ(ingot_writer_set_string(w, "general.architecture", "llama", nullptr), INGOT_OK);
  ASSERT_EQ(
      ingot_writer_add_tensor(w, "a", INGOT_TYPE_F32, shape.data(), 2, floats.data(), nullptr),
      INGOT_OK);
  ASSERT_EQ(ingot_writer_add_tensor_from(w, "b", INGOT_TYPE_F32, shape.data(), 2, read_floats,
                                         nullptr, nullptr),
            INGOT_OK);
  ASSERT_EQ(ingot_writer_copy_tensor(w, nullptr, model(), 0, nullptr), INGOT_OK);
  ASSERT_EQ(ingot_writer_copy_tensor(w, "c", model(), 1, nullptr), INGOT_OK);
  ASSERT_EQ(ingot_writer_write(w, path_.c_str(), nullptr, nullptr), INGOT_OK);
  const ModelPointer made = open();
  ASSERT_EQ(ingot_tensor_count(made.get()), 4U);
  for (const std::uint64_t tensor : {0U, 1U}) {
    const void* data = nullptr;
    std::size_t size = 0;
    ASSERT_EQ(ingot_tensor_data(made.get(), tensor, &data, &size, nullptr), INGOT_OK);
    ASSERT_EQ(size, sizeof floats);
    EXPECT_EQ(std::memcmp(data, floats.data(), size), 0);
  }
  EXPECT_EQ(ingot_find_tensor(made.get(), "token.weight"), 2);
  EXPECT_EQ(ingot_find_tensor(made.get(), "c"), 3);
  // Once more, to where something is.
  expect_code(INGOT_ERROR_ALREADY_EXISTS,
              [&](ingot_error* e) { return ingot_writer_write(w, path_.c_str(), nullptr, e); });
}

TEST_F(CapiWriter, AFunctionThatFailsLeavesNoFile) {
  const WriterPointer writer = new_writer();
  int fails = 1;
  ASSERT_EQ(ingot_writer_add_tensor_from(writer.get(), "b", INGOT_TYPE_F32, shape.data(), 2,
                                         read_floats, &fails, nullptr),
            INGOT_OK);
  expect_code(INGOT_ERROR_IO_ERROR, [&](ingot_error* e) {
    return ingot_writer_write(writer.get(), path_.c_str(), nullptr, e);
  });
  EXPECT_TRUE(folder_.names().empty());
}

TEST_F(CapiWriter, AModelIsWrittenAgainToTheSameBytes) {
  write_sample();
  const ModelPointer first = open();
  const std::string again = folder_.path("again.gguf");
  ingot_writer* writer = nullptr;
  ASSERT_EQ(ingot_writer_from(first.get(), &writer, nullptr), INGOT_OK);
  const WriterPointer owner(writer);
  ASSERT_EQ(ingot_writer_write(writer, again.c_str(), nullptr, nullptr), INGOT_OK);
  EXPECT_EQ(read_whole(again), read_whole(path_));
  EXPECT_EQ(ingot_key_count(first.get()), sample_key_count);
  EXPECT_EQ(ingot_tensor_count(first.get()), sample_tensor_count);
}

TEST_F(CapiWriter, AnEditChangesTheFileItself) {
  write_sample();
  WriterPointer writer = edit();
  set(writer.get(), "number.u8", INGOT_VALUE_UINT8, std::uint8_t{9});
  EXPECT_EQ(ingot_writer_set_string(writer.get(), "new", "text", nullptr), INGOT_OK);
  EXPECT_EQ(ingot_writer_remove_key(writer.get(), "flag", nullptr), INGOT_OK);
  EXPECT_EQ(ingot_writer_rename_key(writer.get(), "last", "end", nullptr), INGOT_OK);
  expect_code(INGOT_ERROR_KEY_NOT_FOUND,
              [&](ingot_error* e) { return ingot_writer_remove_key(writer.get(), "flag", e); });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, [&](ingot_error* e) {
    return ingot_writer_add_tensor(writer.get(), "a", INGOT_TYPE_F32, shape.data(), 2,
                                   floats.data(), e);
  });
  ASSERT_EQ(ingot_writer_write(writer.get(), nullptr, nullptr, nullptr), INGOT_OK);
  // It is over.
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, [&](ingot_error* e) {
    return ingot_writer_set_string(writer.get(), "new", "text", e);
  });
  expect_code(INGOT_ERROR_INVALID_ARGUMENT, [&](ingot_error* e) {
    return ingot_writer_write(writer.get(), nullptr, nullptr, e);
  });

  const ModelPointer made = open();
  EXPECT_EQ(number(made.get(), "number.u8"), 9);
  EXPECT_EQ(text(made.get(), "new"), "text");
  EXPECT_EQ(ingot_find_key(made.get(), "flag"), -1);
  EXPECT_EQ(number(made.get(), "end"), 0);
}

TEST_F(CapiWriter, AnEditIsWrittenElsewhereToo) {
  write_sample();
  const Bytes before = read_whole(path_);
  const std::string other = folder_.path("other.gguf");
  WriterPointer writer = edit();
  EXPECT_EQ(ingot_writer_set_string(writer.get(), "new", "text", nullptr), INGOT_OK);
  ASSERT_EQ(ingot_writer_write(writer.get(), other.c_str(), nullptr, nullptr), INGOT_OK);
  EXPECT_EQ(read_whole(path_), before);
  ingot_model* made = nullptr;
  ASSERT_EQ(ingot_open(other.c_str(), nullptr, &made, nullptr), INGOT_OK);
  EXPECT_EQ(text(made, "new"), "text");
  ingot_close(made);
}

TEST_F(CapiWriter, RefusesWhatMakesNoSense) {
  const WriterPointer writer = new_writer();
  ingot_writer* w = writer.get();
  const std::uint32_t number = 1;
  ingot_value unset = {};
  const auto refused = [](auto&& call) {
    expect_code(INGOT_ERROR_INVALID_ARGUMENT, [&](ingot_error* e) { return call(e); });
  };
  refused([&](ingot_error* e) { return ingot_writer_new(nullptr, e); });
  refused([&](ingot_error* e) { return ingot_writer_set(nullptr, "a", 4, &number, e); });
  refused([&](ingot_error* e) { return ingot_writer_set(w, nullptr, 4, &number, e); });
  refused([&](ingot_error* e) { return ingot_writer_set(w, "a", 4, nullptr, e); });
  refused([&](ingot_error* e) { return ingot_writer_set(w, "a", INGOT_VALUE_STRING, &number, e); });
  refused([&](ingot_error* e) { return ingot_writer_set(w, "a", 99, &number, e); });
  refused([&](ingot_error* e) { return ingot_writer_set_string(w, "a", nullptr, e); });
  refused([&](ingot_error* e) { return ingot_writer_set_array(w, "a", 4, nullptr, 1, e); });
  refused([&](ingot_error* e) {
    return ingot_writer_set_array(w, "a", INGOT_VALUE_ARRAY, &number, 1, e);
  });
  refused([&](ingot_error* e) { return ingot_writer_set_value(w, "a", &unset, e); });
  refused([&](ingot_error* e) {
    return ingot_writer_add_tensor(w, "a", INGOT_TYPE_F32, shape.data(), 2, nullptr, e);
  });
  refused([&](ingot_error* e) {
    return ingot_writer_add_tensor(w, nullptr, INGOT_TYPE_F32, shape.data(), 2, &number, e);
  });
  refused([&](ingot_error* e) {
    return ingot_writer_add_tensor_from(w, "a", INGOT_TYPE_F32, shape.data(), 2, nullptr, nullptr,
                                        e);
  });
  refused([&](ingot_error* e) { return ingot_writer_write(w, nullptr, nullptr, e); });
  expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE, [&](ingot_error* e) {
    return ingot_writer_add_tensor(w, "a", INGOT_TYPE_F32, shape.data(), 99, &number, e);
  });
  expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE, [&](ingot_error* e) {
    return ingot_writer_copy_tensor(w, "a", model(), sample_tensor_count, e);
  });
  ingot_writer* edit = nullptr;
  expect_code(INGOT_ERROR_IO_ERROR,
              [&](ingot_error* e) { return ingot_writer_edit(path_.c_str(), &edit, e); });
  EXPECT_EQ(edit, nullptr);
  ingot_writer_free(nullptr);
}

}  // namespace
}  // namespace ingot::test
