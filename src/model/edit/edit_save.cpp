// SPDX-License-Identifier: MIT
// Carrying out an edit. Whatever happens on the way, the file is the old or the new one.

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/about.hpp"
#include "io/atomic_file.hpp"
#include "io/in_place_file.hpp"
#include "io/restored_file.hpp"
#include "model/edit/edit_journal.hpp"
#include "model/edit/edit_state.hpp"

namespace ingot {
namespace {

using GoOn = std::function<bool(std::uint64_t)>;

/// The data of a model as a source, to take the hash of.
class ModelBytes final : public Source {
 public:
  explicit ModelBytes(const Model& model) : model_(model) {}
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override {
    return model_.files()[0].file_bytes;
  }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept override { return {}; }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    return model_.read_file_bytes(0, file_offset, destination);
  }

 private:
  const Model& model_;
};

/// Changes a file where it is, as drafted.
class InPlaceEdit {
 public:
  InPlaceEdit(io::InPlaceFile& file, const EditDraft& draft, std::string journal)
      : file_(file), draft_(draft), journal_(std::move(journal)) {}

  /// False, with nothing changed, if it has to be a copy after all: somebody else has the file
  /// open, or the file system cannot do it.
  Result<bool> run(const EditJournal& journal) {
    INGOT_TRY(const io::FileIdentity identity, file_.identity());
    INGOT_TRY_VOID(publish_journal(journal, journal_, identity.permissions));
    Result<bool> done = change();
    if (done && *done) {
      INGOT_TRY_VOID(remove_journal(journal_));
      return true;
    }
    if (!has_changed_) {
      INGOT_TRY_VOID(remove_journal(journal_));
      return done;
    }
    // If this fails too, the journal stays for the next edit, and readers read through it.
    static_cast<void>(undo_edit(file_, journal_));
    return done;
  }

 private:
  Result<bool> change() {
    // Who opens the file from now on sees the journal; who had opened it before is known here.
    if (file_.is_open_elsewhere()) return false;
    if (draft_.plan.way == EditWay::insert_range) {
      INGOT_TRY_VOID(file_.flush());
      INGOT_TRY(const bool is_inserted, file_.insert_at_front(draft_.inserted_bytes));
      if (!is_inserted) return false;
      has_changed_ = true;
      INGOT_TRY_VOID(file_.flush());
      INGOT_TRY_VOID(set_phase(journal_, JournalPhase::inserted));
      INGOT_TRY_VOID(file_.write(0, draft_.header));
    } else {
      has_changed_ = true;
      INGOT_TRY_VOID(file_.write(draft_.patch_offset,
                                 std::span(draft_.header)
                                     .subspan(static_cast<std::size_t>(draft_.patch_offset),
                                              static_cast<std::size_t>(draft_.patch_bytes))));
    }
    INGOT_TRY_VOID(file_.flush());
    return true;
  }

  io::InPlaceFile& file_;
  const EditDraft& draft_;
  std::string journal_;
  bool has_changed_ = false;
};

EditJournal make_journal(const EditDraft& draft, const ModelFile& old,
                         const io::FileIdentity& identity, std::uint64_t data_hash) {
  const auto begin = draft.old_header.begin() + static_cast<std::ptrdiff_t>(draft.patch_offset);
  return {.phase = JournalPhase::prepared,
          .inode = identity.inode,
          .file_bytes = old.file_bytes,
          .data_offset = old.data_offset,
          .data_hash = data_hash,
          .inserted_bytes = draft.inserted_bytes,
          .patch_offset = draft.patch_offset,
          .patch = {begin, begin + static_cast<std::ptrdiff_t>(draft.patch_bytes)}};
}

/// Writes the new file of a draft.
Result<void> write_copy(const ModelEdit::State& state, const EditDraft& draft,
                        const std::string& output, bool may_replace, const GoOn& go_on) {
  INGOT_TRY(io::AtomicFile file, about(output, io::AtomicFile::create(output, may_replace)));
  const bool is_shared = draft.plan.way == EditWay::shared_copy;
  INGOT_TRY_VOID(file.reserve(is_shared ? draft.plan.data_offset : draft.plan.file_bytes));
  INGOT_TRY_VOID(file.write(draft.header));
  INGOT_TRY_VOID(file.write_zeros(draft.plan.data_offset - file.size_bytes()));
  for (const Segment& segment : draft.segments) {
    INGOT_TRY_VOID(file.copy(*state.file().source, segment.file_offset, segment.size_bytes, go_on));
    INGOT_TRY_VOID(file.write_zeros(segment.padded_bytes - segment.size_bytes));
  }
  return file.commit();
}

class Save {
 public:
  Save(ModelEdit::State& state, const GoOn& go_on) : state_(state), go_on_(go_on) {}

