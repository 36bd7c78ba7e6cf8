// SPDX-License-Identifier: MIT
// Write a GGUF model.
//
// ```cpp
// ingot::ModelWriter writer;
// writer.set("general.architecture", "llama");
// writer.set("llama.block_count", 1u);
// writer.set("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "yes", "no"});
// const std::vector<float> zeros(256 * 3);
// auto done = writer.add_tensor("token_embd.weight", {256, 3}, zeros);
// if (done) done = writer.write("tiny.gguf");
// if (!done) std::puts(done.error().message().c_str());
// ```
//
// The file appears complete or not at all, and every reader of GGUF takes it: the header passes the
// parser of this library before the first byte is written. Data is asked for when the file is
// written, one tensor after the other, so a model may be larger than memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/metadata.hpp"
#include "ingot/model.hpp"
#include "ingot/output_file.hpp"
#include "ingot/owned_value.hpp"
#include "ingot/types.hpp"

namespace ingot {

/// The version and byte order to write: 3 in either order; 1 and 2 only little-endian.
struct WriteFormat {
  std::uint32_t version = 3;
  Endian byte_order = Endian::little;
  bool is_lenient = false;  ///< Whether to write models, too, that only a lenient reader opens.
  /// Whether to write a layout index (layout_index.hpp); a writer that has its key does so anyway.
  bool has_index = false;

  /// The version and byte order of a model's first file.
  [[nodiscard]] INGOT_EXPORT static WriteFormat of(const Model& model) noexcept;
};

/// Receives consecutive pieces of a tensor's data; an error ends the writing.
using DataSink = std::function<Result<void>(std::span<const std::byte>)>;

/// Produces a tensor's data, piece by piece, in the byte order of the target: exactly its bytes.
using DataProducer = std::function<Result<void>(const DataSink&)>;

/// Bytes that do not go with the expression that names them: a vector that has a name, or any span.
template <class Bytes>
concept StaysInMemory = std::convertible_to<Bytes&&, std::span<const std::byte>> &&
    (std::is_lvalue_reference_v<Bytes> || std::ranges::borrowed_range<Bytes>);

/// Builds a model, key by key and tensor by tensor, and writes it. Not thread-safe.
///
/// Keys and tensors are written in the order in which they were added. The alignment is
/// `general.alignment` if that key is set, else 32. Keys are unique: setting one again replaces its
/// value and keeps its place. All strings are copied; tensor data never is.
class INGOT_EXPORT ModelWriter {
  /// The type of the elements of a vector, an array or a span.
  template <class Values>
  using ElementOf = std::remove_const_t<typename decltype(std::span(
      std::declval<const Values&>()))::element_type>;

 public:
  ModelWriter();
  ModelWriter(ModelWriter&&) noexcept;
  ModelWriter& operator=(ModelWriter&&) noexcept;
  ~ModelWriter();

  /// A writer with all keys and tensors of a model, in their order, which copies the data when it
  /// writes: `model` must live until then. Written in the version and byte order of the model's
  /// file it is the same bytes, if that has no quirks (see serialise_header) and its data is laid
  /// out as a writer does it, in order and without gaps. Of a model in several files the tensors of
  /// all and the keys of the first are taken, without those that describe the set (split.*).
  [[nodiscard]] static Result<ModelWriter> from(const Model& model);

  /// A writer with the keys of a model, in their order, without those that describe a set of shards
  /// (split.*), and without tensors.
  [[nodiscard]] static ModelWriter with_keys_of(const Model& model);

  void set_bool(std::string_view key, bool value);
  void set_string(std::string_view key, std::string_view value);
  /// Sets an integer or a float; the C++ type decides the stored type.
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) void set(std::string_view key,
                                                                       T value) {
    set_scalar(key, OwnedValue::type_of<T>(), &value, sizeof value);
  }
  void set(std::string_view key, std::same_as<bool> auto value) { set_bool(key, value); }
  void set(std::string_view key, std::string_view value) { set_string(key, value); }
  /// Sets an array: of a vector, an array or a span of numbers or texts, an array or a span of
  /// bool.
  template <class Values, class T = ElementOf<Values>>
  requires(!std::convertible_to<const Values&, std::string_view>) void set(std::string_view key,
                                                                           const Values& values) {
    set_array(key, std::span<const T>(values));
  }
  /// An array of integers or floats; the C++ type decides the element type.
  template <class T>
  requires(std::is_arithmetic_v<T> &&
           !std::same_as<T, bool>) void set_array(std::string_view key, std::span<const T> values) {
    set_scalars(key, OwnedValue::type_of<T>(), values.data(), values.size(), sizeof(T));
  }
  void set_array(std::string_view key, std::span<const std::string_view> values);
  void set_array(std::string_view key, std::span<const std::string> values);
  void set_array(std::string_view key, std::span<const bool> values);
  /// A value of another model, nested arrays included; copied, type and bits kept.
  void set_value(std::string_view key, const Value& value);
  /// Sets a value without a copy: its model must stay open until the writer is done.
  void borrow_value(std::string_view key, const Value& value);

  /// All keys in their order, valid until the writer changes.
  [[nodiscard]] std::vector<KeyValue> metadata() const;
  /// The value of a key, valid until the writer changes; nothing if there is none.
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;
  /// `general.alignment`, or the default.
  [[nodiscard]] std::uint64_t alignment() const;
  /// Removes a key; returns whether there was one. Set again, it comes last.
  bool remove(std::string_view key);
  /// Gives a key another name, in its place. Errc::key_not_found; Errc::name_taken.
  Result<void> rename(std::string_view key, std::string_view new_key);

