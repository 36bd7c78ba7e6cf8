// SPDX-License-Identifier: MIT
// ImportanceMatrix: files of both formats as one.
#include "ingot/imatrix.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/checked.hpp"
#include "formats/imatrix/imatrix_state.hpp"

namespace ingot {

using formats::ImatrixContent;
using formats::ImatrixFile;
using formats::ImatrixItem;
using formats::ImatrixPart;

namespace formats {

Result<void> ImatrixFile::read(std::uint64_t file_offset, std::span<std::byte> dst) const {
  return model ? model->read_file_bytes(0, file_offset, dst) : source->read(file_offset, dst);
}

Result<void> ImatrixFile::read_floats(std::uint64_t file_offset, std::span<float> dst) const {
  INGOT_TRY_VOID(read(file_offset, std::as_writable_bytes(dst)));
  if (is_swapped) swap_bytes(dst);
  return {};
}

}  // namespace formats

namespace {

/// Values that are read at once.
constexpr std::size_t read_values = 4096;

bool is_gguf(const Source& source) {
  std::array<char, 4> magic{};
  if (source.size_bytes() < magic.size()) return false;
  if (!source.read(0, std::as_writable_bytes(std::span(magic)))) return false;
  return std::string_view(magic.data(), magic.size()) == "GGUF";
}

Result<ImatrixContent> parse(std::unique_ptr<Source> source) {
  auto file = std::make_shared<ImatrixFile>();
  if (!is_gguf(*source)) {
    file->is_swapped = std::endian::native != std::endian::little;
    file->source = std::move(source);
    return formats::parse_legacy_imatrix(std::move(file));
  }
  INGOT_TRY(Model model, Model::open_source(std::move(source)));
  const bool is_big = model.files()[0].byte_order == Endian::big;
  file->is_swapped = is_big == (std::endian::native == std::endian::little);
  file->model = std::move(model);
  return formats::parse_gguf_imatrix(std::move(file));
}

/// Adds up the sums and counts of some columns over all files that have them.
class Totals {
 public:
  Totals(const std::vector<ImatrixPart>& parts, const std::string& name, double chunk_size,
         std::uint64_t first, std::span<float> dst)
      : parts_(parts), name_(name), chunk_size_(chunk_size), first_(first), dst_(dst) {}

  /// Means: the sum over the count, 1 where nothing was counted.
  Result<void> to_means() {
    if (parts_.size() == 1) return single_means();
    return accumulate([&](std::size_t i) {
      dst_[i] = counts_[i] > 0 ? static_cast<float>(sums_[i] / counts_[i]) : 1.0f;
    });
  }

  /// Sums over tokens.
  Result<void> to_sums() {
    if (parts_.size() == 1 && !parts_[0].is_legacy) {  // a single file has nothing to round
      return parts_[0].file->read_floats(parts_[0].values_offset + first_ * sizeof(float), dst_);
    }
    return accumulate([&](std::size_t i) { dst_[i] = static_cast<float>(sums_[i]); });
  }

 private:
  /// Computes in single precision, like the tools that read one file.
  Result<void> single_means() {
    const ImatrixPart& part = parts_[0];
    INGOT_TRY_VOID(part.file->read_floats(part.values_offset + first_ * sizeof(float), dst_));
    if (part.is_legacy) {
      if (part.calls > 0) {
        for (float& value : dst_) value /= static_cast<float>(part.calls);
      }
      return {};
    }
    return for_each_count(
        part, [&](std::size_t i, float count) { dst_[i] = count > 0 ? dst_[i] / count : 1.0f; });
  }

  template <class Finish>
  Result<void> accumulate(const Finish& finish) {
    sums_.assign(dst_.size(), 0.0);
    counts_.assign(dst_.size(), 0.0);
    for (const ImatrixPart& part : parts_) INGOT_TRY_VOID(add(part));
    if (formats::are_exact(parts_)) {
      std::vector<double> fine(dst_.size());
      INGOT_TRY_VOID(formats::read_exact_sums(parts_, name_, first_, sums_, fine));
      for (std::size_t i = 0; i < dst_.size(); ++i) sums_[i] += fine[i];
    }
    for (std::size_t i = 0; i < dst_.size(); ++i) finish(i);
    return {};
  }

