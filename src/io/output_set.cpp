// SPDX-License-Identifier: MIT
#include "ingot/output_set.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/set_aside.hpp"
#include "base/with_subject.hpp"
#include "ingot/lock_wait.hpp"
#include "io/file_lock.hpp"
#include "io/in_place_file.hpp"
#include "io/left_overs.hpp"

namespace ingot {
namespace {

/// Through a link the file that it points to is replaced, not the link.
std::string real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// Ends what a process began that was killed while it replaced the same files: if one has no name,
/// the older ones are put back, else they go.
void settle_earlier(std::span<const std::string> paths) {
  const bool is_complete = std::all_of(paths.begin(), paths.end(), exists);
  for (const std::string& path : paths) {
    const std::string other_name = set_aside_name(path);
    static_cast<void>(is_complete ? ::unlink(other_name.c_str())
                                  : ::rename(other_name.c_str(), path.c_str()));
  }
}

/// Older files under other names, until it is clear what becomes of them.
class SetAside {
 public:
  SetAside() = default;
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;
  ~SetAside() {
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) {
      static_cast<void>(::rename(set_aside_name(*path).c_str(), path->c_str()));
    }
  }

  /// The last path first.
  Result<void> set_aside(std::span<const std::string> paths) {
    std::vector<std::string> targets;
    for (const std::string& path : paths) {
      std::string target = real_path(path);
      std::error_code ignored;
      // A link to nothing holds nothing.
      if (!std::filesystem::is_symlink(target, ignored)) targets.push_back(std::move(target));
    }
    settle_earlier(targets);
    for (std::size_t i = targets.size(); i-- > 0;) {
      if (::rename(targets[i].c_str(), set_aside_name(targets[i]).c_str()) == 0) {
        paths_.push_back(targets[i]);
      } else if (errno != ENOENT) {
        return fail(Errc::io_error, targets[i],
                    std::string("cannot set the older file aside: ") + std::strerror(errno));
      }
    }
    return {};
  }

  /// The new files are there.
  void forget() {
    for (const std::string& path : paths_) ::unlink(set_aside_name(path).c_str());
    paths_.clear();
  }

 private:
  std::vector<std::string> paths_;
};

/// Locks the folders of files, so that only one process names files there: what another one has
/// set aside is a part of what it is doing, and not left over.
Result<std::vector<io::FileDescriptor>> lock_folders(std::span<const std::string> paths) {
  std::set<std::string> folders;  // in one order for all processes
  for (const std::string& path : paths) folders.insert(io::real_path(io::directory_of(path)));
  std::vector<io::FileDescriptor> locks;
  for (const std::string& folder : folders) {
    INGOT_TRY(io::FileDescriptor lock, io::lock_directory(folder, lock_wait()));
    locks.push_back(std::move(lock));
  }
  return locks;
}

}  // namespace

struct SharedSearch::State {
  io::LeftOvers left_overs;
  io::LeftOvers::Use use{left_overs};
};

SharedSearch::SharedSearch() : state_(std::make_unique<State>()) {}
SharedSearch::~SharedSearch() = default;

OutputSet::OutputSet(bool may_replace)
    : may_replace_(may_replace), left_overs_(std::make_unique<io::LeftOvers>()) {}
OutputSet::~OutputSet() = default;

Result<OutputFile*> OutputSet::add(const std::string& path, std::uint64_t size_bytes) {
  const io::LeftOvers::Use use(*left_overs_);
  INGOT_TRY(OutputFile file, with_subject(path, OutputFile::create(path, may_replace_)));
  INGOT_TRY_VOID(with_subject(path, file.reserve(size_bytes)));
  paths_.push_back(path);
  files_.push_back(std::move(file));
  return &files_.back();
}

Result<void> OutputSet::add_text(const std::string& path, std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  INGOT_TRY(OutputFile* const file, add(path, bytes.size()));
  return with_subject(path, file->write(bytes));
}

Result<void> OutputSet::sync() {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    INGOT_TRY_VOID(with_subject(paths_[i], files_[i].sync()));
  }
  return {};
}

Result<void> OutputSet::commit() {
  INGOT_TRY_VOID(sync());  // the slow part: between the first name and the last there is a moment
  INGOT_TRY(const auto locks, lock_folders(paths_));
  for (std::size_t i = 0; i < files_.size(); ++i) {
    INGOT_TRY_VOID(with_subject(paths_[i], files_[i].commit()));
  }
  return {};
}

Result<void> OutputSet::commit_as_one() {
  INGOT_TRY_VOID(sync());
  return commit_together(files_, paths_, may_replace_);
}

Result<void> commit_together(std::span<OutputFile> files, std::span<const std::string> paths,
                             bool may_replace) {
  INGOT_TRY(const auto locks,
            lock_folders(files.size() > 1 ? paths : std::span<const std::string>()));
  SetAside older;
  // A single file is replaced at one moment.
  if (may_replace && files.size() > 1) INGOT_TRY_VOID(older.set_aside(paths));
  for (std::size_t i = 0; i < files.size(); ++i) {
    Result<void> committed = with_subject(paths[i], files[i].commit());
    if (committed) continue;
    // Where something was there before, it went aside; so these are ours.
    for (std::size_t k = i; k-- > 0;) ::unlink(real_path(paths[k]).c_str());
    return committed;
  }
  older.forget();
  return {};
}

}  // namespace ingot
