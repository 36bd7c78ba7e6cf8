// SPDX-License-Identifier: MIT
// Open a GGUF model, in one file or in shards, and look at everything in it.
//
// ```cpp
// const auto model = ingot::Model::open("model.gguf");
// if (!model) throw std::runtime_error(model.error().message());
// std::printf("%s\n", std::string(model->get_or<std::string_view>("general.name", "")).c_str());
// for (const ingot::TensorInfo& tensor : model->tensors()) {
//   std::vector<float> row(tensor.row_elements());
//   const auto result = model->dequantize_rows(tensor, 0, 1, row);
//   if (!result) throw std::runtime_error(result.error().message());
//   std::printf("%s begins with %g\n", ingot::escape(tensor.name).c_str(), row[0]);
// }
// ```
//
// You get views: names, values and bytes stay in the file, and nothing is copied until you ask for
// it. Keep the model alive while you use them. The file may be hostile: a model that opens has
// sizes, offsets and names that are valid, but its texts can hold anything, so pass them through
// `escape` (text.hpp) before you print them. A mapped file that another program truncates ends your
// program with SIGBUS; open it with FileAccess::read to get an error instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/limits.hpp"
#include "ingot/metadata.hpp"
#include "ingot/source.hpp"
#include "ingot/tensor.hpp"
#include "ingot/types.hpp"

namespace ingot {

class Store;

namespace detail {
struct ModelState;
}

/// The way in which a file is read.
enum class FileAccess : std::uint8_t {
  map,   ///< mmap: zero copy, the fastest
  read,  ///< pread: only the header is held in memory
};

struct OpenOptions {
  FileAccess access = FileAccess::map;
  bool is_lenient = false;  ///< Whether to open files, too, that break numeric rules or have
                            ///< unknown types.
  bool with_shards = true;  ///< Look for the other shards of a set beside the file.
  /// Reads the header and nothing else: of a file that is cut off behind it, or of a pipe, which is
  /// not read further. Sizes are those that the header promises; reading data is Errc::not_mapped.
  bool is_header_only = false;
  /// Whether to read a file through its layout index (layout_index.hpp): the tensors, and the keys
  /// with short values, but not the long ones. The index comes from the author of the file, so the
  /// result is unverified (`ModelFile::is_indexed`): another reader could see other tensors. A file
  /// without an index, or with one that does not fit, is read as a whole.
  bool uses_index = false;
  Limits limits = {};
};

/// One file of a model: the only one, or a shard.
struct ModelFile {
  std::string path;           ///< The path that was opened, or the name in its store; else empty.
  std::uint32_t index = 0;    ///< Position in the set, from 0 (`split.no`).
  std::uint32_t version = 0;  ///< 1, 2 or 3
  Endian byte_order = Endian::little;
  bool has_old_magic = false;                   ///< "FUGG" instead of "GGUF"
  std::uint64_t alignment = default_alignment;  ///< Bytes
  std::uint64_t file_bytes = 0;
  std::uint64_t infos_offset = 0;       ///< First byte of the tensor infos, after the metadata.
  std::uint64_t header_bytes = 0;       ///< First byte after the tensor infos.
  std::uint64_t data_offset = 0;        ///< First byte of the data section.
  bool is_indexed = false;              ///< Read through its layout index: unverified.
  std::uint64_t unread_keys = 0;        ///< The number of keys of an indexed file that are not in
                                        ///< `metadata`.
  std::span<const KeyValue> metadata;   ///< This file's own keys, in its order.
  std::span<const TensorInfo> tensors;  ///< This file's own tensors, in its order.
};

/// An open model. Movable, not copyable. All views that it returns are valid until it is destroyed.
/// Const members are thread-safe. Opening takes time linear in the bytes of the header and
/// allocates for the tables only, never per key, string or element; look-ups by name are O(1).
class INGOT_EXPORT Model {
 public:
  /// Opens a file, and all other shards if it is one of a set (`NAME-00001-of-00003.gguf`).
  /// A file that breaks the format fails with an error that names the place; a file that is odd but
  /// unambiguous opens, and `notices` lists its oddities.
  [[nodiscard]] static Result<Model> open(const std::string& path, const OpenOptions& options = {});

  /// Opens a file of a store by name, and all other shards of its set, which the store lists. Files
  /// of `file_system()` open as above; `options.access` means nothing in another store.
  [[nodiscard]] static Result<Model> open(const Store& store, const std::string& name,
                                          const OpenOptions& options = {});

  /// Opens a model that is in memory. The bytes are borrowed: they must outlive the model.
  [[nodiscard]] static Result<Model> open_memory(std::span<const std::byte> bytes,
                                                 const OpenOptions& options = {});

  /// Opens a model from any source.
  [[nodiscard]] static Result<Model> open_source(std::unique_ptr<Source> source,
                                                 const OpenOptions& options = {});

  /// Opens a model from an open descriptor, e.g. standard input: a regular file is mapped or read
  /// as by `open`; a pipe is read to its end, and only the header is kept, so its tensor data
  /// cannot be read afterwards (Errc::not_mapped). The descriptor stays open.
  [[nodiscard]] static Result<Model> open_descriptor(int descriptor,
                                                     const OpenOptions& options = {});

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  /// The files of the model that are there, by ascending shard index; never empty.
  [[nodiscard]] std::span<const ModelFile> files() const noexcept;

  /// The number of shards in the set by the file names (or `split.count`); 1 if it is not split.
  [[nodiscard]] std::uint32_t shard_count() const noexcept;

  /// The path at which the shard `index` belongs by the file names of the set; empty if the model
  /// was not opened as one of a named set.
  [[nodiscard]] std::string shard_path(std::uint32_t index) const;

