// SPDX-License-Identifier: MIT
// Structure to GGUF bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "format/value_context.hpp"
#include "ingot/error.hpp"
#include "ingot/metadata.hpp"
#include "ingot/tensor.hpp"
#include "ingot/types.hpp"

namespace ingot::format {

/// The content of a header: everything before the data section.
struct HeaderContent {
  std::uint32_t version = 3;
  Endian byte_order = Endian::little;
  std::uint64_t alignment = default_alignment;  ///< Equals `general.alignment` in `metadata`.
  std::span<const KeyValue> metadata;
  std::size_t tensor_count = 0;
  /// The tensor at a position, with its offset; called once for each, in order.
  std::function<TensorInfo(std::size_t position)> tensor_at = {};
};

/// A HeaderContent::tensor_at for tensors that are all in memory.
[[nodiscard]] inline std::function<TensorInfo(std::size_t)> at(
    std::span<const TensorInfo> tensors) {
  return [tensors](std::size_t position) { return tensors[position]; };
}

/// Takes a header piece by piece.
using HeaderSink = std::function<Result<void>(std::span<const std::byte> piece)>;

/// The bytes from the magic to the data section; the padding before it is zero, and absent when
/// there is no tensor. Values may come from files of any version and byte order.
/// Errc::version_cannot_hold for values and counts that do not fit version 1, and for big-endian
/// versions 1 and 2, which never existed. Linear in the bytes written.
[[nodiscard]] Result<std::vector<std::byte>> serialise(const HeaderContent& content);

/// Serialises in pieces of about a megabyte and holds only one. Returns the number of bytes. An
/// error of the sink ends the work.
[[nodiscard]] Result<std::uint64_t> serialise(const HeaderContent& content, const HeaderSink& sink);

/// Appends a part of a header in the given encoding: a string, or the type of a value with the
/// value. Errc::version_cannot_hold as above; its subject is empty.
[[nodiscard]] Result<void> append_text(std::string_view text, const detail::ValueEncoding& to,
                                       std::vector<std::byte>& bytes);
[[nodiscard]] Result<void> append_typed_value(const Value& value, const detail::ValueEncoding& to,
                                              std::vector<std::byte>& bytes);
/// Appends the content of a value (see Value::bytes) in another encoding.
/// Errc::version_cannot_hold as above; its subject is empty.
[[nodiscard]] Result<void> append_value(const Value& value, const detail::ValueEncoding& to,
                                        std::vector<std::byte>& bytes);

}  // namespace ingot::format
