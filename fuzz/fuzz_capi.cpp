// SPDX-License-Identifier: MIT
// Property: whatever the bytes of a model and the arguments of the C functions are, each call
// returns a code that is not INGOT_ERROR_INTERNAL, and all that is handed out can be read.
//
// The bytes are the file, all of them; read from the end, they are the arguments as well.

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "ingot/ingot.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// Reads every byte, for the sanitizer to see.
void touch(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  unsigned sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += bytes[i];
  require(sum <= 255 * size);  // or it would be optimised away
}

/// Passes a code on if it is one that may happen.
bool is_ok(ingot_code code) {
  require(code != INGOT_ERROR_INTERNAL && std::strcmp(ingot_code_name(code), "unknown") != 0);
  return code == INGOT_OK;
}

class Caller {
 public:
  Caller(const std::uint8_t* data, std::size_t size) : data_(data), size_(size), next_(size) {}

  void run() {
    call_tables();
    ingot_model* model = open();
    if (model != nullptr) {
      look_at_files(model);
      look_at_keys(model);
      look_at_tensors(model);
      estimate(model);
    }
    ingot_close(model);
  }

 private:
  // --- arguments from the input
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    if (next_ == 0) next_ = size_;
    return data_[--next_];
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  /// Mostly below `count` or just not; sometimes anything.
  std::uint64_t index(std::uint64_t count) {
    const std::uint8_t choice = byte();
    return choice < 8 ? number() : choice % (count + 1);
  }
  ingot_error* error() { return byte() % 4 == 0 ? nullptr : &error_; }
  ingot_string any_text() {
    if (size_ == 0) return {nullptr, 0};
    const std::size_t begin = byte() % size_;
    return {reinterpret_cast<const char*>(data_) + begin, byte() % (size_ - begin)};
  }

  void call_tables() {
    const auto id = static_cast<std::uint32_t>(byte());
    require((ingot_type_block_bytes(id) == 0) == (ingot_type_block_elements(id) == 0));
    if (const char* name = ingot_type_name(id)) {
      require(ingot_type_block_bytes(id) == 0 || ingot_find_type(name) == id);
    }
    static_cast<void>(ingot_value_type_name(id));
    static_cast<void>(ingot_value_type_bytes(id));
    static_cast<void>(ingot_file_type_name(number()));
    const auto code = static_cast<ingot_code>(id);
    touch(ingot_code_sentence(code), std::strlen(ingot_code_sentence(code)));
    require(ingot_code_category(code) >= -1 && ingot_code_category(code) <= INGOT_CATEGORY_NOTICE);
    std::array<char, 64> escaped;
    const std::size_t room = 1 + byte() % escaped.size();
    if (is_ok(ingot_escape(any_text(), escaped.data(), room))) {
      require(std::memchr(escaped.data(), 0, room) != nullptr);
    }
  }

  static int read(void* user, std::uint64_t file_offset, void* destination, std::size_t size) {
    const auto* caller = static_cast<const Caller*>(user);
    require(file_offset <= caller->size_ && size <= caller->size_ - file_offset && size != 0);
    std::memcpy(destination, caller->data_ + file_offset, size);
    return 0;
  }

