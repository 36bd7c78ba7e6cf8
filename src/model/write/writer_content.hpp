// SPDX-License-Identifier: MIT
// The keys and tensors that a ModelWriter was given, and the header that they make.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/serialise.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "model/open/model_state.hpp"
#include "model/write/key_table.hpp"

namespace ingot {

/// A tensor whose data is made, or whose name or shape differs from the model it is copied from.
struct OwnTensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  DataProducer produce;
  TensorInfo info;  ///< Views of the above.
};

struct PendingTensor {
  const TensorInfo* info = nullptr;     ///< The info of `own`, or of the model that is copied from.
  std::unique_ptr<OwnTensor> own = {};  ///< Null if everything is as in that model.
  const LoadedFile* source = nullptr;   ///< The file of copied data; lives as long as its model.
  std::uint64_t source_offset = 0;      ///< The offset in that file.
};

struct WriterContent {
  KeyTable keys;
  std::vector<PendingTensor> tensors;
  const void* first_model = nullptr;  ///< The first model from which a tensor is copied.
  bool is_of_one_model = true;
  bool lacks_keys = false;  ///< It was made of a model that was read through its index.

  [[nodiscard]] std::uint64_t alignment() const {
    return alignment_of(keys.find(ingot::keys::general_alignment));
  }
};

/// Why a model that was read through its index cannot be written: its long keys were left out.
[[nodiscard]] Failure read_through_index();

/// The bytes of a file.
struct FileParts {
  std::uint64_t header_bytes = 0;
  std::uint64_t data_bytes = 0;
};

/// Checks the header by the rules of the reader, and measures the file. Values and tables that were
/// borrowed from a model, whose reader has accepted them, are not held a second time.
[[nodiscard]] Result<FileParts> measure(const WriterContent& content, WriteFormat format);

/// Gives the header to the sink, a megabyte at a time; returns its bytes.
[[nodiscard]] Result<std::uint64_t> serialise_content(const WriterContent& content,
                                                      WriteFormat format,
                                                      const format::HeaderSink& sink);

/// The whole header, checked by the rules of the reader.
[[nodiscard]] Result<std::vector<std::byte>> serialise_checked(const WriterContent& content,
                                                               WriteFormat format);

}  // namespace ingot
