// SPDX-License-Identifier: MIT
#include "format/serialise.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "format/magic.hpp"

namespace ingot::format {
namespace {

using detail::ValueEncoding;

constexpr std::uint64_t max_narrow = std::numeric_limits<std::uint32_t>::max();

/// Appends fields in one encoding; remembers the first thing that the encoding cannot hold.
class FieldWriter {
 public:
  /// With a sink, `bytes` holds only the bytes that the sink has not taken yet.
  FieldWriter(const ValueEncoding& encoding, std::vector<std::byte>& bytes,
              const HeaderSink* sink = nullptr)
      : encoding_(encoding), bytes_(bytes), sink_(sink) {}

  void u32(std::uint32_t value) { append(value); }
  void u64(std::uint64_t value) { append(value); }
  void count(std::uint64_t value) {
    if (!encoding_.has_narrow_counts) return append(value);
    if (value > max_narrow) cannot_hold("a count of " + std::to_string(value));
    append(static_cast<std::uint32_t>(value));
  }
  void type(ValueType value_type) {
    if (encoding_.has_narrow_counts && value_type >= ValueType::uint64) {
      cannot_hold("a value of type " + std::string(name_of(value_type)));
    }
    append(static_cast<std::uint32_t>(value_type));
  }
  void raw(const std::byte* data, std::uint64_t size_bytes) {
    if (size_bytes == 0) return;
    if (sink_ != nullptr && bytes_.size() + size_bytes > piece_bytes) {
      pass_on();
      if (size_bytes > piece_bytes) return pass({data, to_size(size_bytes)});
    }
    // Not `insert`: g++ 12 reports an overflow for inserting a range.
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + to_size(size_bytes));
    std::memcpy(&bytes_[begin], data, to_size(size_bytes));
  }
  void text(std::string_view value) {
    // Readers that strip a trailing NUL need a second one to keep a text that ends in NUL.
    const bool needs_nul = encoding_.strips_nul && value.ends_with('\0');
    count(value.size() + (needs_nul ? 1 : 0));
    raw(reinterpret_cast<const std::byte*>(value.data()), value.size());
    if (needs_nul) bytes_.push_back(std::byte{0});
  }
  void scalars(ValueType value_type, const std::byte* data, std::uint64_t scalar_count,
               bool from_is_swapped) {
    const std::uint32_t size_bytes = size_bytes_of(value_type);
    if (size_bytes == 1 || from_is_swapped == encoding_.is_swapped) {
      return raw(data, scalar_count * size_bytes);
    }
    for (std::uint64_t i = 0; i < scalar_count; ++i, data += size_bytes) {
      if (sink_ != nullptr && bytes_.size() > piece_bytes) pass_on();
      for (std::uint32_t byte = size_bytes; byte-- != 0;) bytes_.push_back(data[byte]);
    }
  }
  /// Pads everything written so far to `size_bytes`, by less than an alignment.
  void zeros_until(std::uint64_t size_bytes) {
    while (written_bytes() < size_bytes) {
      const std::uint64_t zeros =
          std::min<std::uint64_t>(size_bytes - written_bytes(), piece_bytes);
      bytes_.resize(bytes_.size() + to_size(zeros), std::byte{0});
      if (sink_ != nullptr) pass_on();
    }
  }

  [[nodiscard]] std::uint64_t written_bytes() const noexcept {
    return passed_bytes_ + bytes_.size();
  }

  [[nodiscard]] Result<void> result() const {
    if (failure_) return fail(*failure_);
    if (problem_.empty()) return {};
    return fail(Errc::version_cannot_hold, {}, problem_);
  }

  /// Gives the remaining bytes to the sink; returns the number of all bytes.
  [[nodiscard]] Result<std::uint64_t> finish() {
    pass_on();
    INGOT_TRY_VOID(result());
    return passed_bytes_;
  }

 private:
  template <class T>
  void append(T value) {
    std::byte stored[sizeof(T)];
    store(stored, value, encoding_.is_swapped);
    raw(stored, sizeof(T));
  }
  void cannot_hold(std::string what) {
    if (problem_.empty()) problem_ = "it is " + std::move(what);
  }

  void pass(std::span<const std::byte> piece) {
    passed_bytes_ += piece.size();
    if (failure_) return;
    if (Result<void> taken = (*sink_)(piece); !taken) failure_ = std::move(taken).error();
  }
  void pass_on() {
    pass(bytes_);
    bytes_.clear();
  }

  /// A sink gets pieces of about this size.
  static constexpr std::size_t piece_bytes = std::size_t{1} << 20;

