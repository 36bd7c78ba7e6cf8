// SPDX-License-Identifier: MIT
// Carrying out an edit. Whatever happens on the way, the file is the old or the new one.

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "base/messages.hpp"
#include "io/atomic_file.hpp"
#include "io/edit_journal.hpp"
#include "io/file_lock.hpp"
#include "io/in_place_file.hpp"
#include "model/edit/edit_state.hpp"

namespace ingot {
namespace {

using GoOn = std::function<bool(std::uint64_t)>;

/// Changes a file where it is, as drafted.
class InPlaceEdit {
 public:
  InPlaceEdit(io::InPlaceFile& file, const EditDraft& draft, std::string journal)
      : file_(file), draft_(draft), journal_(std::move(journal)) {}

  /// Edits in place. Returns false and changes nothing if a copy is needed after all, because
  /// another program has the file open or the file system lacks support.
  Result<bool> run(const io::EditJournal& journal) {
    INGOT_TRY(const io::FileIdentity identity, file_.identity());
    INGOT_TRY_VOID(io::publish_journal(journal, journal_, identity));
    Result<bool> done = change();
    if ((done && *done) || !has_changed_) {
      INGOT_TRY_VOID(io::remove_journal(journal_));
      return done;
    }
    if (mark_as_torn() && io::undo_edit(file_, journal_)) return done;
    return fail_half_done(std::move(done).error());
  }

 private:
  Result<bool> change() {
    // Every later open sees the journal; earlier opens are checked here.
    if (file_.is_open_elsewhere()) return false;
    if (draft_.plan.way == EditWay::insert_range) {
      INGOT_TRY_VOID(file_.flush());
      INGOT_TRY(const bool is_inserted, file_.insert_at_front(draft_.inserted_bytes));
      if (!is_inserted) return false;
      has_changed_ = true;
      INGOT_TRY_VOID(file_.flush());
      INGOT_TRY_VOID(io::set_phase(journal_, io::JournalPhase::inserted));
      INGOT_TRY_VOID(write_header(0, draft_.header.size()));
    } else {
      INGOT_TRY_VOID(mark_as_torn());
      has_changed_ = true;
      INGOT_TRY_VOID(file_.flush());
      INGOT_TRY_VOID(write_header(draft_.patch_offset, draft_.patch_bytes));
    }
    return true;
  }

  /// Marks the file as torn, unless it is marked, as a full disk would refuse the write. With the
  /// mark, a file whose last flush failed does not look complete.
  Result<void> mark_as_torn() {
    std::byte first{};
    INGOT_TRY_VOID(file_.read(0, std::span(&first, 1)));
    if (first == io::torn_mark) return {};
    return file_.write(0, std::span(&io::torn_mark, 1));
  }

  /// The first byte last: until it is there, no program takes the file for a model.
  Result<void> write_header(std::uint64_t offset, std::uint64_t bytes) {
    const std::span<const std::byte> header(draft_.header);
    const std::size_t skipped = offset == 0 ? 1 : 0;
    INGOT_TRY_VOID(file_.write(offset + skipped,
                               header.subspan(to_size(offset), to_size(bytes)).subspan(skipped)));
    INGOT_TRY_VOID(file_.flush());
    INGOT_TRY_VOID(file_.write(0, header.first(1)));
    return file_.flush();
  }

  /// The journal stays for the next edit, and readers read through it.
  [[nodiscard]] Failure fail_half_done(Error error) const {
    error.detail +=
        "; the edit is half done, and what was there before cannot be put back either: keep "
        "the journal " +
        journal_ +
        ", through which Ingot reads the file as it was before; make room, or raise the limit, and "
        "edit the file in place again, which first undoes this";
    return Failure(std::move(error));
  }

  io::InPlaceFile& file_;
  const EditDraft& draft_;
  std::string journal_;
  bool has_changed_ = false;
};

/// The file with the header that the edit gives it.
class EditedFile final : public Source {
 public:
  EditedFile(const Source& old, const EditDraft& draft) : old_(old), draft_(draft) {}
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override {
    return old_.size_bytes() + draft_.inserted_bytes;
  }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    const std::uint64_t edited_bytes = draft_.header.size();
    if (file_offset < edited_bytes) {
      const auto edited = std::span(draft_.header).subspan(to_size(file_offset));
      const std::size_t size = std::min(edited.size(), destination.size());
      std::ranges::copy(edited.first(size), destination.begin());
      destination = destination.subspan(size);
      file_offset += size;
    }
    if (destination.empty()) return {};
    return old_.read(file_offset - draft_.inserted_bytes, destination);
  }

