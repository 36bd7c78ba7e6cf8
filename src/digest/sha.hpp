// SPDX-License-Identifier: MIT
// SHA-256 and SHA-1, by the library of the system: sha_openssl.cpp, sha_windows.cpp or
// sha_macos.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace ingot::digest {

enum class ShaKind { sha256, sha1 };

/// A computation. None of its functions can fail.
class ShaEngine {
 public:
  virtual ~ShaEngine() = default;
  virtual void begin() noexcept = 0;
  virtual void update(const void* data, std::size_t bytes) noexcept = 0;
  /// The digest in hexadecimal digits.
  [[nodiscard]] virtual std::string end() = 0;
};

/// A computation that has not begun.
[[nodiscard]] std::unique_ptr<ShaEngine> make_sha_engine(ShaKind kind);

/// A computation that has begun.
class Sha {
 public:
  explicit Sha(ShaKind kind) : engine_(make_sha_engine(kind)) { begin(); }
  void begin() noexcept { engine_->begin(); }
  void update(const void* data, std::size_t bytes) noexcept { engine_->update(data, bytes); }
  /// The digest in hexadecimal digits.
  [[nodiscard]] std::string end() { return engine_->end(); }

 private:
  std::unique_ptr<ShaEngine> engine_;
};

}  // namespace ingot::digest
