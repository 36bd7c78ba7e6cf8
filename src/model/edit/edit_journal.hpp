// SPDX-License-Identifier: MIT
// Writing, removing and undoing by the journal of an edit in place (journal.hpp).
#pragma once

#include <string>

#include "ingot/error.hpp"
#include "io/in_place_file.hpp"
#include "model/open/journal.hpp"

namespace ingot {

/// Undoes what an edit that was cut off did, then removes the journal. Can itself be cut off and
/// repeated. False, with nothing done, if there is no journal; Errc::journal_invalid.
[[nodiscard]] Result<bool> undo_edit(io::InPlaceFile& file, const std::string& path);

/// Makes the journal durable; from then on readers see the file as it is now. It holds a part of
/// the file, and who may read that has to be able to read it: so it gets its owner, group and
/// permissions.
[[nodiscard]] Result<void> publish_journal(const EditJournal& journal, const std::string& path,
                                           const io::FileIdentity& file);
/// Durable when it returns.
[[nodiscard]] Result<void> set_phase(const std::string& path, JournalPhase phase);
[[nodiscard]] Result<void> remove_journal(const std::string& path);

}  // namespace ingot
