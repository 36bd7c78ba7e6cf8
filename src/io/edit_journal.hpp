// SPDX-License-Identifier: MIT
// Writing, removing and undoing by the journal of an edit in place (journal.hpp).
#pragma once

#include <string>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "io/in_place_file.hpp"
#include "io/journal.hpp"

namespace ingot::io {

/// Undoes what an edit that was cut off did to a locked file, then removes the journal; removes one
/// that the file does not need, too. Can itself be cut off and repeated. True if the file is as
/// before the edit now; Errc::journal_invalid, with nothing done, for a journal that is not of this
/// file.
[[nodiscard]] Result<bool> undo_edit(InPlaceFile& file, const std::string& journal);

/// Undoes an edit of a file that is to be replaced, as far as that can be done; `locked` is its
/// descriptor. Whenever a kill comes, the older file can be read.
INGOT_EXPORT void settle_edit(int locked, const std::string& file_path);

/// Removes a journal that lies where a file has been replaced, or is to be written; no other
/// process can edit a file of this name meanwhile.
INGOT_EXPORT void drop_journal(const std::string& file_path);

/// Makes the journal durable; from then on readers see the file as it is now. It holds a part of
/// the file, and who may read that has to be able to read it: so it gets its owner, group and
/// permissions.
[[nodiscard]] Result<void> publish_journal(const EditJournal& journal, const std::string& path,
                                           const FileIdentity& file);
/// Durable when it returns.
[[nodiscard]] Result<void> set_phase(const std::string& path, JournalPhase phase);
/// By the holder of the lock of the file that the journal lies beside.
[[nodiscard]] Result<void> remove_journal(const std::string& path);

}  // namespace ingot::io
