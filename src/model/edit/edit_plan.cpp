// SPDX-License-Identifier: MIT
// Chooses the way of an edit, and plans the bytes that it writes.

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "format/parse.hpp"
#include "io/in_place_file.hpp"
#include "io/journal.hpp"
#include "model/edit/edit_state.hpp"

namespace ingot {
namespace {

/// The most bytes that are inserted, as they must be filled with spaces.
constexpr std::uint64_t max_inserted_bytes = std::uint64_t{64} << 20;

/// Room for later headers where the data has to move anyway, which costs so much more.
constexpr std::uint64_t usual_slack_bytes = 4096;

class EditPlanner {
 public:
  EditPlanner(const ModelEdit::State& state, const EditTarget& target)
      : state_(state), target_(target), old_(state.model->files()[0]) {}

  Result<EditDraft> run() {
    INGOT_TRY(const NewOffsets offsets, lay_out());
    INGOT_TRY_VOID(read_old_header(old_.header_bytes));
    INGOT_TRY(draft_, draft_header(state_, edit_.old_header, offsets));
    for (const KeyValue& entry : old_.metadata) {
      if (entry.key == padding_key && entry.value.type() == ValueType::string) {
        old_padding_bytes_ = draft_.padding_overhead() + entry.value.bytes().size();
      }
    }
    if (const std::optional<io::FileIdentity> identity = io::identify(state_.path)) {
      identity_ = *identity;
    }
    INGOT_TRY(const bool is_in_place, stays_where_it_is() ? try_in_place() : Result<bool>(false));
    INGOT_TRY(const bool is_inserted,
              !is_in_place && stays_where_it_is() ? try_insertion() : Result<bool>(false));
    if (!is_in_place && !is_inserted) INGOT_TRY_VOID(plan_copy());
    INGOT_TRY_VOID(check_header());
    return std::move(edit_);
  }

 private:
  struct Place {
    std::uint64_t data_offset = 0;
    std::uint64_t padding_bytes = 0;
  };

  [[nodiscard]] std::uint64_t wanted_slack() const { return state_.wanted_slack_bytes.value_or(0); }
  [[nodiscard]] bool wants_no_slack() const { return state_.wanted_slack_bytes == 0u; }
  /// The offset of the data is a multiple of this: without tensors there is no padding.
  [[nodiscard]] std::uint64_t step_bytes() const {
    return draft_.tensor_count == 0 ? 1 : draft_.alignment;
  }
  [[nodiscard]] std::uint64_t old_data_begin() const {
    return old_.tensors.empty() ? old_.header_bytes : old_.data_offset;
  }

  /// New places for the data, if tensors go or the alignment changes: in the order of the table,
  /// each at the next multiple of the alignment.
  Result<NewOffsets> lay_out() {
    NewOffsets offsets;
    const std::uint64_t alignment = new_alignment(state_);
    has_new_layout_ = state_.removes_tensors() || alignment != old_.alignment;
    if (!has_new_layout_) {
      const std::uint64_t begin = std::min(old_data_begin(), old_.file_bytes);
      const std::uint64_t data_bytes = old_.file_bytes - begin;
      if (data_bytes != 0) edit_.segments.push_back({begin, data_bytes, data_bytes});
      return offsets;
    }
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < old_.tensors.size(); ++i) {
      const TensorInfo& tensor = old_.tensors[i];
      offsets.push_back(next);
      if (state_.tensors[i].is_removed) continue;
      const auto padded = checked_align_up(tensor.size_bytes, alignment);
      const auto end = padded ? checked_add(next, *padded) : std::nullopt;
      if (!end) return fail(Errc::size_overflow, std::string(tensor.name));
      edit_.segments.push_back({state_.model->file_offset(tensor), tensor.size_bytes, *padded});
      next = *end;
    }
    return offsets;
  }

  Result<void> read_old_header(std::uint64_t size_bytes) {
    edit_.old_header.resize(to_size(size_bytes));
    return state_.model->read_file_bytes(0, 0, edit_.old_header);
  }

  /// The least slack where the data moves. A new file beside the old one is not edited next.
  [[nodiscard]] std::uint64_t moved_slack() const {
    const bool is_edited_again = target_.output.empty() && draft_.tensor_count != 0;
    return state_.wanted_slack_bytes.value_or(is_edited_again ? usual_slack_bytes : 0);
  }

