// SPDX-License-Identifier: MIT
// Files of a folder that somebody else may have filled, by their names in it.
#pragma once

#include <memory>
#include <string>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/source.hpp"
#include "ingot/store.hpp"

namespace ingot::io {

/// Opens a file of a folder, or of one below. Follows a link if its target lies in the folder too,
/// or is a blob of the Hub cache in which the folder is a snapshot. Otherwise Errc::import_refused,
/// as the output could publish any file that the user may read. The folder itself may be a link.
/// Stores other than the file system have no links.
[[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Source>> open_in_folder(const Store& store,
                                                                          const std::string& folder,
                                                                          const std::string& name);

/// Opens a file by its path in the store, with the same check for the folder before the last slash.
/// Use it for files that only another file or a list has named.
[[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Source>> open_found(const Store& store,
                                                                      const std::string& path);

/// Fails for a link that leads out of the folder, and opens nothing. Succeeds for other files, and
/// if there is no such file.
[[nodiscard]] INGOT_EXPORT Result<void> check_in_folder(const Store& store,
                                                        const std::string& folder,
                                                        const std::string& name);

}  // namespace ingot::io