  const ValueEncoding& encoding_;
  std::vector<std::byte>& bytes_;
  const HeaderSink* sink_;
  std::uint64_t passed_bytes_ = 0;
  std::optional<Error> failure_;
  std::string problem_;
};

/// Writes the elements of an array as it walks over them.
struct ArrayWriter {
  FieldWriter& out;
  const ValueEncoding& from;

  void scalars(ValueType type, const std::byte* data, std::uint64_t count) {
    out.scalars(type, data, count, from.is_swapped);
  }
  void text(const std::byte* data, std::uint64_t length_bytes) {
    out.text(from.text(data, length_bytes));
  }
  void begin_array(ValueType element_type, const std::byte*, std::uint64_t count) {
    out.type(element_type);
    out.count(count);
  }
};

void write_content(FieldWriter& out, const Value& value) {
  const ValueEncoding& from = detail::ValueContext::encoding_of(value);
  if (value.is_array()) {
    const Array array = value.as_array();
    detail::walk_array(from, array.element_type(), array.bytes().data(), array.size(),
                       ArrayWriter{out, from});
  } else if (value.type() == ValueType::string) {
    out.raw(value.bytes().data(), value.bytes().size());
  } else {
    out.scalars(value.type(), value.bytes().data(), 1, from.is_swapped);
  }
}

void write_value(FieldWriter& out, const Value& value) {
  out.type(value.type());
  if (value.is_array()) {
    const Array array = value.as_array();
    out.type(array.element_type());
    out.count(array.size());
  } else if (value.type() == ValueType::string) {
    return out.text(*value.get<std::string_view>());
  }
  write_content(out, value);
}

void write_tensor(FieldWriter& out, const TensorInfo& tensor) {
  out.text(tensor.name);
  out.u32(static_cast<std::uint32_t>(tensor.shape.size()));
  for (const std::uint64_t dimension : tensor.shape) out.count(dimension);
  out.u32(static_cast<std::uint32_t>(tensor.type));
  out.u64(tensor.data_offset);
}

Result<void> named(Result<void> result, std::string_view subject) {
  if (!result && result.error().code == Errc::version_cannot_hold)
    result.error().subject = std::string(subject);
  return result;
}

}  // namespace

Result<std::uint64_t> serialise(const HeaderContent& content, const HeaderSink& sink) {
  if (content.version < 1 || content.version > 3) {
    return fail(Errc::unsupported_version, "version",
                "asked for " + std::to_string(content.version));
  }
  if (content.byte_order == Endian::big && content.version != 3) {
    return fail(Errc::version_cannot_hold, "byte order", "big-endian files are version 3");
  }
  const ValueEncoding encoding = encoding_of(content.version, content.byte_order);
  std::vector<std::byte> piece;
  FieldWriter out(encoding, piece, &sink);
  out.raw(reinterpret_cast<const std::byte*>("GGUF"), 4);
  out.u32(content.version);
  out.count(content.tensor_count);
  out.count(content.metadata.size());
  for (const KeyValue& entry : content.metadata) {
    out.text(entry.key);
    write_value(out, entry.value);
    INGOT_TRY_VOID(named(out.result(), entry.key));
  }
  for (std::size_t i = 0; i < content.tensor_count; ++i) {
    const TensorInfo tensor = content.tensor_at(i);
    write_tensor(out, tensor);
    INGOT_TRY_VOID(named(out.result(), tensor.name));
  }
  if (content.tensor_count != 0) {
    out.zeros_until(*checked_align_up(out.written_bytes(), content.alignment));
  }
  return out.finish();
}

Result<std::vector<std::byte>> serialise(const HeaderContent& content) {
  std::vector<std::byte> bytes;
  INGOT_TRY_VOID(serialise(content, [&](std::span<const std::byte> piece) -> Result<void> {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return {};
  }));
  return bytes;
}

Result<void> append_text(std::string_view text, const ValueEncoding& to,
                         std::vector<std::byte>& bytes) {
  FieldWriter out(to, bytes);
  out.text(text);
  return out.result();
}

Result<void> append_typed_value(const Value& value, const ValueEncoding& to,
                                std::vector<std::byte>& bytes) {
  FieldWriter out(to, bytes);
  write_value(out, value);
  return out.result();
}

Result<void> append_value(const Value& value, const ValueEncoding& to,
                          std::vector<std::byte>& bytes) {
  FieldWriter out(to, bytes);
  write_content(out, value);
  return out.result();
}

}  // namespace ingot::format
