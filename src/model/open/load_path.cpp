// SPDX-License-Identifier: MIT
// A file of the file system, by its path.
#include <memory>
#include <string>
#include <utility>

#include "io/file_lock.hpp"
#include "io/in_place_file.hpp"
#include "io/journal.hpp"
#include "io/mapped_file.hpp"
#include "io/plain_file.hpp"
#include "io/restored_file.hpp"
#include "model/open/load.hpp"
#include "system/files.hpp"

namespace ingot {
namespace {

/// The path at which the journal of an open path would be.
std::string find_journal_path(const std::string& path) {
  system::FileFacts facts;
  const bool is_link =
      system::look_at(path, facts, system::Links::refuse) && facts.kind == system::FileKind::link;
  return io::journal_path(is_link ? io::real_path(path) : path);
}

Error notice_of(const io::FoundJournal& found, const std::string& path,
                const std::string& journal) {
  if (found.fit == io::JournalFit::needed || found.fit == io::JournalFit::unused) {
    return {Errc::edit_unfinished, Error::no_offset, path, {}};
  }
  return {Errc::journal_ignored, Error::no_offset, journal,
          found.fit == io::JournalFit::done ? "the edit is complete" : std::string(found.reason)};
}

Result<std::unique_ptr<Source>> open_source(const std::string& path, io::RegularFile file,
                                            const OpenWay& way, io::FoundJournal found) {
  if (found.fit == io::JournalFit::needed) {
    if (way.is_mapped) return io::map_restored(std::move(file), std::move(found.state));
    return io::read_restored(std::move(file), std::move(found.state));
  }
  if (way.is_mapped) {
    const io::Keep keep = way.is_one_of_many ? io::Keep::nothing : io::Keep::descriptor;
    return io::map_descriptor(std::move(file), keep);
  }
  if (way.is_one_of_many) return io::read_on_demand(path, file);
  return io::read_descriptor(std::move(file));
}

}  // namespace

Result<OpenedFile> open_file(const std::string& path, const OpenWay& way) {
  const std::string journal_at = find_journal_path(path);
  for (;;) {
    INGOT_TRY(io::RegularFile file, io::open_regular(path));
    const int descriptor = file.descriptor.get();
    const bool has_journal = io::has_journal(journal_at);
    // An edit is going on, or was cut off. It cannot be undone while this lock is held.
    if (has_journal && way.lock == JournalLock::take) {
      INGOT_TRY_VOID(io::lock(descriptor, io::LockKind::shared, path, {.on_wait = {}}));
    }
    io::FoundJournal found;
    if (has_journal) found = io::find_journal(journal_at, descriptor);
    // The edit has finished meanwhile, so the opened file may have been changed or replaced.
    if (has_journal && (found.fit == io::JournalFit::none || !io::is_named(descriptor, path))) {
      continue;
    }
    // An edit may have ended since the file was opened, and have made it longer. None begins now
    // that would change it in place, as this one has it open.
    INGOT_TRY(file.size_bytes, io::size_of_regular(descriptor, path));
    OpenedFile opened;
    opened.stamp = io::stamp_of(descriptor);
    opened.is_restored = found.fit == io::JournalFit::needed;
    if (has_journal) opened.notice = notice_of(found, path, journal_at);
    if (has_journal && !opened.is_restored && way.lock == JournalLock::take) {
      system::unlock(descriptor);
    }
    INGOT_TRY(opened.source, open_source(path, std::move(file), way, std::move(found)));
    return opened;
  }
}

Result<LoadedFile> load_path(const std::string& path, const OpenOptions& options, OpenWay way) {
  way.is_mapped = options.access == FileAccess::map && !options.is_header_only;
  INGOT_TRY(OpenedFile opened, open_file(path, way));
  Result<LoadedFile> loaded = load(std::move(opened.source), options);
  if (!loaded && opened.notice) {
    loaded.error().detail += (loaded.error().detail.empty() ? "" : "; ") + opened.notice->message();
  }
  INGOT_TRY(LoadedFile file, std::move(loaded));
  file.stamp = opened.stamp;
  file.is_restored = opened.is_restored;
  if (opened.notice) file.notice = std::move(opened.notice);
  return file;
}

}  // namespace ingot
