// SPDX-License-Identifier: MIT
#include "ingot/output_set.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "base/messages.hpp"
#include "base/paths.hpp"
#include "ingot/lock_wait.hpp"
#include "io/atomic_file.hpp"
#include "io/edit_journal.hpp"
#include "io/file_lock.hpp"
#include "io/left_overs.hpp"
#include "system/files.hpp"

namespace ingot {
namespace {

/// The files of a set that are open at once, each with the locked older file that it replaces. A
/// process may have 1,024 descriptors by default, and 256 on some systems.
constexpr std::size_t max_open_files = 32;

/// Gives a file that was set aside its name back, unless another file has it.
void put_back(const std::string& path) { system::rename_to_new(set_aside_name(path), path); }

/// Locks a file that will be replaced; does not wait, but fails with Errc::file_in_use.
Result<io::FileDescriptor> lock_if_free(const std::string& path) {
  return with_subject(path, io::lock_older(path, {.limit = {}, .on_wait = {}}));
}

/// Waits until no other process has a file locked. The caller must not hold the lock of the folder,
/// as the holder of the file may wait for it.
Result<void> wait_until_free(const std::string& path) {
  return io::lock_older(path, lock_wait()).transform([](const io::FileDescriptor&) {});
}

/// Finishes the work of a process that was killed while it replaced the same files. Without its key
/// file the set is not whole, and the older files replace the new ones; else the older ones are
/// removed.
Result<void> settle_earlier(std::span<const std::string> paths, const std::string& key) {
  const bool is_whole = system::exists(key);
  for (const std::string& path : paths) {
    const std::string aside = set_aside_name(path);
    if (is_whole || !system::exists(aside)) {
      system::remove_file(aside);
      continue;
    }
    INGOT_TRY(io::FileDescriptor locked, lock_if_free(path));
    int held = locked.release();
    static_cast<void>(system::replace_file(aside, path, held));
    locked = io::FileDescriptor(held);
  }
  return {};
}

/// Older files under other names, until they are either removed or put back. Their folders are
/// locked.
class SetAside {
 public:
  SetAside() = default;
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;
  ~SetAside() {
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) put_back(*path);
  }

  /// The first path is that of the key file. Errc::file_in_use at once if a file is locked.
  Result<void> set_aside(std::span<const std::string> paths) {
    INGOT_TRY_VOID(settle_earlier(paths, paths.front()));
    for (const std::string& path : paths) INGOT_TRY_VOID(with_subject(path, set_aside(path)));
    return {};
  }

  /// Removes the older files, as the new files have their names.
  void forget() {
    for (const std::string& path : paths_) system::remove_file(set_aside_name(path));
    paths_.clear();
  }

 private:
  Result<void> set_aside(const std::string& path) {
    system::FileFacts facts;
    // A broken link has no content to keep, and a folder is refused when the new file gets its
    // name.
    if (!system::look_at(path, facts) || facts.kind != system::FileKind::regular) return {};
    INGOT_TRY(const io::FileDescriptor locked, lock_if_free(path));
    if (locked.is_open()) io::settle_edit(locked.get(), path);
    if (!system::rename_file(path, set_aside_name(path))) {
      return io::fail_with_errno(errno, {}, "set the older file aside");
    }
    paths_.push_back(path);
    return {};
  }

