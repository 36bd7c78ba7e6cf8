// SPDX-License-Identifier: MIT
// SHA by a library that keeps the state of a computation in a struct of the caller.
#pragma once

#include "base/hexadecimal.hpp"
#include "digest/sha.hpp"

namespace ingot::digest {

/// One algorithm: its struct, and the library's functions that begin, add bytes and end.
template <class Context, auto init, auto add, auto close, std::size_t digest_bytes>
class ContextSha : public ShaEngine {
 public:
  void begin() noexcept override { init(&context_); }
  void update(const void* data, std::size_t bytes) noexcept override {
    add(&context_, data, bytes);
  }
  std::string end() override {
    unsigned char bytes[digest_bytes];
    close(bytes, &context_);
    std::string digits;
    for (const unsigned char byte : bytes) digits += hexadecimal(byte, 2);
    return digits;
  }

 private:
  Context context_;
};

}  // namespace ingot::digest
