// SPDX-License-Identifier: MIT
// Opens bump files of every layout that is known as a model.
#include "formats/bump/bump_reader.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_order.hpp"
#include "formats/bump/bump_checksum.hpp"
#include "formats/bump/bump_header.hpp"
#include "formats/bump/bump_layout.hpp"
#include "formats/bump/bump_solver.hpp"
#include "formats/foreign/foreign_model.hpp"
#include "formats/foreign/reader.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::formats {
namespace {

bool is_bump(const Probe& probe) {
  return probe.first_bytes.size() >= 8 && std::memcmp(probe.first_bytes.data(), "BUMPWGT", 7) == 0;
}

/// The offset of the dtype table by newer writers, whose header is followed by 24 zero bytes.
constexpr std::uint64_t late_table_offset = 152;

Result<std::uint32_t> read_count(const Source& file, std::uint64_t offset) {
  std::array<std::byte, 4> bytes;
  INGOT_TRY_VOID(file.read(offset, bytes));
  return load_little<std::uint32_t>(bytes.data());
}

/// The number of entries of a table, and the sections that follow from it.
struct TableKind {
  std::uint64_t per_layer;
  std::uint64_t others;
  bool is_early;  ///< Whether it can follow the header at once.
  bool is_late;   ///< Whether 24 bytes can be between them.
};
constexpr std::array table_kinds = {TableKind{14, 4, true, true},  TableKind{14, 5, false, true},
                                    TableKind{8, 2, true, false},  TableKind{8, 3, true, false},
                                    TableKind{15, 4, false, true}, TableKind{15, 5, false, true},
                                    TableKind{16, 4, false, true}, TableKind{16, 5, false, true}};

/// The kinds that a table of `count` entries can be of: one, but for models of a layer or two.
std::vector<TableKind> kinds_of(std::uint64_t count, std::uint64_t layers, bool is_late) {
  std::vector<TableKind> kinds;
  for (const TableKind& kind : table_kinds) {
    if (count == layers * kind.per_layer + kind.others && (is_late ? kind.is_late : kind.is_early))
      kinds.push_back(kind);
  }
  return kinds;
}

/// Finds the dtype table: `codes`, and where the payload and the sections begin. Returns the
/// possible kinds; empty for version 2, which has no table.
Result<std::vector<TableKind>> find_table(const Source& file, std::uint64_t max_entries,
                                          BumpFile& bump) {
  bump.payload_begin = bump.sections_begin = bump_header_bytes;
  if (bump.header.version == 2) return std::vector<TableKind>{};
  for (const std::uint64_t offset : {bump_header_bytes, late_table_offset}) {
    const bool is_late = offset == late_table_offset;
    if ((is_late && bump.header.version < 4) || bump.payload_end < offset + 4) continue;
    INGOT_TRY(const std::uint32_t count, read_count(file, offset));
    std::vector<TableKind> kinds = kinds_of(count, bump.header.shape.layers, is_late);
    if (kinds.empty()) continue;
    if (count > max_entries) return fail(Errc::limit_exceeded, offset, "dtype table");
    if (count > bump.payload_end - offset - 4) return fail(Errc::truncated, offset, "dtype table");
    bump.codes.resize(count);
    INGOT_TRY_VOID(file.read(offset + 4, std::as_writable_bytes(std::span(bump.codes))));
    bump.payload_begin = offset;
    bump.sections_begin = offset + 4 + count;
    return kinds;
  }
  return fail(Errc::bump_header_invalid, bump_header_bytes, "dtype table",
              "no known table has that many entries for " +
                  std::to_string(bump.header.shape.layers) + " layers");
}

/// Tries the possible kinds of table; leaves `bump` with the last one.
std::optional<BumpSolution> solve(BumpFile& bump, const std::vector<TableKind>& kinds,
                                  const BumpConfig& config) {
  // No model has more layers, and a header may claim any number.
  constexpr std::uint64_t max_layers = 4096;
  if (bump.header.shape.layers > max_layers) return std::nullopt;
  if (kinds.empty()) return solve_bump(bump, config);
  for (const TableKind& kind : kinds) {
    bump.has_biases = kind.per_layer != 8;
    bump.has_output = kind.others % 2 == 1;
    bump.post_norms = bump.has_biases ? static_cast<unsigned>(kind.per_layer - 14) : 0;
    if (auto solution = solve_bump(bump, config)) return solution;
  }
  return std::nullopt;
}

/// The facts to show of the file.
std::vector<FileFact> describe(const BumpFile& bump, const BumpSolution* solution,
                               const std::string& checksum) {
  std::vector<FileFact> facts = {{"version", std::to_string(bump.header.version)}};
  std::string layout = "plain";
  if (bump.header.version == 2) layout = "without a dtype table";
  if (!bump.has_biases) layout = "without biases";
  if (bump.payload_begin == late_table_offset) layout = "table at byte 152";
  if (solution != nullptr) {
    if (solution->layout.shape.is_padded()) layout += ", padded";
    if (solution->layout.tokenizer.tokens > 0) layout += ", with a tokenizer";
    if (solution->layout.has_head_norms) layout += ", with norms of heads";
    if (solution->layout.post_norms > 0) layout += ", with norms after attention";
    facts.push_back({"codes", solution->codes_text});
  } else {
    layout += "; the sections cannot be told apart";
  }
  facts.push_back({"layout", std::move(layout)});
  facts.push_back({"checksum", checksum});
  return facts;
}

/// The standard keys of the dimensions.
ModelWriter make_keys(const BumpShape& shape, const BumpConfig& config) {
  ModelWriter keys;
  const std::string& arch = config.architecture;
  keys.set_string(keys::general_architecture, arch);
  const auto set = [&](const char* key, std::uint64_t number) {
    if (number > 0) keys.set(arch + key, static_cast<std::uint32_t>(number));
  };
  set(".context_length", shape.context);
  set(".embedding_length", shape.embedding);
  set(".block_count", shape.layers);
  set(".feed_forward_length", shape.feed_forward);
  set(".attention.head_count", shape.heads);
  set(".attention.head_count_kv", shape.kv_heads);
  set(".attention.key_length", shape.head_width);
  set(".vocab_size", shape.vocabulary);
  // Its blocks are those of ggml, and GGUF needs the key for them.
  keys.set(keys::general_quantization_version, std::uint32_t{2});
  if (config.rope_theta) keys.set(arch + ".rope.freq_base", *config.rope_theta);
  if (config.epsilon) keys.set(arch + ".attention.layer_norm_rms_epsilon", *config.epsilon);
  return keys;
}

std::vector<ForeignTensor> make_tensors(const BumpFile& bump, const BumpSolution* solution) {
  std::vector<ForeignTensor> tensors;
  std::uint64_t offset = bump.sections_begin;
  if (solution == nullptr) {
    tensors.push_back({"payload", TensorType::i8, {bump.payload_end - offset}, 0, offset, nullptr});
    return tensors;
  }
  for (const BumpSection& section : solution->sections) {
    tensors.push_back({name_of(section), section.type, section.shape, 0, offset, nullptr});
    offset += section.size_bytes;
  }
  return tensors;
}

Result<OpenedModel> open_bump(const Store& store, const std::string& name,
                              const OpenAnyOptions& options) {
  INGOT_TRY(std::unique_ptr<Source> file, store.open(name));
  INGOT_TRY(const BumpConfig config, read_bump_config(store, name));
  INGOT_TRY(OpenedModel opened, open_bump_source(std::move(file), config, options));
  opened.paths.push_back(store.locate(name));
  return opened;
}

}  // namespace