  /// The way in which the header can end at this data offset: with zeros alone, or with the padding
  /// key.
  [[nodiscard]] std::optional<Place> fit(std::uint64_t data_offset,
                                         std::uint64_t slack_bytes) const {
    if (data_offset < draft_.size_bytes()) return std::nullopt;
    const std::uint64_t room = data_offset - draft_.size_bytes();
    if (room < slack_bytes) return std::nullopt;
    if (room < step_bytes()) return Place{data_offset, 0};
    if (wants_no_slack() || room < draft_.padding_overhead() ||
        room - draft_.padding_overhead() > state_.options.limits.max_string_bytes) {
      return std::nullopt;
    }
    return Place{data_offset, room};
  }

  /// The first fitting place among first, first + step, ...; with less slack if that has no place.
  [[nodiscard]] std::optional<Place> place_from(std::uint64_t first, std::uint64_t step) const {
    std::optional<Place> place = place_from(first, step, moved_slack());
    if (!place) place = place_from(first, step, wanted_slack());
    return place;
  }

  [[nodiscard]] std::optional<Place> place_from(std::uint64_t first, std::uint64_t step,
                                                std::uint64_t slack_bytes) const {
    const auto least = checked_add(draft_.size_bytes(), slack_bytes);
    if (!least) return std::nullopt;
    if (*least > first) {
      const auto distance = checked_align_up(*least - first, step);
      const auto moved = distance ? checked_add(first, *distance) : std::nullopt;
      if (!moved) return std::nullopt;
      first = *moved;
    }
    // The padding key takes some bytes itself: a few steps of small alignments.
    for (std::uint64_t i = 0; i <= draft_.padding_overhead(); ++i) {
      if (const auto place = fit(first, slack_bytes)) return place;
      const auto next = checked_add(first, step);
      if (!next) break;
      first = *next;
    }
    return std::nullopt;
  }

  /// Whether the file itself may be changed: it has data, which stays, and only one name, beside
  /// which that of the journal is possible.
  [[nodiscard]] bool stays_where_it_is() const {
    constexpr std::size_t max_name_bytes = 255;
    const std::string journal = io::journal_path(state_.path);
    const std::size_t slash = journal.rfind('/');
    const std::size_t name_begin = slash == std::string::npos ? 0 : slash + 1;
    return journal.size() - name_begin <= max_name_bytes && target_.may_change_in_place &&
           !has_new_layout_ && !old_.tensors.empty() && old_.file_bytes > old_.data_offset &&
           identity_.link_count == 1;
  }

  Result<bool> try_in_place() {
    const std::optional<Place> place = fit(old_.data_offset, wanted_slack());
    if (!place) return false;
    edit_.header = draft_.assemble(place->padding_bytes);
    // Nothing of the old header stays behind the new one.
    edit_.header.resize(std::max<std::size_t>(edit_.header.size(), edit_.old_header.size()));
    INGOT_TRY_VOID(read_old_header(edit_.header.size()));
    const auto [first, old_first] =
        std::mismatch(edit_.header.begin(), edit_.header.end(), edit_.old_header.begin());
    edit_.patch_offset = static_cast<std::uint64_t>(first - edit_.header.begin());
    const auto [last, old_last] =
        std::mismatch(edit_.header.rbegin(), edit_.header.rend(), edit_.old_header.rbegin());
    const auto end = edit_.header.size() - static_cast<std::size_t>(last - edit_.header.rbegin());
    if (edit_.patch_offset == edit_.header.size()) {
      finish(EditWay::nothing, *place, old_.file_bytes, 0);
      return true;
    }
    edit_.patch_bytes = end - edit_.patch_offset;
    const std::uint64_t journal_bytes = io::encode({}).size() + edit_.patch_bytes;
    finish(EditWay::in_place, *place, old_.file_bytes, journal_bytes + edit_.patch_bytes);
    return true;
  }

  Result<bool> try_insertion() {
    const std::uint64_t block_bytes = std::max<std::uint64_t>(identity_.block_bytes, 1);
    const std::uint64_t alignment = draft_.alignment;
    const auto step = checked_mul(alignment / std::gcd(alignment, block_bytes), block_bytes);
    if (!step || *step > max_inserted_bytes || wants_no_slack()) return false;
    const auto first = checked_add(old_.data_offset, *step);
    const std::optional<Place> place = first ? place_from(*first, *step) : std::nullopt;
    if (!place || place->data_offset - old_.data_offset > max_inserted_bytes) return false;
    edit_.inserted_bytes = place->data_offset - old_.data_offset;
    const auto file_bytes = checked_add(old_.file_bytes, edit_.inserted_bytes);
    std::vector<std::byte> header = draft_.assemble(place->padding_bytes);
    const std::size_t overwritten =
        std::max<std::size_t>(header.size(), to_size(edit_.inserted_bytes + old_.header_bytes));
    const std::uint64_t patch_bytes = overwritten - edit_.inserted_bytes;
    const std::uint64_t bytes_to_write = io::encode({}).size() + patch_bytes + overwritten;
    const LoadedFile& file = state_.file();
    const int descriptor = file.source->descriptor();
    // A copy is better if it is no more work, or if the file has holes, which would hide the
    // inserted range.
    if (!file_bytes || bytes_to_write >= old_.file_bytes ||
        (!file.is_restored && io::find_hole(descriptor, 0) < old_.file_bytes) ||
        !io::can_insert_range(io::directory_of(state_.path), block_bytes)) {
      edit_.inserted_bytes = 0;
      return false;
    }
    header.resize(overwritten);
    edit_.header = std::move(header);
    edit_.patch_offset = 0;
    edit_.patch_bytes = patch_bytes;
    INGOT_TRY_VOID(read_old_header(patch_bytes));
    finish(EditWay::insert_range, *place, *file_bytes, bytes_to_write);
    return true;
  }