  /// Whether all files were read as a whole, not through a layout index (OpenOptions::uses_index).
  [[nodiscard]] bool is_verified() const noexcept;

  /// Whether the file names or keys make this a part of a set, even of a set of one.
  [[nodiscard]] bool is_split() const noexcept;

  /// The keys, in file order (of the first shard that is there).
  [[nodiscard]] std::span<const KeyValue> metadata() const noexcept;

  /// The tensors of all files, in file order.
  [[nodiscard]] std::span<const TensorInfo> tensors() const noexcept;

  /// The value of a key; nullptr if there is none. O(1).
  [[nodiscard]] const Value* find(std::string_view key) const noexcept;

  /// The tensor with a name; nullptr if there is none. O(1).
  [[nodiscard]] const TensorInfo* find_tensor(std::string_view name) const noexcept;

  /// The value of a key as T (see Value::get). Errc::key_not_found if there is no such key.
  template <MetadataScalar T>
  [[nodiscard]] Result<T> get(std::string_view key) const {
    const Value* value = find(key);
    if (value == nullptr) return fail(Errc::key_not_found, std::string(key));
    Result<T> result = value->template get<T>();
    if (!result) result.error().subject = std::string(key);
    return result;
  }

  /// The value of a key as T, or `fallback` if it is absent, of another type or does not fit.
  template <MetadataScalar T>
  [[nodiscard]] T get_or(std::string_view key, T fallback) const {
    const Value* value = find(key);
    if (value == nullptr) return fallback;
    return value->template get<T>().value_or(fallback);
  }

  /// The tensor's bytes where the file is mapped or in memory; an empty span otherwise, and for
  /// tensors without data. Any alignment; in the byte order of its file.
  [[nodiscard]] std::span<const std::byte> data(const TensorInfo& tensor) const noexcept;

  /// Copies part of a tensor's bytes, from any kind of source.
  /// Errc::size_mismatch if the part is not within the tensor.
  [[nodiscard]] Result<void> read(const TensorInfo& tensor, std::uint64_t offset_bytes,
                                  std::span<std::byte> destination) const;

  /// Part of a tensor's bytes for a pass over much data: where they are if the model is in memory,
  /// else read into `buffer`, which the caller uses again for the next part. Mapped files are read
  /// too: mapping pages that are looked at once takes longer, above all those of new files.
  /// @return  as many bytes as `buffer` has, valid as long as it is; errors as of `read`.
  [[nodiscard]] Result<std::span<const std::byte>> fetch(const TensorInfo& tensor,
                                                         std::uint64_t offset_bytes,
                                                         std::span<std::byte> buffer) const;

  /// Fetches bytes of one of the files, headers and gaps included.
  [[nodiscard]] Result<std::span<const std::byte>> fetch(std::size_t file,
                                                         std::uint64_t file_offset,
                                                         std::span<std::byte> buffer) const;

  /// Decodes rows of a tensor to floats, from any kind of source. A row is dimension 0; a tensor
  /// has element_count / row_elements() of them, counted through all other dimensions.
  ///
  /// @param first_row  from 0.
  /// @param dst        receives row_count * row_elements() floats, exactly; filled fastest where
  ///                   it is aligned to 64 bytes.
  /// @return  Errc::index_out_of_range if there are not that many rows; Errc::size_mismatch;
  ///          Errc::unsupported_type for types that only a lenient reader opens; errors of reading.
  ///
  /// Linear in the floats; allocates only to report an error. See quantize.hpp for the numbers.
  [[nodiscard]] Result<void> dequantize_rows(const TensorInfo& tensor, std::uint64_t first_row,
                                             std::uint64_t row_count, std::span<float> dst) const;

  /// Decodes a whole tensor to its element_count floats; errors as of `dequantize_rows`. Throws
  /// std::bad_alloc where the floats do not fit the memory: a large tensor is better read by rows.
  [[nodiscard]] Result<std::vector<float>> dequantize(const TensorInfo& tensor) const;

  /// The offset of the tensor's data in its file.
  [[nodiscard]] std::uint64_t file_offset(const TensorInfo& tensor) const noexcept;

  /// The real place of a byte of one of the files. In a GGUF file that is `file` and `file_offset`;
  /// in a model of another format (`open_any`) the place in the file that it was read from, and
  /// nothing for bytes that are in no file, such as its header.
  [[nodiscard]] std::optional<Origin> origin(std::size_t file,
                                             std::uint64_t file_offset) const noexcept;

  /// The origin of the first byte of a tensor's data.
  [[nodiscard]] std::optional<Origin> origin(const TensorInfo& tensor) const noexcept;

  /// Reads bytes of one of the files, headers and gaps included.
  [[nodiscard]] Result<void> read_file_bytes(std::size_t file, std::uint64_t file_offset,
                                             std::span<std::byte> destination) const;

  /// All bytes of one of the files, if it is mapped or in memory; else an empty span.
  [[nodiscard]] std::span<const std::byte> file_data(std::size_t file) const noexcept;

  /// `Source::prefetch` and `Source::release` of one of the files: hints for programs that stream
  /// through more data than memory holds.
  void prefetch(std::size_t file, std::uint64_t file_offset,
                std::uint64_t size_bytes) const noexcept;
  void release(std::size_t file, std::uint64_t file_offset,
               std::uint64_t size_bytes) const noexcept;

  /// Oddities of a file that opened: errors of the category `notice`.
  [[nodiscard]] std::span<const Error> notices() const noexcept;

 private:
  friend struct ModelAccess;
  explicit Model(std::unique_ptr<detail::ModelState> state) noexcept;
  std::unique_ptr<detail::ModelState> state_;
};

}  // namespace ingot
