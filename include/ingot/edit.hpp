// SPDX-License-Identifier: MIT
// Edit the keys and the tensor names of a model file without writing its data again.
//
// ```cpp
// auto edit = ingot::ModelEdit::open("edited.gguf");
// if (!edit) throw std::runtime_error(edit.error().message());
// edit->set("general.name", "My model");
// const auto renamed = edit->rename_tensor("output.weight", "head.weight");
// if (!renamed) throw std::runtime_error(renamed.error().message());
// const auto outcome = edit->save();
// if (outcome) std::printf("%s\n", std::string(name_of(outcome->done.way)).c_str());
// ```
//
// Usually only the header is written. The file survives a kill or a full disk at any moment: it is
// then as it was before, for every program that opens it with Ingot. Other readers see the file in
// between while a save is under way; if some may read at that time, use `save_as`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/lock_wait.hpp"
#include "ingot/metadata.hpp"
#include "ingot/model.hpp"
#include "ingot/owned_value.hpp"

namespace ingot {

/// The padding key: its value, a string of blanks, reserves room before the data, so that a later
/// header may be longer and stay in its place. Other readers ignore it as an unknown key. It is the
/// last key; an edit makes it longer, shorter, or removes it.
inline constexpr std::string_view padding_key = "ingot.padding";

/// The way in which an edit reaches the disk. docs/edit.md explains each.
enum class EditWay : std::uint8_t {
  nothing,       ///< The file is already as it should be.
  in_place,      ///< The new header fits in place of the old one; only bytes that differ are
                 ///< written.
  insert_range,  ///< The file system makes room before the data; the header is written there.
  shared_copy,   ///< A new file that shares the blocks of the data with the old one.
  copy,          ///< A new file with a copy of the data.
};

/// "nothing", "in_place", "insert_range", "shared_copy", "copy"
[[nodiscard]] INGOT_EXPORT std::string_view name_of(EditWay way) noexcept;

/// The effect of an edit, before or after it is made.
struct EditPlan {
  EditWay way = EditWay::nothing;
  std::uint64_t bytes_to_write = 0;  ///< Bytes that go to the disk: journal included, shared data
                                     ///< not.
  std::uint64_t file_bytes = 0;      ///< The size of the file afterwards.
  std::uint64_t data_offset = 0;     ///< The offset of its data section.
  std::uint64_t slack_bytes = 0;     ///< The number of bytes by which a later header may grow and
                                     ///< still fit.
  std::uint64_t padding_bytes = 0;   ///< The part of the slack in the padding key; 0 if there is no
                                     ///< such key.
};

template <class Visitor>
void describe(Visitor& visit, const EditPlan& plan) {
  visit("way", plan.way, "",
        "nothing, in_place, insert_range, shared_copy or copy, as edit.md explains");
  visit("bytes_to_write", plan.bytes_to_write, "bytes",
        "that go to the disk; data that is shared does not");
  visit("file_bytes", plan.file_bytes, "bytes", "of the file afterwards");
  visit("data_offset", plan.data_offset, "bytes", "before the data of the file afterwards");
  visit("slack_bytes", plan.slack_bytes, "bytes",
        "that a later header may be longer by and still fit in place");
  visit("padding_bytes", plan.padding_bytes, "bytes",
        "of these, in the key `ingot.padding`; 0 if there is none");
}

struct EditOutcome {
  EditPlan done;
  bool has_undone_earlier = false;  ///< An earlier edit had been cut off, and was undone first.
};

template <class Visitor>
void describe(Visitor& visit, const EditOutcome& outcome) {
  describe(visit, outcome.done);
  visit("undone_earlier", outcome.has_undone_earlier, "",
        "whether an earlier edit had been cut off, and was undone first");
}

/// The time at which the file is locked against other edits. The lock ends when the file is saved
/// or the edit destroyed.
enum class EditLock : std::uint8_t {
  at_save,  ///< `save` locks it, and fails with Errc::file_changed if it is not the file that was
            ///< opened.
  at_open,  ///< `open` locks it before it reads: for edits that depend on the file's content.
};

struct EditOptions {
  EditLock lock = EditLock::at_save;
  /// The longest wait for an edit by another process or another object; default: lock_wait().
  std::optional<LockWait> wait = {};
};

/// Changes to one file. The file stays as it is until `save` or `save_as`; keys and tensors that
/// are not changed keep their bytes and their order. New keys come last, in the order in which they
/// are set. Not thread-safe.
///
/// A file of a set of shards is edited by itself.
class INGOT_EXPORT ModelEdit {
 public:
  /// Opens the file, without other shards. A file whose last edit was cut off is seen as it was
  /// before that edit. Fails like Model::open, and with Errc::file_in_use if it is to be locked and
  /// another edit of it does not end soon.
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
  /// Sets an integer or a float; the C++ type decides the stored type.
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) void set(std::string_view key,
                                                                       T value) {
    set(key, OwnedValue::number(value));
  }
  void set(std::string_view key, std::same_as<bool> auto value) {
    set(key, OwnedValue::boolean(value));
  }
  void set(std::string_view key, std::string_view value) { set(key, OwnedValue::string(value)); }
  /// The value that a key will have; nothing if there will be no such key.
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;