 private:
  const Source& old_;
  const EditDraft& draft_;
};

Result<io::EditJournal> make_journal(const EditDraft& draft, const ModelFile& old,
                                     const Source& source, const io::FileIdentity& identity) {
  const auto begin = draft.old_header.begin() + static_cast<std::ptrdiff_t>(draft.patch_offset);
  io::EditJournal journal{.inode = identity.inode,
                          .file_bytes = old.file_bytes,
                          .data_offset = old.data_offset,
                          .inserted_bytes = draft.inserted_bytes,
                          .patch_offset = draft.patch_offset,
                          .first_byte = draft.old_header[0],
                          .patch = {begin, begin + static_cast<std::ptrdiff_t>(draft.patch_bytes)}};
  INGOT_TRY(journal.data_hash, io::hash_data(source, old.data_offset));
  INGOT_TRY(journal.hash_before, io::hash_header(source, old.data_offset));
  INGOT_TRY(journal.hash_after,
            io::hash_header(EditedFile(source, draft), old.data_offset + draft.inserted_bytes));
  return journal;
}

/// Writes the new file of a draft, and does not name it yet.
Result<void> write_copy(const ModelEdit::State& state, const EditDraft& draft, io::AtomicFile& file,
                        const GoOn& go_on) {
  const bool is_shared = draft.plan.way == EditWay::shared_copy;
  INGOT_TRY_VOID(file.reserve(is_shared ? draft.plan.data_offset : draft.plan.file_bytes));
  INGOT_TRY_VOID(file.write(draft.header));
  INGOT_TRY_VOID(file.write_zeros(draft.plan.data_offset - file.size_bytes()));
  for (const Segment& segment : draft.segments) {
    INGOT_TRY_VOID(file.copy(*state.file().source, segment.file_offset, segment.size_bytes, go_on));
    INGOT_TRY_VOID(file.write_zeros(segment.padded_bytes - segment.size_bytes));
  }
  return file.sync();
}

class Save {
 public:
  Save(ModelEdit::State& state, const GoOn& go_on) : state_(state), go_on_(go_on) {}

  Result<EditOutcome> run() {
    if (!state_.locked) INGOT_TRY_VOID(lock_now());
    if (io::has_journal(io::journal_path(state_.path))) INGOT_TRY_VOID(undo_earlier());
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

  /// Locks the file and reads it again; it must be the file for which the edit was made.
  Result<void> lock_now() {
    std::vector<std::byte> header(to_size(state_.model->files()[0].header_bytes));
    INGOT_TRY_VOID(state_.model->read_file_bytes(0, 0, header));
    const std::uint64_t file_bytes = state_.model->files()[0].file_bytes;
    state_.model.reset();  // it holds a lock while it is read through a journal
    INGOT_TRY_VOID(state_.lock());
    INGOT_TRY_VOID(reopen());
    const ModelFile& now = state_.model->files()[0];
    std::vector<std::byte> header_now(header.size());
    if (now.file_bytes != file_bytes || now.header_bytes != header.size()) {
      return fail(Errc::file_changed, {});
    }
    INGOT_TRY_VOID(state_.model->read_file_bytes(0, 0, header_now));
    if (header != header_now) return fail(Errc::file_changed, {});
    return {};
  }

  Result<void> undo_earlier() {
    state_.model.reset();
    INGOT_TRY_VOID(state_.locked->check_writable());
    INGOT_TRY(has_undone_earlier_, io::undo_edit(*state_.locked, io::journal_path(state_.path)));
    return reopen();
  }

  Result<void> reopen() {
    INGOT_TRY_VOID(state_.open_model());
    const ModelFile& file = state_.model->files()[0];
    // Positions in the tables refer to the state when the edit began.
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

  /// Checks that the file is still the one from which the draft was made.
  [[nodiscard]] Result<void> check_unchanged(const io::InPlaceFile& file, const EditDraft& draft,
                                             std::uint64_t file_bytes) const {
    INGOT_TRY(const io::FileIdentity identity, file.identity());
    std::vector<std::byte> header(draft.old_header.size());
    if (identity.size_bytes != file_bytes || !io::is_named(file.descriptor(), state_.path)) {
      return fail(Errc::file_changed, {});
    }
    INGOT_TRY_VOID(file.read(0, header));
    if (header != draft.old_header) return fail(Errc::file_changed, {});
    return {};
  }

  Result<bool> change_in_place(const EditDraft& draft) {
    if (go_on_ && !go_on_(0)) return fail(Errc::interrupted, {});
    const std::string journal_at = io::journal_path(state_.path);
    const ModelFile old = state_.model->files()[0];
    io::InPlaceFile& file = *state_.locked;
    INGOT_TRY(const io::FileIdentity identity, file.identity());
    INGOT_TRY(const io::EditJournal journal,
              make_journal(draft, old, *state_.file().source, identity));
    state_.model.reset();  // otherwise the system would report the file as open elsewhere
    INGOT_TRY_VOID(file.check_writable());
    if (io::has_journal(journal_at)) return fail(Errc::file_changed, {});
    INGOT_TRY_VOID(check_unchanged(file, draft, old.file_bytes));
    INGOT_TRY(const bool is_done, InPlaceEdit(file, draft, journal_at).run(journal));
    if (!is_done) INGOT_TRY_VOID(reopen());
    return is_done;
  }

  /// Puts a new file in the place of the old one, if that still has the name.
  Result<void> replace(const EditDraft& draft) {
    INGOT_TRY(io::AtomicFile file,
              io::AtomicFile::create(state_.path, true, io::ReplacedLock::is_held));
    INGOT_TRY(const io::FileIdentity identity, state_.locked->identity());
    file.take_access_of(identity);
    INGOT_TRY_VOID(write_copy(state_, draft, file, go_on_));
    // Prevents that a set of files gets its names between the check of the name and its change.
    INGOT_TRY(const io::FileDescriptor naming,
              io::lock_directory(io::directory_of(state_.path), state_.wait));
    if (!io::is_named(state_.locked->descriptor(), state_.path)) {
      return fail(Errc::file_changed, {});
    }
    // Some systems replace no file that is open or mapped.
    state_.model.reset();
    file.take_older(state_.locked->release());
    return file.commit();
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
  INGOT_TRY(io::AtomicFile file, with_subject(output, io::AtomicFile::create(output, may_replace)));
  INGOT_TRY_VOID(write_copy(*state, draft, file, go_on));
  INGOT_TRY_VOID(with_subject(output, file.commit()));
  return EditOutcome{draft.plan, false};
}

}  // namespace ingot
