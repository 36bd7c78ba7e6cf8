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

/// Opens a file of a folder, or of one below. A link counts as the file it leads to, as long as
/// that lies in the folder too, or is a blob of the hub's cache in which the folder is a snapshot;
/// else Errc::import_refused: what is made of the folder would publish any file that the user
/// may read. The folder may be a link itself. Stores other than the file system have no links.
[[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Source>> open_in_folder(const Store& store,
                                                                          const std::string& folder,
                                                                          const std::string& name);

/// The same for a path in the store, whose folder stands before its last slash: a file that nobody
/// named but another file, or a list.
[[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Source>> open_found(const Store& store,
                                                                      const std::string& path);

/// The error of a link that leads out, without opening anything; succeeds for other files, and if
/// there is none.
[[nodiscard]] INGOT_EXPORT Result<void> check_in_folder(const Store& store,
                                                        const std::string& folder,
                                                        const std::string& name);

}  // namespace ingot::io