Result<OpenedModel> open_bump_source(std::unique_ptr<Source> file, const BumpConfig& config,
                                     const OpenAnyOptions& options) {
  const std::uint64_t file_bytes = file->size_bytes();
  if (file_bytes < bump_header_bytes) return fail(Errc::truncated, file_bytes, "header");
  BumpHeaderBytes bytes;
  INGOT_TRY_VOID(file->read(0, bytes));
  BumpFile bump;
  INGOT_TRY(bump.header, parse_bump_header(bytes));
  INGOT_TRY(bump.payload_end, find_bump_payload_end(*file, bump.header.version));
  INGOT_TRY(const std::vector<TableKind> kinds,
            find_table(*file, options.gguf.limits.max_tensors, bump));
  const std::optional<BumpSolution> solution = solve(bump, kinds, config);
  INGOT_TRY(const std::string checksum,
            verify_bump_checksum(*file, bytes, bump, options.gguf.is_lenient, options.progress));
  const BumpSolution* solved = solution ? &*solution : nullptr;
  const BumpShape& shape = solved != nullptr ? solved->layout.shape : bump.header.shape;
  std::vector<std::unique_ptr<Source>> files;
  files.push_back(std::move(file));
  INGOT_TRY(Model model, make_foreign_model(make_keys(shape, config), make_tensors(bump, solved),
                                            std::move(files), options.gguf));
  return OpenedModel{.model = std::move(model),
                     .format = FileFormat::bump,
                     .file_bytes = file_bytes,
                     .facts = describe(bump, solved, checksum),
                     .data_offsets = {bump.payload_begin}};
}

constinit const FormatReader bump_reader{is_bump, open_bump};

}  // namespace ingot::formats
