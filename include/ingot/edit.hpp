// SPDX-License-Identifier: MIT
// Edit the keys and the tensor names of a model file without writing its data again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/lock_wait.hpp"
#include "ingot/metadata.hpp"
#include "ingot/model.hpp"
#include "ingot/owned_value.hpp"

namespace ingot {

/// The key whose value, a string of blanks, keeps room before the data, so that a later header may
/// be longer and stay in its place. Every reader takes it for a key that it does not know. It is
/// the last key; editing makes it longer, shorter, or takes it away.
inline constexpr std::string_view padding_key = "ingot.padding";

/// How an edit reaches the disk. docs/edit.md explains each.
enum class EditWay : std::uint8_t {
  nothing,       ///< The file is already as it should be.
  in_place,      ///< The new header fits where the old one is; only what differs is written.
  insert_range,  ///< The file system makes room before the data; the header is written there.
  shared_copy,   ///< A new file that shares the blocks of the data with the old one.
  copy,          ///< A new file with a copy of the data.
};

/// "nothing", "in_place", "insert_range", "shared_copy", "copy"
[[nodiscard]] INGOT_EXPORT std::string_view name_of(EditWay way) noexcept;

/// What an edit does, or did.
struct EditPlan {
  EditWay way = EditWay::nothing;
  std::uint64_t bytes_to_write = 0;  ///< To the disk, journal included; data that is shared is not.
  std::uint64_t file_bytes = 0;      ///< The size of the file afterwards.
  std::uint64_t data_offset = 0;     ///< Where its data section begins.
  std::uint64_t slack_bytes = 0;     ///< How much longer a later header may be and still fit.
};

struct EditOutcome {
  EditPlan done;
  bool has_undone_earlier = false;  ///< An earlier edit had been cut off, and was undone first.
};

/// From when on other edits of the file are kept away; until it is saved, or the edit destroyed.
enum class EditLock : std::uint8_t {
  at_save,  ///< `save` locks it, and fails with Errc::file_changed if it is not what was opened.
  at_open,  ///< `open` locks it before it reads: for edits that depend on what is in the file.
};

struct EditOptions {
  EditLock lock = EditLock::at_save;
  /// For an edit by another process, or by another object of this one; default: lock_wait().
  std::optional<LockWait> wait = {};
};

/// Changes to one file. Nothing happens to it before `save` or `save_as`; what is not changed keeps
/// its bytes and its order. New keys come last, in the order in which they are set. Not
/// thread-safe.
///
/// A file of a set of shards is edited by itself.
class INGOT_EXPORT ModelEdit {
 public:
  /// Opens the file, without other shards. What an edit that was cut off has left is seen as it was
  /// before. Fails like Model::open, and with Errc::file_in_use if it is to be locked and another
  /// edit of it does not end soon.
  [[nodiscard]] static Result<ModelEdit> open(const std::string& path,
                                              const OpenOptions& options = {},
                                              const EditOptions& edit_options = {});

  ModelEdit(ModelEdit&&) noexcept;
  ModelEdit& operator=(ModelEdit&&) noexcept;
  ~ModelEdit();

  /// The file as it is; valid until it is saved.
  [[nodiscard]] const Model& model() const noexcept;

  /// Sets a key, or adds it. The value is copied.
  void set(std::string_view key, const Value& value);
  void set(std::string_view key, const OwnedValue& value) { set(key, value.value()); }
  /// The value that a key will have; nothing if there will be no such key.
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;

  /// Errc::key_not_found; Errc::name_taken.
  Result<void> remove_key(std::string_view key);
  Result<void> rename_key(std::string_view key, std::string_view new_key);
  /// Errc::tensor_not_found; Errc::name_taken. A tensor that is removed takes its data with it, and
  /// those behind it move up, in a new file.
  Result<void> remove_tensor(std::string_view name);
  Result<void> rename_tensor(std::string_view name, std::string_view new_name);

  /// Keeps at least this much slack before the data; 0: none at all. Without this, slack that is
  /// there stays, and is used.
  void reserve(std::uint64_t slack_bytes);

  /// What `save` would do, or, with a path, `save_as`. The new header has passed the reader, so it
  /// fails with what a reader would say: Errc::key_invalid, Errc::tensor_name_too_long, ...; or
  /// Errc::version_cannot_hold. Writes nothing.
  [[nodiscard]] Result<EditPlan> plan(const std::string& output = {}) const;

  /// Changes the file itself. Killed at any point, or out of disk space, it leaves the file as it
  /// was or as it should be, for whoever opens it with Ingot; what was cut off is undone by the
  /// next `save`. A file that other programs have open, or that has other names (hard links), is
  /// replaced by a new one, so that these keep the old one; it has the owner, the group and the
  /// permissions of the old one, where the system permits that. A new file has 4 KiB of slack,
  /// unless `reserve` asked for another amount.
  ///
  /// The file is locked until the edit is durable, so of several edits at once none is lost: each
  /// is made to what the one before has left, or fails.
  ///
  /// @param go_on  if set, is told the bytes that were written and returns whether to go on, else
  ///               Errc::interrupted and nothing happened.
  /// @return  Errc::file_in_use if another edit of the file does not end soon; Errc::file_changed,
  ///          with nothing done, if the path does not lead to what was read any more: open again;
  ///          Errc::journal_invalid; Errc::io_error. The last call: this is empty afterwards.
  [[nodiscard]] Result<EditOutcome> save(const std::function<bool(std::uint64_t)>& go_on = {});

  /// Writes a new file and leaves the old one alone. Errc::same_file if they are one, by whatever
  /// name; Errc::already_exists unless `may_replace`. Also the last call.
  [[nodiscard]] Result<EditOutcome> save_as(const std::string& output, bool may_replace = false,
                                            const std::function<bool(std::uint64_t)>& go_on = {});

  struct State;

 private:
  explicit ModelEdit(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace ingot