  Result<void> add(const ImatrixPart& part) {
    INGOT_TRY_VOID(part.file->read_floats(part.values_offset + first_ * sizeof(float), dst_));
    if (!part.is_legacy) {
      for (std::size_t i = 0; i < dst_.size(); ++i) sums_[i] += static_cast<double>(dst_[i]);
      return for_each_count(
          part, [&](std::size_t i, float count) { counts_[i] += static_cast<double>(count); });
    }
    // A file without calls has means.
    const double calls = std::max(part.calls, 1);
    for (std::size_t i = 0; i < dst_.size(); ++i) {
      sums_[i] += static_cast<double>(dst_[i]) * chunk_size_;
      counts_[i] += calls * chunk_size_;
    }
    return {};
  }

  /// Calls use(i, count of the expert that value i belongs to).
  template <class Use>
  Result<void> for_each_count(const ImatrixPart& part, const Use& use) const {
    const std::uint64_t columns = part.value_count / part.expert_count;
    std::array<float, 1> count;
    std::uint64_t known = ~std::uint64_t{0};
    for (std::size_t i = 0; i < dst_.size(); ++i) {
      const std::uint64_t expert = (first_ + i) / columns;
      if (expert != known) {
        INGOT_TRY_VOID(part.file->read_floats(part.counts_offset + expert * sizeof(float), count));
        known = expert;
      }
      use(i, count[0]);
    }
    return {};
  }

  const std::vector<ImatrixPart>& parts_;
  const std::string& name_;
  double chunk_size_;
  std::uint64_t first_;
  std::span<float> dst_;
  std::vector<double> sums_;
  std::vector<double> counts_;
};

Result<void> check_floats(const ImatrixPart& part, const ImatrixEntry& entry, std::uint64_t offset,
                          std::uint64_t count, const char* what) {
  std::vector<float> floats;
  for (std::uint64_t done = 0; done < count; done += floats.size()) {
    floats.resize(static_cast<std::size_t>(std::min<std::uint64_t>(read_values, count - done)));
    const std::uint64_t from = offset + done * sizeof(float);
    INGOT_TRY_VOID(part.file->read_floats(from, floats));
    for (std::size_t i = 0; i < floats.size(); ++i) {
      if (floats[i] >= 0.0f && floats[i] <= std::numeric_limits<float>::max()) continue;
      return fail(Errc::imatrix_invalid, from + i * sizeof(float), entry.name,
                  std::string(what) + " " + std::to_string(done + i) + " is " +
                      std::to_string(floats[i]) + "; it must be finite and not negative");
    }
  }
  return {};
}

}  // namespace

const ImatrixEntry* ImportanceMatrix::State::find(std::string_view name) const noexcept {
  const auto found = std::ranges::lower_bound(entries, name, {}, &ImatrixEntry::name);
  return found != entries.end() && found->name == name ? &*found : nullptr;
}

const std::vector<ImatrixPart>* ImportanceMatrix::State::parts_of(const ImatrixEntry& entry) const {
  const ImatrixEntry* const own = find(entry.name);
  return own == nullptr ? nullptr : &parts[static_cast<std::size_t>(own - entries.data())];
}

std::vector<ImatrixItem> ImportanceMatrix::State::release() {
  std::vector<ImatrixItem> items;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    items.push_back({std::move(entries[i]), std::move(parts[i])});
  }
  entries.clear();
  parts.clear();
  return items;
}

void ImportanceMatrix::State::assign(std::vector<ImatrixItem> items) {
  std::ranges::sort(
      items, {}, [](const ImatrixItem& item) -> auto& { return item.entry.name; });
  for (ImatrixItem& item : items) {
    entries.push_back(std::move(item.entry));
    parts.push_back(std::move(item.parts));
  }
}

