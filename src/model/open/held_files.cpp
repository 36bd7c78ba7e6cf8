// SPDX-License-Identifier: MIT
#include "ingot/held_files.hpp"

#include <map>
#include <utility>

#include "base/messages.hpp"
#include "ingot/lock_wait.hpp"
#include "io/edit_journal.hpp"
#include "io/file_lock.hpp"
#include "io/file_stamp.hpp"
#include "io/in_place_file.hpp"

namespace ingot {
namespace {

/// The most locked files; a process with 256 descriptors has room for them beside all others.
constexpr std::size_t max_locked_files = 64;

struct HeldFile {
  io::FileStamp stamp;
  io::FileDescriptor lock;
};

/// Locks a file for as long as its descriptor is open. The path leads to it then.
Result<HeldFile> hold(const std::string& path) {
  for (;;) {
    INGOT_TRY(io::RegularFile file, io::open_regular(path));
    const int descriptor = file.descriptor.get();
    INGOT_TRY_VOID(io::lock(descriptor, io::LockKind::shared, path, lock_wait()));
    const auto stamp = io::settled_stamp(descriptor);
    if (!stamp || !io::is_named(descriptor, path)) continue;  // replaced while we waited
    return HeldFile{*stamp, std::move(file.descriptor)};
  }
}

}  // namespace

struct HeldFiles::State {
  std::map<std::string, HeldFile> files;

  [[nodiscard]] Result<void> hold_files_of(const std::string& path);
  /// Checks that a file has not changed and no other process uses it.
  [[nodiscard]] Result<void> check(const std::string& path) const;
};

Result<void> HeldFiles::State::hold_files_of(const std::string& path) {
  INGOT_TRY(const Model model, Model::open(path));
  for (const ModelFile& file : model.files()) {
    INGOT_TRY(HeldFile held, with_subject(file.path, hold(file.path)));
    if (files.size() >= max_locked_files) held.lock = io::FileDescriptor();
    files.emplace(file.path, std::move(held));
  }
  return {};
}

Result<void> HeldFiles::State::check(const std::string& path) const {
  const auto held = files.find(path);
  if (held == files.end() || io::stamp_of(path) != held->second.stamp) {
    return fail(Errc::file_changed, {});
  }
  // Alone: another process that reads it to remove it would not see that it is gone.
  const int lock = held->second.lock.get();
  const bool is_busy = lock >= 0 && io::try_lock(lock) == io::LockAttempt::busy;
  return is_busy ? Result<void>(fail(Errc::file_in_use, {})) : Result<void>();
}

HeldFiles::HeldFiles(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
HeldFiles::HeldFiles(HeldFiles&&) noexcept = default;
HeldFiles::~HeldFiles() = default;

Result<HeldFiles> HeldFiles::of(const std::string& path) {
  constexpr int tries = 10;  // each try finds another set there
  for (int i = 1;; ++i) {
    auto state = std::make_unique<State>();
    Result<void> held = state->hold_files_of(path);
    if (held) return HeldFiles(std::move(state));
    if (held.error().code != Errc::io_error || i == tries) return fail(std::move(held).error());
  }
}

std::vector<Error> HeldFiles::remove(const Model& model) {
  std::vector<Error> kept;
  const auto keep_failure = [&](const std::string& path, Result<void> result) {
    result = with_subject(path, std::move(result));
    if (!result) kept.push_back(std::move(result).error());
  };
  // The lock keeps other sets from getting these names meanwhile.
  const std::string folder = io::directory_of(model.files()[0].path);
  const Result<io::FileDescriptor> naming = io::lock_directory(folder, lock_wait());
  if (!naming) keep_failure(folder, fail(naming.error()));
  for (const ModelFile& file : model.files()) keep_failure(file.path, state_->check(file.path));
  const bool all_stay = !kept.empty();
  for (const ModelFile& file : model.files()) {
    if (all_stay) break;
    const HeldFile& held = state_->files.at(file.path);
    Result<void> removed = io::remove_exactly(file.path, held.stamp, held.lock.get());
    if (removed) io::drop_journal(file.path);
    keep_failure(file.path, std::move(removed));
  }
  io::flush_directory(folder);
  state_->files.clear();
  return kept;
}

}  // namespace ingot