  std::vector<std::string> paths_;
};

/// Locks folders, in one order for all processes, so that only one process names files there.
/// Otherwise a file that another process has just set aside would look like a left-over.
Result<std::vector<io::FileDescriptor>> lock_folders(const std::set<std::string>& folders) {
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

struct OutputSet::State {
  explicit State(bool replaces) : may_replace(replaces) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    files.clear();
    staging.clear();
    for (auto folder = made_folders.rbegin(); folder != made_folders.rend(); ++folder) {
      system::remove_folder(*folder);
    }
  }

  [[nodiscard]] io::AtomicFile& file(std::size_t i) const { return *files[i].file_; }
  [[nodiscard]] bool is_target(const std::string& path) const {
    return std::ranges::find(dropped, path) != dropped.end() ||
           std::ranges::any_of(files, [&](const OutputFile& f) { return f.file_->path() == path; });
  }
  [[nodiscard]] Result<void> sync();
  [[nodiscard]] Result<void> park();
  [[nodiscard]] Result<void> name_all(const std::function<Result<void>()>& check);

  bool may_replace;
  io::LeftOvers left_overs;
  // Staging folders by the folder that holds them.
  std::map<std::string, io::StagingFolder> staging;
  std::vector<std::string> paths;
  std::vector<OutputFile> files;
  std::size_t parked = 0;  // the number of parked files, which are the first ones
  std::vector<std::string> dropped;
  std::vector<std::string> made_folders;  // outer folders first
};

/// Parks and closes all files, which are complete.
Result<void> OutputSet::State::park() {
  INGOT_TRY_VOID(sync());
  for (; parked < files.size(); ++parked) {
    const std::string folder = io::directory_of(file(parked).path());
    auto place = staging.find(folder);
    if (place == staging.end()) {
      INGOT_TRY(io::StagingFolder made, io::StagingFolder::make(file(parked).path()));
      place = staging.emplace(folder, std::move(made)).first;
    }
    INGOT_TRY_VOID(with_subject(paths[parked], file(parked).park(place->second.next_name())));
  }
  return {};
}

Result<void> OutputSet::State::sync() {
  for (std::size_t i = parked; i < files.size(); ++i) {
    INGOT_TRY_VOID(with_subject(paths[i], files[i].sync()));
  }
  return {};
}

/// The last file is the key.
Result<void> OutputSet::State::name_all(const std::function<Result<void>()>& check) {
  std::vector<std::string> targets;
  std::set<std::string> folders;
  for (std::size_t i = files.size(); i-- > 0;) targets.push_back(file(i).path());
  targets.insert(targets.end(), dropped.begin(), dropped.end());
  for (const std::string& target : targets) {
    folders.insert(io::real_path(io::directory_of(target)));
  }
  INGOT_TRY(const auto locks, lock_folders(folders));
  if (check) INGOT_TRY_VOID(check());
  SetAside older;
  const auto is_there = [](const std::string& path) {
    return system::exists(path) ||
           system::exists(set_aside_name(path));  // set aside by a process that was killed
  };
  if (files.size() == 1 && std::ranges::none_of(dropped, is_there)) {
    // A single file is replaced in one step.
    INGOT_TRY_VOID(lock_if_free(targets.front()).transform([](const io::FileDescriptor&) {}));
  } else if (may_replace) {
    INGOT_TRY_VOID(older.set_aside(targets));
  }
  for (const std::string& target : targets) {
    if (!system::exists(target)) io::drop_journal(target);
  }
  std::vector<std::optional<io::FileStamp>> stamps;
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto named = file(i).publish();
    if (named) {
      stamps.push_back(*named);
      continue;
    }
    for (std::size_t k = i; k-- > 0;) {
      // A file that another process has replaced or edited since is not ours.
      if (stamps[k]) static_cast<void>(io::remove_exactly(file(k).path(), *stamps[k]));
    }
    return with_subject(paths[i], Result<void>(fail(std::move(named).error())));
  }
  for (const std::string& folder : folders) io::flush_directory(folder);
  older.forget();
  return {};
}

OutputSet::OutputSet(bool may_replace) : state_(std::make_unique<State>(may_replace)) {}
OutputSet::OutputSet(OutputSet&&) noexcept = default;
OutputSet::~OutputSet() = default;

Result<OutputFile*> OutputSet::add(const std::string& path, OutputFile file) {
  if (state_->files.size() - state_->parked >= max_open_files) INGOT_TRY_VOID(state_->park());
  state_->paths.push_back(path);
  state_->files.push_back(std::move(file));
  return &state_->files.back();
}

Result<OutputFile*> OutputSet::add(const std::string& path, std::uint64_t size_bytes) {
  const io::LeftOvers::Use use(state_->left_overs);
  INGOT_TRY(OutputFile file, with_subject(path, OutputFile::create(path, state_->may_replace)));
  INGOT_TRY_VOID(with_subject(path, file.reserve(size_bytes)));
  return add(path, std::move(file));
}

Result<void> OutputSet::add_text(const std::string& path, std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  INGOT_TRY(OutputFile* const file, add(path, bytes.size()));
  return with_subject(path, file->write(bytes));
}

Result<void> OutputSet::drop(const std::string& path) {
  if (!state_->may_replace && system::exists(path)) return fail(Errc::already_exists, path);
  state_->dropped.push_back(path);
  return {};
}

Result<void> OutputSet::make_folder(const std::string& path) {
  if (path.empty() || system::exists(path)) return {};
  if (const std::string why = system::find_forbidden_name(path); !why.empty()) {
    return fail(Errc::invalid_argument, path, "no folder can have that name: " + why);
  }
  const std::string parent = io::directory_of(path);
  if (parent != path) INGOT_TRY_VOID(make_folder(parent));
  if (system::make_folder(path)) {
    state_->made_folders.push_back(path);
  } else if (errno != EEXIST) {
    return io::fail_with_errno(errno, path, "make the folder");
  }
  return {};
}

Result<void> OutputSet::sync() { return state_->sync(); }

Result<void> OutputSet::commit(KeyFile key, const std::function<Result<void>()>& check) {
  constexpr int tries = 100;  // each after another process has finished
  State& state = *state_;
  // The slow part comes first, so that naming the files takes only a moment.
  INGOT_TRY_VOID(state.sync());
  Result<void> named;
  if (state.files.size() == 1 && state.dropped.empty() && !check) {
    named = with_subject(state.paths[0], state.files[0].commit());
  } else if (!state.files.empty()) {
    if (key == KeyFile::first) {
      std::ranges::reverse(state.files);
      std::ranges::reverse(state.paths);
    }
    for (std::size_t i = 0; i < state.files.size(); ++i) state.file(i).release_older();
    named = state.name_all(check);
    for (int i = 1; !named && state.is_target(named.error().subject) && i < tries; ++i) {
      if (named.error().code != Errc::file_in_use) break;
      if (!(named = wait_until_free(named.error().subject))) break;
      named = state.name_all(check);
    }
  }
  if (named) state.made_folders.clear();
  return named;
}

}  // namespace ingot
