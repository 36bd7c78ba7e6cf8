// SPDX-License-Identifier: MIT
#include "ingot/layout_index.hpp"

#include <span>
#include <string>

#include "base/checked.hpp"
#include "format/header_index.hpp"
#include "model/open/model_state.hpp"

namespace ingot {

Result<std::vector<std::uint64_t>> make_layout_index(const Model& model, std::size_t file) {
  if (file >= model.files().size()) return fail(Errc::index_out_of_range, "file");
  const format::Structure& structure = ModelAccess::state(model).loaded[file].structure;
  if (structure.is_indexed) {
    return fail(Errc::invalid_argument, std::string(layout_index_key),
                "the file was read through its index; open it without");
  }
  format::LayoutIndex index{.infos_offset = structure.infos_offset,
                            .infos_bytes = structure.header_bytes - structure.infos_offset,
                            .data_offset = structure.data_offset};
  std::vector<std::byte> infos(to_size(index.infos_bytes));
  INGOT_TRY_VOID(model.read_file_bytes(file, index.infos_offset, infos));
  index.infos_hash = format::hash_of_infos(infos);
  for (const KeyValue& entry : structure.metadata) {
    index.key_offsets.push_back(structure.context->record_offset(entry.key));
  }
  return format::elements_of(index, 0);
}

Result<void> verify_layout_index(const Model& model, std::size_t file) {
  if (file >= model.files().size()) return fail(Errc::index_out_of_range, "file");
  const std::span<const KeyValue> metadata = model.files()[file].metadata;
  const auto refuse = [](std::string detail) {
    return fail(Errc::index_ignored, std::string(layout_index_key), std::move(detail));
  };
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    if (metadata[i].key != layout_index_key) continue;
    if (i != 0) return refuse("it is not the first key");
    const Array stored = metadata[i].value.as_array();
    if (!metadata[i].value.is_array() || stored.element_type() != ValueType::uint64) {
      return refuse("it is not an array of u64");
    }
    INGOT_TRY(const std::vector<std::uint64_t> wanted, make_layout_index(model, file));
    if (stored.size() < wanted.size()) return refuse("it has fewer offsets than there are keys");
    std::uint64_t position = 0;
    for (const Value& element : stored) {
      const std::uint64_t expected = position < wanted.size() ? wanted[to_size(position)] : 0;
      const std::uint64_t found = *element.get<std::uint64_t>();
      if (found != expected) {
        return refuse("element " + std::to_string(position) + " is " + std::to_string(found) +
                      ", the file has " + std::to_string(expected));
      }
      ++position;
    }
  }
  return {};
}

}  // namespace ingot
