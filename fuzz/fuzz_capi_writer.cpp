// SPDX-License-Identifier: MIT
// Property: whatever a program sets, adds and writes through the C interface, each call returns a
// code that is not INGOT_ERROR_INTERNAL, and a file that was written opens with the keys that were
// set.

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ingot/writer.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

class Caller {
 public:
  Caller(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {
    const std::string folder = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    path_ = folder + "/fuzz_capi_writer." + std::to_string(::getpid());
  }

  void run() {
    ingot_writer* writer = nullptr;
    require(is_ok(ingot_writer_new(&writer, &error_)));
    for (int step = 0; step < 16 && size_ != 0; ++step) change(writer);
    const ingot_write_options options = {.struct_size = sizeof options,
                                         .may_replace = 1,
                                         .version = byte() % 5U,
                                         .is_big_endian = byte() % 2U,
                                         .reserved = 0};
    const bool is_written = is_ok(ingot_writer_write(writer, path_.c_str(), &options, &error_));
    ingot_writer_free(writer);
    if (is_written) {
      edit();
      read_back();
    }
    ::unlink(path_.c_str());
  }

 private:
  static bool is_ok(ingot_code code) {
    require(code != INGOT_ERROR_INTERNAL && std::strcmp(ingot_code_name(code), "unknown") != 0);
    return code == INGOT_OK;
  }
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  std::string text() {
    const std::size_t wanted = byte() % 16;
    const std::size_t taken = wanted < size_ ? wanted : size_;
    const std::string result(reinterpret_cast<const char*>(data_), taken);
    data_ += taken;
    size_ -= taken;
    return result;
  }

  static int read(void* user, std::uint64_t offset, void* destination, std::size_t size) {
    std::memset(destination, static_cast<int>(offset % 251), size);
    return *static_cast<const std::uint8_t*>(user) == 7 ? 1 : 0;
  }

  void change(ingot_writer* writer) {
    const std::uint8_t kind = byte();
    const std::string key = text();
    const std::array<std::uint64_t, 4> numbers = {byte(), byte(), 1, kind};
    const std::uint32_t type = byte() % 16;
    switch (kind % 8) {
      case 0:
        if (type != INGOT_VALUE_BOOL) {  // not every byte is a bool
          is_ok(ingot_writer_set(writer, key.c_str(), type, numbers.data(), &error_));
        }
        break;
      case 1:
        is_ok(ingot_writer_set_string(writer, key.c_str(), text().c_str(), &error_));
        break;
      case 2: {
        const std::string element = text();
        const std::array<ingot_string, 2> texts = {
            {{element.data(), element.size()}, {nullptr, 0}}};
        const void* elements =
            type == INGOT_VALUE_STRING ? static_cast<const void*>(texts.data()) : numbers.data();
        if (type == INGOT_VALUE_BOOL) break;
        is_ok(ingot_writer_set_array(writer, key.c_str(), type, elements, kind % 3, &error_));
        break;
      }
      case 3:
        is_ok(ingot_writer_remove_key(writer, key.c_str(), &error_));
        break;
      case 4:
        is_ok(ingot_writer_rename_key(writer, key.c_str(), text().c_str(), &error_));
        break;
      case 5:
        is_ok(ingot_writer_add_tensor(writer, key.c_str(), INGOT_TYPE_I8, numbers.data() + 2, 1,
                                      "x", &error_));
        break;
      default:
        last_ = byte();
        is_ok(ingot_writer_add_tensor_from(writer, key.c_str(), byte(), numbers.data(), type % 5,
                                           &Caller::read, &last_, &error_));
    }
  }

  /// An edit of what was written keeps everything else.
  void edit() {
    ingot_writer* writer = nullptr;
    require(is_ok(ingot_writer_edit(path_.c_str(), &writer, &error_)));
    require(is_ok(ingot_writer_set_string(writer, "fuzz.note", "edited", &error_)));
    require(ingot_writer_copy_tensor(writer, nullptr, nullptr, 0, nullptr) ==
            INGOT_ERROR_INVALID_ARGUMENT);
    is_edited_ = is_ok(ingot_writer_write(writer, nullptr, nullptr, &error_));
    ingot_writer_free(writer);
  }

  void read_back() {
    ingot_model* model = nullptr;
    require(is_ok(ingot_open(path_.c_str(), nullptr, &model, &error_)));
    if (is_edited_) require(ingot_find_key(model, "fuzz.note") >= 0);
    ingot_writer* copy = nullptr;
    require(is_ok(ingot_writer_from(model, &copy, &error_)));
    ingot_value value = {};
    if (is_ok(ingot_key_value(model, 0, &value, nullptr))) {
      require(is_ok(ingot_writer_set_value(copy, "fuzz.copy", &value, &error_)));
    }
    ingot_writer_free(copy);
    ingot_close(model);
  }

  const std::uint8_t* data_;
  std::size_t size_;
  std::string path_;
  ingot_error error_;
  std::uint8_t last_ = 0;
  bool is_edited_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Caller(data, size).run();
  return 0;
}
