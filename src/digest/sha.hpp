// SPDX-License-Identifier: MIT
// SHA-256 and SHA-1, by the library of the system: sha_openssl.cpp, sha_windows.cpp or
// sha_macos.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace ingot::digest {

enum class ShaKind { sha256, sha1 };

/// None of its functions can fail.
class Sha {
 public:
  explicit Sha(ShaKind kind);
  Sha(Sha&&) noexcept;
  Sha& operator=(Sha&&) noexcept;
  ~Sha();
  void begin() noexcept;
  void update(const void* data, std::size_t bytes) noexcept;
  /// The digest in hexadecimal digits.
  [[nodiscard]] std::string end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::digest