  /// Fails with Errc::key_not_found or Errc::name_taken.
  Result<void> remove_key(std::string_view key);
  Result<void> rename_key(std::string_view key, std::string_view new_key);
  /// Fails with Errc::tensor_not_found or Errc::name_taken. Removing a tensor removes its data, and
  /// later tensors move up, in a new file.
  Result<void> remove_tensor(std::string_view name);
  Result<void> rename_tensor(std::string_view name, std::string_view new_name);

  /// Gives the file a layout index (layout_index.hpp). One that is there is kept true anyway, and
  /// goes by `remove_key`.
  void add_index();

  /// Keeps at least this much slack before the data; 0: none at all. Without this, slack that is
  /// there stays, and is used.
  void reserve(std::uint64_t slack_bytes);

  /// The effect of `save` or, with a path, of `save_as`. The new header is parsed as a reader
  /// would: Errc::key_invalid, Errc::tensor_name_too_long, ...; or Errc::version_cannot_hold.
  /// Writes nothing.
  [[nodiscard]] Result<EditPlan> plan(const std::string& output = {}) const;

  /// Changes the file itself. After a kill at any point, or on a full disk, the file is as it was
  /// or as it should be for every program that opens it with Ingot; the next `save` undoes an edit
  /// that was cut off. A file that other programs have open, or that has other names (hard links),
  /// is replaced by a new one, and those programs and names keep the old one. The new file has the
  /// owner, the group and the permissions of the old one, if the system permits that, and 4 KiB of
  /// slack, unless `reserve` asked for another amount.
  ///
  /// The file is locked until the edit is durable, so that several edits at once do not lose
  /// any: each edit applies to the result of the one before, or fails.
  ///
  /// @param go_on  if set, receives the bytes that were written and returns whether to go on, else
  ///               Errc::interrupted and the file is unchanged.
  /// @return  Errc::file_in_use if another edit of the file does not end soon; Errc::file_changed,
  ///          with nothing done, if the path no longer leads to the file that was read: open again;
  ///          Errc::journal_invalid; Errc::io_error. This must be the last call: it leaves the
  ///          object empty.
  [[nodiscard]] Result<EditOutcome> save(const std::function<bool(std::uint64_t)>& go_on = {});

  /// Writes a new file and leaves the old one alone. Errc::same_file if both are one file under any
  /// names; Errc::already_exists unless `may_replace`. This must be the last call, too.
  [[nodiscard]] Result<EditOutcome> save_as(const std::string& output, bool may_replace = false,
                                            const std::function<bool(std::uint64_t)>& go_on = {});

  struct State;

 private:
  explicit ModelEdit(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace ingot
