// SPDX-License-Identifier: MIT
// Writing, removing and undoing by the journal of an edit in place (journal.hpp).
#pragma once

#include <string>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "io/in_place_file.hpp"
#include "io/journal.hpp"

namespace ingot::io {

/// Undoes an interrupted edit of a locked file, then removes the journal; also removes a journal
/// that the file does not need. May itself be interrupted and repeated. True if the file is now as
/// before the edit; Errc::journal_invalid, with nothing done, for a journal of another file.
[[nodiscard]] Result<bool> undo_edit(InPlaceFile& file, const std::string& journal);

/// Undoes an edit of a file that is to be replaced, as far as possible; `locked` is its descriptor.
/// The older file stays readable even if a kill comes at any moment.
INGOT_EXPORT void settle_edit(int locked, const std::string& file_path);

/// Removes a journal beside a path where a file has been replaced or will be written; no other
/// process can edit a file of this name meanwhile.
INGOT_EXPORT void drop_journal(const std::string& file_path);

/// Makes the journal durable; from then on readers see the present state of the file. Every reader
/// of the file must be able to read the journal, so it gets the file's owner, group and
/// permissions.
[[nodiscard]] Result<void> publish_journal(const EditJournal& journal, const std::string& path,
                                           const FileIdentity& file);
/// The change is durable when the function returns.
[[nodiscard]] Result<void> set_phase(const std::string& path, JournalPhase phase);
/// Removes a journal; the caller holds the lock of the file beside it.
[[nodiscard]] Result<void> remove_journal(const std::string& path);

}  // namespace ingot::io
