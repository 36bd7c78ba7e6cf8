// SPDX-License-Identifier: MIT
#include "model/open/open_file.hpp"

#include <sys/stat.h>

#include <utility>

#include "io/file_lock.hpp"
#include "io/in_place_file.hpp"
#include "io/mapped_file.hpp"
#include "io/plain_file.hpp"
#include "io/restored_file.hpp"
#include "model/open/journal.hpp"

namespace ingot {
namespace {

/// The path at which the journal of an open path would be.
std::string find_journal_path(const std::string& path) {
  struct stat status {};
  const bool is_link = ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  return journal_path(is_link ? io::real_path(path) : path);
}

Result<OpenedFile> open_plain(io::RegularFile file, bool is_mapped) {
  OpenedFile opened;
  if (is_mapped) {
    INGOT_TRY(opened.source, io::map_descriptor(std::move(file)));
  } else {
    opened.source = io::read_descriptor(std::move(file));
  }
  return opened;
}

}  // namespace

Result<OpenedFile> open_file(const std::string& path, bool is_mapped, JournalLock lock) {
  const std::string journal_at = find_journal_path(path);
  for (;;) {
    INGOT_TRY(io::RegularFile file, io::open_regular(path));
    if (!has_journal(journal_at)) {
      // An edit may have ended since the file was opened, and have made it longer. None begins now
      // that would change it in place, as this one has it open.
      INGOT_TRY(file.size_bytes, io::size_of_regular(file.descriptor.get(), path));
      return open_plain(std::move(file), is_mapped);
    }
    // An edit is going on, or was cut off. It cannot be undone while this lock is held.
    if (lock == JournalLock::take) {
      INGOT_TRY_VOID(io::lock(file.descriptor.get(), io::LockKind::shared, path, {.on_wait = {}}));
    }
    INGOT_TRY(const io::FileIdentity identity, io::identify(file.descriptor.get()));
    file.size_bytes = identity.size_bytes;
    const FoundJournal found = find_journal(journal_at, identity);
    if (!found.is_there) continue;  // it was going on, and is done: what was opened may be changed
    std::optional<io::EarlierState> state =
        found.journal ? earlier_state(*found.journal, file.descriptor.get(), identity)
                      : std::nullopt;
    if (!state) {
      if (lock == JournalLock::take) io::unlock(file.descriptor.get());
      INGOT_TRY(OpenedFile opened, open_plain(std::move(file), is_mapped));
      opened.notice = Error{Errc::journal_ignored, Error::no_offset, journal_at, {}};
      return opened;
    }
    OpenedFile opened;
    opened.is_restored = true;
    opened.notice = Error{Errc::edit_unfinished, Error::no_offset, path, {}};
    if (is_mapped) {
      INGOT_TRY(opened.source, io::map_restored(std::move(file), *std::move(state)));
    } else {
      opened.source = io::read_restored(std::move(file), *std::move(state));
    }
    return opened;
  }
}

}  // namespace ingot