ImportanceMatrix::ImportanceMatrix(std::unique_ptr<State> state) noexcept
    : state_(std::move(state)) {}
ImportanceMatrix::ImportanceMatrix(ImportanceMatrix&&) noexcept = default;
ImportanceMatrix& ImportanceMatrix::operator=(ImportanceMatrix&&) noexcept = default;
ImportanceMatrix::~ImportanceMatrix() = default;

Result<ImportanceMatrix> ImportanceMatrix::open(const std::string& path) {
  INGOT_TRY(std::unique_ptr<Source> source, read_file(path));
  return open_source(std::move(source));
}

Result<ImportanceMatrix> ImportanceMatrix::open_source(std::unique_ptr<Source> source) {
  INGOT_TRY(ImatrixContent content, parse(std::move(source)));
  auto state = std::make_unique<State>();
  state->format = content.format;
  state->datasets = std::move(content.datasets);
  state->chunk_count = content.chunk_count;
  state->chunk_size = content.chunk_size;
  state->assign(std::move(content.items));
  const auto twice = std::ranges::adjacent_find(state->entries, {}, &ImatrixEntry::name);
  if (twice != state->entries.end()) {
    return fail(Errc::imatrix_invalid, twice->name, "it appears twice");
  }
  return ImportanceMatrix(std::move(state));
}

Result<void> ImportanceMatrix::merge(ImportanceMatrix other) {
  std::vector<std::size_t> known(other.state_->entries.size(), state_->entries.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    const ImatrixEntry& added = other.state_->entries[i];
    const ImatrixEntry* entry = find(added.name);
    if (entry == nullptr) continue;
    known[i] = static_cast<std::size_t>(entry - state_->entries.data());
    const bool has_experts = entry->expert_count > 1 && added.expert_count > 1;
    if (entry->value_count != added.value_count ||
        (has_experts && entry->expert_count != added.expert_count)) {
      return fail(Errc::imatrix_mismatch, added.name,
                  "one file has " + std::to_string(entry->value_count) +
                      " values for it, another " + std::to_string(added.value_count));
    }
  }
  const std::size_t own_count = state_->entries.size();
  std::vector<ImatrixItem> items = state_->release();
  std::vector<ImatrixItem> others = other.state_->release();
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == own_count) {
      items.push_back(std::move(others[i]));
      continue;
    }
    ImatrixItem& item = items[known[i]];
    item.entry.expert_count = std::max(item.entry.expert_count, others[i].entry.expert_count);
    item.parts.insert(item.parts.end(), others[i].parts.begin(), others[i].parts.end());
    item.entry.moment_columns = formats::common_moment_columns(item.parts);
  }
  state_->assign(std::move(items));
  for (std::string& dataset : other.state_->datasets) {
    const auto found = std::ranges::find(state_->datasets, dataset);
    if (found == state_->datasets.end()) state_->datasets.push_back(std::move(dataset));
  }
  state_->chunk_count += other.state_->chunk_count;
  state_->chunk_size = std::max(state_->chunk_size, other.state_->chunk_size);
  return {};
}

void ImportanceMatrix::keep_if(const std::function<bool(std::string_view name)>& is_kept) {
  std::vector<ImatrixItem> items = state_->release();
  std::erase_if(items, [&](const ImatrixItem& item) { return !is_kept(item.entry.name); });
  state_->assign(std::move(items));
}

std::span<const ImatrixEntry> ImportanceMatrix::entries() const noexcept { return state_->entries; }

const ImatrixEntry* ImportanceMatrix::find(std::string_view name) const noexcept {
  return state_->find(name);
}

ImatrixFormat ImportanceMatrix::format() const noexcept { return state_->format; }
std::span<const std::string> ImportanceMatrix::datasets() const noexcept {
  return state_->datasets;
}
std::uint64_t ImportanceMatrix::chunk_count() const noexcept { return state_->chunk_count; }
std::uint64_t ImportanceMatrix::chunk_size() const noexcept { return state_->chunk_size; }

