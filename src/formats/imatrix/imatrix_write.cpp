// SPDX-License-Identifier: MIT
// ImportanceMatrix::write: one file in either format.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "base/strings.hpp"
#include "formats/imatrix/imatrix_state.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model_writer.hpp"
#include "ingot/output_file.hpp"

namespace ingot {

using formats::ImatrixPart;

namespace {

constexpr std::size_t written_values = std::size_t{1} << 16;

template <class Number>
void to_little(std::vector<Number>& numbers) {
  if constexpr (std::endian::native != std::endian::little) {
    formats::swap_bytes(std::span<Number>(numbers));
  }
}

/// Hands all values of an entry to `sink`, little-endian, piece by piece.
template <class Read>
Result<void> stream(const ImatrixEntry& entry, const DataSink& sink, const Read& read) {
  std::vector<float> floats;
  for (std::uint64_t done = 0; done < entry.value_count; done += floats.size()) {
    floats.resize(static_cast<std::size_t>(
        std::min<std::uint64_t>(written_values, entry.value_count - done)));
    INGOT_TRY_VOID(read(done, std::span<float>(floats)));
    to_little(floats);
    INGOT_TRY_VOID(sink(std::as_bytes(std::span(floats))));
  }
  return {};
}

class LegacyWriter {
 public:
  LegacyWriter(const ImportanceMatrix& matrix, std::span<const std::vector<ImatrixPart>> parts,
               OutputFile& file)
      : matrix_(matrix), parts_(parts), file_(file) {}

  Result<void> write() {
    const std::span<const ImatrixEntry> entries = matrix_.entries();
    INGOT_TRY_VOID(write_int(entries.size(), "entries"));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      INGOT_TRY_VOID(write_text(entries[i].name));
      INGOT_TRY_VOID(write_entry(entries[i], parts_[i]));
    }
    INGOT_TRY_VOID(write_int(matrix_.chunk_count(), "chunks"));
    return write_text(joined(matrix_.datasets(), ","));
  }

 private:
  Result<void> write_int(std::uint64_t number, const std::string& what) {
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
      return fail(Errc::value_out_of_range, what,
                  std::to_string(number) + " does not fit the older format; write GGUF");
    }
    std::array<std::byte, 4> bytes;
    store(bytes.data(), static_cast<std::uint32_t>(number),
          std::endian::native != std::endian::little);
    return file_.write(bytes);
  }

  Result<void> write_text(const std::string& text) {
    INGOT_TRY_VOID(write_int(text.size(), "length"));
    return file_.write(std::as_bytes(std::span(text)));
  }

  /// Chunks that the busiest expert has seen.
  Result<std::int32_t> count_calls(const ImatrixEntry& entry) const {
    INGOT_TRY(const std::vector<double> counts, matrix_.read_counts(entry));
    const auto chunk_size = static_cast<double>(formats::chunk_tokens(matrix_.chunk_size()));
    const double calls = std::ceil(*std::ranges::max_element(counts) / chunk_size);
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(std::clamp(calls, 0.0, most));
  }

  Result<void> write_entry(const ImatrixEntry& entry, const std::vector<ImatrixPart>& parts) {
    // The values of one such file are kept to the bit: its calls are no count of tokens.
    const bool is_stored = parts.size() == 1 && parts[0].is_legacy;
    INGOT_TRY(const std::int32_t calls,
              is_stored ? Result<std::int32_t>(parts[0].calls) : count_calls(entry));
    INGOT_TRY_VOID(write_int(static_cast<std::uint64_t>(calls), entry.name));
    INGOT_TRY_VOID(write_int(entry.value_count, entry.name));
    const DataSink sink = [&](std::span<const std::byte> bytes) { return file_.write(bytes); };
    return stream(entry, sink, [&](std::uint64_t first, std::span<float> floats) -> Result<void> {
      if (is_stored) {
        return formats::read_imatrix(parts, entry.name, 0, first, floats,
                                     formats::ImatrixReading::stored);
      }
      INGOT_TRY_VOID(matrix_.read_weights(entry, first, floats));
      if (calls > 0) {
        for (float& value : floats) value *= static_cast<float>(calls);
      }
      return {};
    });
  }

  const ImportanceMatrix& matrix_;
  std::span<const std::vector<ImatrixPart>> parts_;
  OutputFile& file_;
};