  /// Adds a tensor whose data `produce` will stream when the model is written. A type or shape that
  /// has no size is refused at once; names that a reader would refuse, and duplicates, when the
  /// header is made.
  Result<void> add_tensor(std::string_view name, TensorType type,
                          std::span<const std::uint64_t> shape, DataProducer produce);
  Result<void> add_tensor(std::string_view name, TensorType type,
                          std::initializer_list<std::uint64_t> shape, DataProducer produce) {
    return add_tensor(name, type, std::span(shape.begin(), shape.size()), std::move(produce));
  }
  /// Adds a tensor whose data is in memory, in the byte order of the target, and stays there until
  /// the model is written.
  template <class Bytes>
  requires StaysInMemory<Bytes> Result<void> add_tensor(std::string_view name, TensorType type,
                                                        std::span<const std::uint64_t> shape,
                                                        Bytes&& data) {
    return add_bytes(name, type, shape, data);
  }
  template <class Bytes>
  requires StaysInMemory<Bytes> Result<void> add_tensor(std::string_view name, TensorType type,
                                                        std::initializer_list<std::uint64_t> shape,
                                                        Bytes&& data) {
    return add_bytes(name, type, std::span(shape.begin(), shape.size()), data);
  }
  /// The same of numbers, whose C++ type is that of the tensor: f32 for float, i8 to i64, f64. It
  /// takes no temporary, as the numbers have to stay. For a target in the byte order of this
  /// machine.
  template <class Values, class T = ElementOf<Values>>
  requires std::is_arithmetic_v<T> Result<void> add_tensor(
      std::string_view name, std::initializer_list<std::uint64_t> shape, Values& values) {
    return add_tensor(name, std::span(shape.begin(), shape.size()), values);
  }
  template <class Values, class T = ElementOf<Values>>
  requires std::is_arithmetic_v<T> Result<void> add_tensor(std::string_view name,
                                                           std::span<const std::uint64_t> shape,
                                                           Values& values) {
    return add_bytes(name, type_of<T>(), shape, std::as_bytes(std::span<const T>(values)));
  }
  /// Adds a tensor of another model: its type, shape and, when the model is written, its bytes,
  /// turned into the byte order of the target. Where the system can, it copies by itself or shares
  /// the blocks. `source` must live until then; `tensor` must be one of its tensors.
  Result<void> add_tensor(std::string_view name, const Model& source, const TensorInfo& tensor);

  /// Header, metadata and tensor infos with the padding before the data: everything of the file
  /// up to its data section. The same bytes for the same calls.
  [[nodiscard]] Result<std::vector<std::byte>> serialise_header(WriteFormat format = {}) const;

  /// The size of the file that `write` makes.
  [[nodiscard]] Result<std::uint64_t> file_bytes(WriteFormat format = {}) const;

  /// Writes the model. It appears at `path` complete or not at all: the bytes go to a temporary
  /// file beside it, which is flushed and renamed. An existing file is replaced only with
  /// `replace` (else Errc::already_exists). Memory is bounded by the header and one piece of data.
  /// `progress`, if set, receives the bytes written so far and returns whether to go on (else
  /// Errc::interrupted, and no file is left).
  [[nodiscard]] Result<void> write(const std::string& path, WriteFormat format = {},
                                   bool replace = false,
                                   const std::function<bool(std::uint64_t)>& progress = {}) const;

  /// `write` without its last step: the file is complete, and appears when it is committed. For
  /// several files that have to appear together.
  [[nodiscard]] Result<OutputFile> prepare(
      const std::string& path, WriteFormat format = {}, bool replace = false,
      const std::function<bool(std::uint64_t)>& progress = {}) const;

  /// Works like `prepare` without the data, whose producers may be empty: makes the file with its
  /// header, and reserves room for the data. The caller appends the data of each tensor, in order,
  /// and zeros up to the next multiple of the alignment. Use it if several files receive data at
  /// once.
  [[nodiscard]] Result<OutputFile> begin(const std::string& path, WriteFormat format = {},
                                         bool replace = false) const;

 private:
  template <class T>
  [[nodiscard]] static constexpr TensorType type_of() noexcept {
    static_assert(std::is_signed_v<T> && !std::same_as<T, long double>,
                  "tensors are of float, double or signed integers; for others give TensorType");
    if constexpr (std::floating_point<T>) {
      return sizeof(T) == 4 ? TensorType::f32 : TensorType::f64;
    } else {
      return sizeof(T) == 1   ? TensorType::i8
             : sizeof(T) == 2 ? TensorType::i16
             : sizeof(T) == 4 ? TensorType::i32
                              : TensorType::i64;
    }
  }

  Result<void> add_bytes(std::string_view name, TensorType type,
                         std::span<const std::uint64_t> shape, std::span<const std::byte> data);
  void set_scalar(std::string_view key, ValueType type, const void* value, std::size_t bytes);
  void set_scalars(std::string_view key, ValueType element_type, const void* values,
                   std::size_t count, std::size_t element_bytes);

  struct State;
  std::unique_ptr<State> state_;
};

/// The header of an open file, written again in its own version and byte order: the same bytes as
/// in the file, unless it has a quirk that writing repairs (old magic, stripped NULs, padding that
/// is not zero).
[[nodiscard]] INGOT_EXPORT Result<std::vector<std::byte>> serialise_header(const Model& model,
                                                                           std::size_t file = 0);

/// Serialises the header in another version or byte order.
[[nodiscard]] INGOT_EXPORT Result<std::vector<std::byte>> serialise_header(const Model& model,
                                                                           std::size_t file,
                                                                           WriteFormat format);

}  // namespace ingot
