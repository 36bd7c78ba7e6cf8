// SPDX-License-Identifier: MIT
// One file, from its source to its structure.
#pragma once

#include <memory>
#include <string>

#include "ingot/model.hpp"
#include "ingot/store.hpp"
#include "model/open/model_state.hpp"
#include "model/open/open_file.hpp"

namespace ingot {

/// Maps or reads a file, by the options, and parses its header. A file whose edit was cut off is
/// seen as it was before. `way` holds all other options.
[[nodiscard]] Result<LoadedFile> load_path(const std::string& path, const OpenOptions& options,
                                           OpenWay way = {});

/// Loads a file of a store; one of the file system as `load_path` does.
[[nodiscard]] Result<LoadedFile> load_from(const Store& store, const std::string& name,
                                           const OpenOptions& options, OpenWay way = {});

/// Parses the header of a source. A source that is not in memory is read in growing pieces until
/// the header is complete, so that little more than the header is ever read and held.
[[nodiscard]] Result<LoadedFile> load(std::unique_ptr<Source> source, const OpenOptions& options);

/// Parses the header of a stream, then reads to the end of the stream to learn its size.
[[nodiscard]] Result<LoadedFile> load_stream(int descriptor, const OpenOptions& options);

}  // namespace ingot