/// Writes all blocks of second moments; fills the rows of a last, smaller block with zeros.
Result<void> write_moments(const ImportanceMatrix& matrix, const ImatrixEntry& entry,
                           const DataSink& sink) {
  const std::uint64_t size = entry.moment_columns;
  std::vector<float> block;
  std::vector<float> row(to_size(size));
  for (std::uint64_t expert = 0; expert < entry.expert_count; ++expert) {
    for (std::uint64_t first = 0; first < entry.column_count(); first += size) {
      const auto columns = static_cast<std::size_t>(std::min(size, entry.column_count() - first));
      block.resize(columns * columns);
      INGOT_TRY_VOID(matrix.read_moments(entry, expert, first / size, block));
      to_little(block);
      std::ranges::fill(row, 0.0F);
      for (std::size_t i = 0; i < columns; ++i) {
        std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(i * columns), columns, row.begin());
        INGOT_TRY_VOID(sink(std::as_bytes(std::span(row))));
      }
    }
  }
  return {};
}

/// Writes both exact parts of all sums.
Result<void> write_exact_sums(const ImportanceMatrix& matrix, const ImatrixEntry& entry,
                              const std::vector<ImatrixPart>& parts, const DataSink& sink) {
  INGOT_TRY(const std::vector<double> counts, matrix.read_counts(entry));
  std::vector<double> coarse;
  std::vector<double> fine;
  for (std::vector<double>* written : {&coarse, &fine}) {
    for (std::uint64_t done = 0; done < entry.value_count; done += written->size()) {
      const auto size = static_cast<std::size_t>(
          std::min<std::uint64_t>(written_values, entry.value_count - done));
      coarse.resize(size);
      fine.resize(size);
      INGOT_TRY_VOID(formats::read_exact_sums(parts, entry.name, done, coarse, fine));
      INGOT_TRY_VOID(formats::check_exact_limits(counts, coarse, entry.name));
      to_little(*written);
      INGOT_TRY_VOID(sink(std::as_bytes(std::span(*written))));
    }
  }
  return {};
}

Result<void> add_entry(ModelWriter& writer, const ImportanceMatrix& matrix,
                       const ImatrixEntry& entry, const std::vector<ImatrixPart>& parts) {
  const std::array<std::uint64_t, 2> sums_shape = {entry.column_count(), entry.expert_count};
  const std::array<std::uint64_t, 2> counts_shape = {1, entry.expert_count};
  const std::size_t dimensions = entry.expert_count > 1 ? 2 : 1;
  INGOT_TRY_VOID(writer.add_tensor(
      entry.name + ".in_sum2", TensorType::f32, std::span(sums_shape).first(dimensions),
      [&matrix, &entry, &parts](const DataSink& sink) {
        return stream(entry, sink, [&](std::uint64_t first, std::span<float> floats) {
          return formats::read_imatrix(parts, entry.name, matrix.chunk_size(), first, floats,
                                       formats::ImatrixReading::sums);
        });
      }));
  INGOT_TRY_VOID(writer.add_tensor(
      entry.name + ".counts", TensorType::f32, std::span(counts_shape).first(dimensions),
      [&matrix, &entry](const DataSink& sink) -> Result<void> {
        INGOT_TRY(const std::vector<double> counts, matrix.read_counts(entry));
        std::vector<float> floats(counts.size());
        for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(counts[i]);
        to_little(floats);
        return sink(std::as_bytes(std::span(floats)));
      }));
  if (formats::are_exact(parts)) {
    const std::array<std::uint64_t, 2> exact_shape = {entry.value_count, 2};
    INGOT_TRY_VOID(writer.add_tensor(entry.name + ".in_sum2_exact", TensorType::f64, exact_shape,
                                     [&matrix, &entry, &parts](const DataSink& sink) {
                                       return write_exact_sums(matrix, entry, parts, sink);
                                     }));
  }
  if (entry.moment_columns == 0) return {};
  const std::array<std::uint64_t, 3> shape = {entry.moment_columns, entry.column_count(),
                                              entry.expert_count};
  return writer.add_tensor(
      entry.name + ".in_moment", TensorType::f32, std::span(shape).first(dimensions + 1),
      [&matrix, &entry](const DataSink& sink) { return write_moments(matrix, entry, sink); });
}

std::uint32_t to_u32(std::uint64_t number) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

Result<void> ImportanceMatrix::write(const std::string& path, ImatrixFormat format,
                                     bool replace) const {
  if (format == ImatrixFormat::legacy) {
    INGOT_TRY(OutputFile file, OutputFile::create(path, replace));
    INGOT_TRY_VOID(LegacyWriter(*this, state_->parts, file).write());
    return file.commit();
  }
  ModelWriter writer;
  writer.set_string(keys::general_type, "imatrix");
  writer.set_array("imatrix.datasets", std::span<const std::string>(state_->datasets));
  writer.set("imatrix.chunk_count", to_u32(state_->chunk_count));
  writer.set("imatrix.chunk_size", to_u32(formats::chunk_tokens(state_->chunk_size)));
  for (std::size_t i = 0; i < state_->entries.size(); ++i) {
    INGOT_TRY_VOID(add_entry(writer, *this, state_->entries[i], state_->parts[i]));
  }
  return writer.write(path, {}, replace);
}

}  // namespace ingot