  Result<EditOutcome> run() {
    if (state_.file().is_restored) {
      INGOT_TRY_VOID(undo_earlier());
    } else if (const std::string journal = journal_path(state_.path); has_journal(journal)) {
      // Not one that belongs to the file, as it was not opened through it.
      return fail(Errc::journal_invalid, journal);
    }
    INGOT_TRY(EditDraft draft, draft_edit(state_, {}));
    if (draft.plan.way == EditWay::in_place || draft.plan.way == EditWay::insert_range) {
      INGOT_TRY(const bool is_done, change_in_place(draft));
      if (is_done) return finish(draft);
      INGOT_TRY(draft, draft_edit(state_, {.output = {}, .may_change_in_place = false}));
    }
    if (draft.plan.way != EditWay::nothing) {
      INGOT_TRY_VOID(replace(draft));
    }
    return finish(draft);
  }

 private:
  EditOutcome finish(const EditDraft& draft) { return {draft.plan, has_undone_earlier_}; }

  /// The model holds a lock while it is read through a journal, and has the file open.
  Result<void> undo_earlier() {
    state_.model.reset();
    {
      INGOT_TRY(io::InPlaceFile file, io::InPlaceFile::open(state_.path));
      INGOT_TRY(has_undone_earlier_, undo_edit(file, journal_path(state_.path)));
    }
    return reopen();
  }

  Result<void> reopen() {
    INGOT_TRY(Model model, Model::open(state_.path, state_.options));
    state_.model.emplace(std::move(model));
    const ModelFile& file = state_.model->files()[0];
    // Positions in the tables stand for what was there when the edit began.
    if (file.metadata.size() < original_keys() || file.tensors.size() != state_.tensors.size()) {
      return fail(Errc::file_changed, {});
    }
    for (const KeyEdit& key : state_.keys) {
      if (key.original != no_position && !key.is_renamed &&
          file.metadata[key.original].key != key.name) {
        return fail(Errc::file_changed, {});
      }
    }
    return {};
  }

  [[nodiscard]] std::size_t original_keys() const {
    std::size_t count = 0;
    for (const KeyEdit& key : state_.keys) count += key.original != no_position ? 1 : 0;
    return count;
  }

  /// Whether the file is still what the draft was made from.
  [[nodiscard]] Result<void> check_unchanged(const io::InPlaceFile& file, const EditDraft& draft,
                                             std::uint64_t file_bytes) const {
    INGOT_TRY(const io::FileIdentity identity, file.identity());
    std::vector<std::byte> header(draft.old_header.size());
    if (identity.size_bytes != file_bytes) return fail(Errc::file_changed, {});
    INGOT_TRY_VOID(file.read(0, header));
    if (header != draft.old_header) return fail(Errc::file_changed, {});
    return {};
  }

  Result<bool> change_in_place(const EditDraft& draft) {
    if (go_on_ && !go_on_(0)) return fail(Errc::interrupted, {});
    const std::string journal = journal_path(state_.path);
    const ModelFile old = state_.model->files()[0];
    INGOT_TRY(const std::uint64_t data_hash, hash_data(ModelBytes(*state_.model), old.data_offset));
    state_.model.reset();  // as far as the system knows, the file is open elsewhere otherwise
    {
      INGOT_TRY(io::InPlaceFile file, io::InPlaceFile::open(state_.path));
      if (has_journal(journal)) return fail(Errc::file_changed, {});
      INGOT_TRY_VOID(check_unchanged(file, draft, old.file_bytes));
      INGOT_TRY(const io::FileIdentity identity, file.identity());
      INGOT_TRY(
          const bool is_done,
          InPlaceEdit(file, draft, journal).run(make_journal(draft, old, identity, data_hash)));
      if (is_done) return true;
    }
    INGOT_TRY_VOID(reopen());
    return false;
  }

  /// Puts a new file in the place of the old one, which no other edit may change meanwhile.
  Result<void> replace(const EditDraft& draft) {
    const int descriptor = state_.file().source->descriptor();
    if (descriptor >= 0) INGOT_TRY_VOID(io::lock(descriptor, true));
    return write_copy(state_, draft, state_.path, true, go_on_);
  }

  ModelEdit::State& state_;
  const GoOn& go_on_;
  bool has_undone_earlier_ = false;
};

}  // namespace

Result<EditOutcome> ModelEdit::save(const GoOn& go_on) {
  const std::unique_ptr<State> state = std::move(state_);
  return Save(*state, go_on).run();
}

Result<EditOutcome> ModelEdit::save_as(const std::string& output, bool may_replace,
                                       const GoOn& go_on) {
  const std::unique_ptr<State> state = std::move(state_);
  const auto from = io::identify(state->path);
  const auto to = io::identify(output);
  if (from && to && from->device == to->device && from->inode == to->inode) {
    return fail(Errc::same_file, output);
  }
  INGOT_TRY(const EditDraft draft,
            draft_edit(*state, {.output = output, .may_change_in_place = false}));
  INGOT_TRY_VOID(write_copy(*state, draft, output, may_replace, go_on));
  return EditOutcome{draft.plan, false};
}

}  // namespace ingot