  Result<void> plan_copy() {
    const std::string output = target_.output.empty() ? state_.path : io::real_path(target_.output);
    // Slack that was there stays.
    std::uint64_t first = draft_.size_bytes();
    if (!state_.wanted_slack_bytes) first += old_padding_bytes_;
    const std::uint64_t step = step_bytes();
    const auto aligned = checked_align_up(first, step);
    std::optional<Place> place = aligned ? place_from(*aligned, step) : std::nullopt;
    if (!place) return fail(Errc::edit_impossible, "header", "no room can be made before the data");
    const std::uint64_t block_bytes = identity_.block_bytes;
    bool is_shared = !has_new_layout_ && !edit_.segments.empty() && !wants_no_slack() &&
                     block_bytes != 0 && edit_.segments[0].size_bytes > block_bytes &&
                     io::can_share_blocks(state_.file().source->descriptor(),
                                          io::directory_of(output), block_bytes);
    if (is_shared) {
      // Only blocks at equal positions in both files can be shared.
      const auto shared_step = checked_mul(step / std::gcd(step, block_bytes), block_bytes);
      const std::optional<Place> shared =
          shared_step ? place_from(old_.data_offset % *shared_step, *shared_step) : std::nullopt;
      is_shared = shared && shared->data_offset < max_inserted_bytes;
      if (is_shared) place = shared;
    }
    std::uint64_t data_bytes = 0;
    for (const Segment& segment : edit_.segments) {
      const auto sum = checked_add(data_bytes, segment.padded_bytes);
      if (!sum) return fail(Errc::size_overflow, {});
      data_bytes = *sum;
    }
    const auto file_bytes = checked_add(place->data_offset, data_bytes);
    if (!file_bytes) return fail(Errc::size_overflow, {});
    edit_.header = draft_.assemble(place->padding_bytes);
    finish(is_shared ? EditWay::shared_copy : EditWay::copy, *place, *file_bytes,
           is_shared ? std::min(place->data_offset + 2 * block_bytes, *file_bytes) : *file_bytes);
    return {};
  }

  /// The new header has to pass the reader: writer and reader share one set of rules.
  Result<void> check_header() const {
    INGOT_TRY(const format::Parsed parsed,
              format::parse(edit_.header, {.is_lenient = state_.options.is_lenient,
                                           .limits = state_.options.limits,
                                           .file_bytes = edit_.plan.file_bytes}));
    if (!parsed.is_complete()) return fail(Errc::internal, "the header is not complete");
    const bool has_data = !parsed.structure.tensors.empty();
    if (has_data && parsed.structure.data_offset != edit_.plan.data_offset) {
      return fail(Errc::internal, "the data is not where it should be");
    }
    return {};
  }

  void finish(EditWay way, const Place& place, std::uint64_t file_bytes,
              std::uint64_t bytes_to_write) {
    edit_.plan = {.way = way,
                  .bytes_to_write = bytes_to_write,
                  .file_bytes = file_bytes,
                  .data_offset = place.data_offset,
                  .slack_bytes = place.data_offset - draft_.size_bytes(),
                  .padding_bytes = place.padding_bytes};
  }

  const ModelEdit::State& state_;
  const EditTarget& target_;
  const ModelFile& old_;
  HeaderDraft draft_;
  std::uint64_t old_padding_bytes_ = 0;
  bool has_new_layout_ = false;
  io::FileIdentity identity_;
  EditDraft edit_;
};

}  // namespace

Result<EditDraft> draft_edit(const ModelEdit::State& state, const EditTarget& target) {
  return EditPlanner(state, target).run();
}

}  // namespace ingot