  /// A file in memory if there is such a place.
  ingot_code open_file(const ingot_open_options& options, ingot_model** model) {
    const std::string path = std::string(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") +
                             "/fuzz_capi." + std::to_string(::getpid());
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    require(file != nullptr && std::fwrite(data_, 1, size_, file) == size_);
    require(std::fclose(file) == 0);
    const ingot_code code = ingot_open(path.c_str(), &options, model, error());
    ::unlink(path.c_str());
    return code;
  }

  ingot_model* open() {
    ingot_open_options options = {};
    options.struct_size = sizeof options;
    const std::uint8_t choice = byte();
    options.is_lenient = choice & 1;
    if ((choice & 2) != 0) {
      options.max_depth = byte() % 4;
      options.max_keys = byte();
      options.max_header_bytes = byte() * std::uint64_t{16};
      options.max_string_bytes = byte();
    }
    ingot_model* model = nullptr;
    const bool is_callback = (choice & 4) != 0;
    const bool is_file = (choice & 0xF8) == 0xF8;  // seldom: it is slow
    options.access = (choice & 1) != 0 ? INGOT_ACCESS_READ : INGOT_ACCESS_MAP;
    const ingot_code code =
        is_file       ? open_file(options, &model)
        : is_callback ? ingot_open_callback(size_, &Caller::read, this, &options, &model, error())
                      : ingot_open_memory(data_, size_, &options, &model, error());
    require(is_ok(code) == (model != nullptr));
    is_in_memory_ = is_file ? options.access == INGOT_ACCESS_MAP : !is_callback;
    return model;
  }

  void look_at_files(const ingot_model* model) {
    require(ingot_file_count(model) == 1 && ingot_shard_count(model) >= 1);
    require(ingot_is_verified(model) == 1);
    ingot_file_info info = {};
    info.struct_size = sizeof info;
    require(is_ok(ingot_get_file_info(model, 0, &info, error())));
    require(info.file_bytes == size_ && info.key_count == ingot_key_count(model));
    is_ok(ingot_get_file_info(model, index(1), &info, error()));
    ingot_error notice;
    if (is_ok(ingot_get_notice(model, index(ingot_notice_count(model)), &notice, error()))) {
      require(ingot_code_category(notice.code) == INGOT_CATEGORY_NOTICE);
    }
  }

  void look_at_keys(const ingot_model* model) {
    const std::uint64_t count = ingot_key_count(model);
    require(ingot_find_key_string(model, any_text()) < static_cast<std::int64_t>(count));
    const std::uint64_t at = index(count);
    ingot_string name = {};
    ingot_value value = {};
    if (!is_ok(ingot_key_name(model, at, &name, error()))) return;
    touch(name.data, name.size);
    require(ingot_find_key_string(model, name) == static_cast<std::int64_t>(at));
    require(is_ok(ingot_key_value(model, at, &value, error())));
    look_at_value(value);

    const std::string key(name.data, name.size);
    require(ingot_find_key(model, key.c_str()) == static_cast<std::int64_t>(at));
    require(is_ok(ingot_get_value(model, key.c_str(), &value, error())));
    std::uint64_t number_u64 = 0;
    std::int64_t number_i64 = 0;
    double number_f64 = 0;
    bool flag = false;
    is_ok(ingot_get_u64(model, key.c_str(), &number_u64, error()));
    is_ok(ingot_get_i64(model, key.c_str(), &number_i64, error()));
    is_ok(ingot_get_f64(model, key.c_str(), &number_f64, error()));
    is_ok(ingot_get_bool(model, key.c_str(), &flag, error()));
    if (is_ok(ingot_get_string(model, key.c_str(), &name, error()))) touch(name.data, name.size);
  }

  void look_at_value(ingot_value value) {
    for (int level = 0; level < 4; ++level) {
      const void* bytes = nullptr;
      std::size_t bytes_size = 0;
      require(is_ok(ingot_value_bytes(&value, &bytes, &bytes_size, error())));
      touch(bytes, bytes_size);
      require(ingot_value_file_offset(&value) <= size_ - bytes_size);
      require(ingot_value_type_name(static_cast<std::uint32_t>(ingot_value_type(&value))) !=
              nullptr);
      read_scalar(value);
      if (ingot_value_type(&value) != INGOT_VALUE_ARRAY) return;
      copy_elements(value);
      const std::uint64_t count = ingot_value_element_count(&value);
      ingot_value element = {};
      if (!is_ok(ingot_value_element(&value, index(count), &element, error()))) return;
      require(ingot_value_type(&element) == ingot_value_element_type(&value));
      value = element;
    }
  }

  void read_scalar(const ingot_value& value) {
    std::uint64_t number_u64 = 0;
    std::int64_t number_i64 = 0;
    double number_f64 = 0;
    bool flag = false;
    ingot_string text = {};
    const bool fits_unsigned = is_ok(ingot_value_get_u64(&value, &number_u64, error()));
    const bool fits_signed = is_ok(ingot_value_get_i64(&value, &number_i64, error()));
    require(!fits_unsigned || !fits_signed || number_u64 == static_cast<std::uint64_t>(number_i64));
    is_ok(ingot_value_get_f64(&value, &number_f64, error()));
    is_ok(ingot_value_get_bool(&value, &flag, error()));
    if (is_ok(ingot_value_get_string(&value, &text, error()))) touch(text.data, text.size);
  }

  void copy_elements(const ingot_value& array) {
    constexpr std::size_t room = 8;
    const std::uint64_t first = index(ingot_value_element_count(&array));
    const std::uint64_t count = byte() % (room + 1);
    std::array<std::uint64_t, room> numbers_u64;
    std::array<std::int64_t, room> numbers_i64;
    std::array<float, room> numbers_f32;
    std::array<double, room> numbers_f64;
    std::array<bool, room> flags;
    std::array<ingot_string, room> texts;
    is_ok(ingot_value_copy_u64(&array, first, count, numbers_u64.data(), error()));
    is_ok(ingot_value_copy_i64(&array, first, count, numbers_i64.data(), error()));
    is_ok(ingot_value_copy_f32(&array, first, count, numbers_f32.data(), error()));
    is_ok(ingot_value_copy_f64(&array, first, count, numbers_f64.data(), error()));
    is_ok(ingot_value_copy_bool(&array, first, count, flags.data(), error()));
    if (is_ok(ingot_value_copy_strings(&array, first, count, texts.data(), error()))) {
      for (std::size_t i = 0; i < count; ++i) touch(texts[i].data, texts[i].size);
    }
  }

  void look_at_tensors(const ingot_model* model) {
    const std::uint64_t count = ingot_tensor_count(model);
    require(ingot_find_tensor_string(model, any_text()) < static_cast<std::int64_t>(count));
    const std::uint64_t at = index(count);
    ingot_tensor_info info = {};
    info.struct_size = sizeof info;
    if (!is_ok(ingot_get_tensor_info(model, at, &info, error()))) return;
    touch(info.name.data, info.name.size);
    require(ingot_find_tensor_string(model, info.name) == static_cast<std::int64_t>(at));
    require(ingot_find_tensor(model, std::string(info.name.data, info.name.size).c_str()) ==
            static_cast<std::int64_t>(at));
    require(info.size_bytes == 0 || info.file_offset <= size_ - info.size_bytes);

    const void* data = nullptr;
    std::size_t data_size = 0;
    if (is_ok(ingot_tensor_data(model, at, &data, &data_size, error()))) {
      require(data_size == info.size_bytes);
      touch(data, data_size);
    } else {
      require(!is_in_memory_);
    }
    std::array<std::uint8_t, 16> part;
    const std::uint64_t offset = index(info.size_bytes);
    const std::size_t part_size = byte() % (part.size() + 1);
    const bool is_within = offset <= info.size_bytes && part_size <= info.size_bytes - offset;
    require(is_ok(ingot_read_tensor(model, at, offset, part.data(), part_size, error())) ==
            is_within);
    decode_rows(model, at, info.dimensions[0]);
  }

  void decode_rows(const ingot_model* model, std::uint64_t at, std::uint64_t row_elements) {
    std::array<float, 512> floats;
    const std::uint64_t row_count = index(2);
    // The right count as a rule, as far as there is room; else some other.
    std::size_t count = byte();
    if (count < 200 && row_elements <= floats.size() && row_count <= 2) {
      count = static_cast<std::size_t>(row_count * row_elements);
    }
    if (count > floats.size()) return;
    is_ok(ingot_dequantize_rows(model, at, index(4), row_count, floats.data(), count, error()));
  }

  void estimate(const ingot_model* model) {
    const std::array<std::uint64_t, 2> devices = {index(1) << 30, std::uint64_t{byte()} << 28};
    ingot_run_options options = {};
    options.struct_size = sizeof options;
    options.context = std::uint64_t{byte()} << (byte() % 32);
    options.sequences = byte() % 4;
    options.key_type = byte() % 2 == 0 ? nullptr : "q8_0";
    options.device_bytes = devices.data();
    options.device_count = byte() % 3;
    options.limits_gpu_layers = byte() % 2;
    options.gpu_layers = byte();
    ingot_memory_estimate all = {};
    all.struct_size = sizeof all;
    ingot_memory_use use = {};
    use.struct_size = sizeof use;
    const bool is_possible = is_ok(ingot_estimate(model, &options, &all, error()));
    require(is_ok(ingot_estimate_place(model, &options, INGOT_HOST, &use, error())) == is_possible);
    const std::uint64_t place = index(options.device_count);
    require(is_ok(ingot_estimate_place(model, &options, place, &use, error())) ==
            (is_possible && place < options.device_count));
  }

  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t next_;
  ingot_error error_;
  bool is_in_memory_ = true;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Caller(data, size).run();
  return 0;
}