namespace formats {

Result<void> read_imatrix(const std::vector<ImatrixPart>& parts, const std::string& name,
                          std::uint64_t chunk_size, std::uint64_t first, std::span<float> dst,
                          ImatrixReading reading) {
  if (reading == ImatrixReading::stored && parts.size() == 1) {
    return parts[0].file->read_floats(parts[0].values_offset + first * sizeof(float), dst);
  }
  const auto size = static_cast<double>(chunk_tokens(chunk_size));
  for (std::uint64_t done = 0; done < dst.size(); done += read_values) {
    const auto piece = std::min<std::uint64_t>(read_values, dst.size() - done);
    Totals totals(parts, name, size, first + done, dst.subspan(to_size(done), to_size(piece)));
    INGOT_TRY_VOID(reading == ImatrixReading::means ? totals.to_means() : totals.to_sums());
  }
  return {};
}

}  // namespace formats

Result<void> ImportanceMatrix::read_weights(const ImatrixEntry& entry, std::uint64_t first,
                                            std::span<float> dst) const {
  const std::vector<ImatrixPart>* parts = state_->parts_of(entry);
  if (parts == nullptr || first > entry.value_count || dst.size() > entry.value_count - first) {
    return fail(Errc::index_out_of_range, entry.name);
  }
  return formats::read_imatrix(*parts, entry.name, state_->chunk_size, first, dst,
                               formats::ImatrixReading::means);
}

Result<std::vector<double>> ImportanceMatrix::read_counts(const ImatrixEntry& entry) const {
  const std::vector<ImatrixPart>* parts = state_->parts_of(entry);
  if (parts == nullptr) return fail(Errc::index_out_of_range, entry.name);
  const auto chunk_size = static_cast<double>(formats::chunk_tokens(state_->chunk_size));
  std::vector<double> totals(to_size(entry.expert_count), 0.0);
  for (const ImatrixPart& part : *parts) {
    std::vector<float> counts(to_size(part.expert_count));
    if (part.is_legacy) {
      counts[0] = static_cast<float>(std::max(part.calls, 1) * chunk_size);
    } else {
      INGOT_TRY_VOID(part.file->read_floats(part.counts_offset, counts));
    }
    for (std::size_t i = 0; i < totals.size(); ++i) {
      totals[i] += static_cast<double>(counts[counts.size() == 1 ? 0 : i]);
    }
  }
  return totals;
}

Result<ImatrixSummary> ImportanceMatrix::summarize(const ImatrixEntry& entry) const {
  constexpr std::uint64_t piece_values = 1 << 16;
  ImatrixSummary summary;
  INGOT_TRY(const std::vector<double> counts, read_counts(entry));
  for (const double count : counts) {
    summary.token_count = std::max(summary.token_count, count);
    if (count == 0.0) ++summary.unused_experts;
  }
  std::vector<float> weights;
  double sum = 0.0;
  for (std::uint64_t done = 0; done < entry.value_count; done += weights.size()) {
    weights.resize(to_size(std::min(piece_values, entry.value_count - done)));
    INGOT_TRY_VOID(read_weights(entry, done, weights));
    for (const float weight : weights) {
      sum += static_cast<double>(weight);
      summary.largest = std::max(summary.largest, static_cast<double>(weight));
    }
  }
  summary.mean = sum / static_cast<double>(entry.value_count);
  return summary;
}

Result<void> ImportanceMatrix::check_values() const {
  for (std::size_t i = 0; i < state_->entries.size(); ++i) {
    const ImatrixEntry& entry = state_->entries[i];
    for (const ImatrixPart& part : state_->parts[i]) {
      INGOT_TRY_VOID(check_floats(part, entry, part.values_offset, part.value_count, "value"));
      if (part.is_legacy) continue;
      INGOT_TRY_VOID(check_floats(part, entry, part.counts_offset, part.expert_count, "count"));
      INGOT_TRY_VOID(formats::check_moments(part, entry.name));
      INGOT_TRY_VOID(formats::check_exact_sums(part, entry.name));
    }
  }
  return {};
}

}  // namespace ingot
