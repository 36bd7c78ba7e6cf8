// SPDX-License-Identifier: MIT
// The architectures: what their models consist of, as the reference engine (llama.cpp) wants it.
// One row for each name of `general.architecture`, read from src/architectures/rows.
//
//   const ingot::Architecture* row = ingot::find_architecture("jamba");
//   for (const std::string& key : ingot::missing_keys(*row, header)) ...
//
// All functions here are thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/types.hpp"

namespace ingot {

/// Which layers see only a sliding window, where the key of the pattern is missing.
enum class LayerWindows : std::uint8_t { none, full_last, full_first, by_key };

/// The state of a recurrent layer for each sequence.
enum class LayerState : std::uint8_t {
  none,
  ssm,
  rwkv,
  rwkv_single,
  short_convolution,
  delta_attention,
  lightning_attention
};

/// Which layers are recurrent.
enum class RecurrentLayers : std::uint8_t {
  never,
  always,
  beside_attention,
  without_kv_heads,
  without_kv_heads_and_ffn,
  by_interval
};

/// The output of the engine for the tokens.
enum class Purpose : std::uint8_t {
  generates,
  generates_without_cache,
  encodes,
  encodes_with_cache
};

/// The facts behind the memory that a model needs.
struct ArchitectureMemory {
  Purpose purpose = Purpose::generates;
  LayerWindows windows = LayerWindows::none;
  std::uint64_t period = 0;
  std::uint64_t window = 0;  ///< Tokens, where the key of the window is missing.
  std::uint64_t only_for_layers =
      0;  ///< The windows are those of models of so many layers; 0: all.
  std::uint64_t own_cache_layers = 0;  ///< Layers from this one on reuse the cache; 0: none does.
  LayerState state = LayerState::none;
  RecurrentLayers recurrent = RecurrentLayers::never;
  std::uint64_t interval = 4;  ///< Each n-th layer is not recurrent, where the key is missing.
};

/// What a row says of a key or a tensor, for people.
struct ArchitectureKey {
  std::string name = {};  ///< The key without the architecture, unless it is a key of all models.
  std::string type = {};  ///< "u32", "u32[]", "u32 per layer".
  std::string condition = {};  ///< The condition of a required key; empty: always.
  bool is_required = false;
};
struct ArchitectureTensor {
  std::string name = {};       ///< "token_embd.weight", "blk.{i}.attn_q.weight".
  std::string shape = {};      ///< "embd, q"
  std::string condition = {};  ///< Empty: always.
  bool is_optional = false;
  bool is_of_layers = false;
};

template <class Visitor>
void describe(Visitor& visit, const ArchitectureKey& key) {
  visit("name", key.name, "", "without the architecture, unless it is a key of all models");
  visit("type", key.type, "", "of the value: `u32`, `u32[]`, `u32 per layer`");
  visit("required", key.is_required, "", "the engine does not load a model without it");
  visit("condition", text_if_any(key.condition), "", "of the models that have it; null for all");
}

template <class Visitor>
void describe(Visitor& visit, const ArchitectureTensor& tensor) {
  visit("name", tensor.name, "", "where `{i}` is the layer");
  visit("shape", tensor.shape, "elements", "numbers and expressions of `numbers`");
  visit("required", !tensor.is_optional, "", "the engine does not load a model without it");
  visit("condition", text_if_any(tensor.condition), "", "of the models that have it; null for all");
}

struct ArchitectureRow;  // parsed statements, not public

/// One architecture.
class Architecture {
 public:
  std::string name;
  std::vector<ArchitectureKey> keys;        ///< Empty if only the name is known.
  std::vector<ArchitectureTensor> tensors;  ///< The same.
  /// Names of the numbers that shapes use, with what they stand for: "embd", "embedding_length".
  std::vector<std::pair<std::string, std::string>> numbers;
  /// The variants that keys and tensors are known of, sorted: types of projectors.
  std::vector<std::string> variants;
  std::string waits;                ///< Why keys and tensors are not known; empty if they are.
  std::string file_kind = "model";  ///< `general.type` of its files.
  std::optional<ArchitectureMemory> memory;
  std::vector<std::string> pass;   ///< How `evaluate` computes what tensors do not tell: "gelu".
  bool has_attention = true;       ///< Without, head counts may be 0.
  bool has_scored_tokens = false;  ///< Its sample has a vocabulary of sentencepiece.
  std::uint32_t sample_tokens = 1024;  ///< The tokens in the vocabulary of its sample.
  bool is_imported = false;            ///< Ingot imports folders of such models.
  bool is_exported = false;            ///< Ingot exports models to such folders.
  bool is_evaluated = false;           ///< `evaluate` can run it.
  bool has_projector = false;          ///< Projectors of its models are imported.
  std::shared_ptr<const ArchitectureRow> row;

  [[nodiscard]] bool is_described() const noexcept { return !tensors.empty(); }
};

/// The name, and what Ingot can do with models of it.
template <class Visitor>
void describe_abilities(Visitor& visit, const Architecture& row) {
  visit("name", row.name, "", "of `general.architecture`");
  visit("check", row.is_described(), "",
        "`check` knows the keys and tensors that the engine requires");
  visit("fit", row.memory.has_value(), "", "`fit` knows what its layers keep");
  visit("sample", row.is_described(), "", "`sample --architecture` makes a model of it");
  visit("import", row.is_imported, "", "folders of it become GGUF");
  visit("export", row.is_exported, "", "its models become folders");
  visit("evaluate", row.is_evaluated, "", "`evaluate` runs it");
  visit("projector", row.has_projector, "", "projectors of its models are imported");
}

template <class Visitor>
void describe(Visitor& visit, const Architecture& row) {
  describe_abilities(visit, row);
  visit("keys", row.keys, "", "those that its models have");
  visit("tensors", row.tensors, "", "those that its models have");
  visit("variants", row.variants, "", "types of projectors that the row describes");
  visit("numbers", row.numbers, "", "an object: what names in shapes and conditions stand for");
}

/// The names of all architectures, sorted.
[[nodiscard]] INGOT_EXPORT const std::vector<std::string_view>& architecture_names();

/// nullptr if the name is not known.
[[nodiscard]] INGOT_EXPORT const Architecture* find_architecture(std::string_view name);

/// A header that is held against a row. Names of keys and tensors are those of the file.
class INGOT_EXPORT ArchitectureHeader {
 public:
  virtual ~ArchitectureHeader() = default;
  /// A whole number, or a bool; of an array the element, which has to be named.
  [[nodiscard]] virtual std::optional<std::int64_t> number(
      std::string_view key, std::optional<std::uint64_t> element) const = 0;
  [[nodiscard]] virtual std::optional<std::string_view> text(std::string_view key) const = 0;
  /// Nothing if the key is missing or no array.
  [[nodiscard]] virtual std::optional<std::uint64_t> array_size(std::string_view key) const = 0;
  [[nodiscard]] virtual bool has_key(std::string_view key) const = 0;
  [[nodiscard]] virtual bool has_tensor(std::string_view name) const = 0;
  /// A dimension of a tensor, 1 behind its last one; nothing if there is no such tensor.
  [[nodiscard]] virtual std::optional<std::int64_t> tensor_size(std::string_view /*name*/,
                                                                std::size_t /*dimension*/) const {
    return {};
  }
  /// Tokens in the vocabulary.
  [[nodiscard]] virtual std::optional<std::int64_t> vocabulary() const = 0;
};

/// A tensor that the engine looks for.
struct ExpectedTensor {
  std::string name;
  std::vector<std::uint64_t> shape;  ///< 0 where the keys do not tell it.
  bool is_required = false;
};

/// The keys that the engine requires and the header lacks, whole names.
[[nodiscard]] INGOT_EXPORT std::vector<std::string> missing_keys(const Architecture& architecture,
                                                                 const ArchitectureHeader& header);

/// The layers that the header tells of; nothing if it does not.
[[nodiscard]] INGOT_EXPORT std::optional<std::uint64_t> layers_of(const Architecture& architecture,
                                                                  const ArchitectureHeader& header);

/// The tensors of the model, or those of one of its layers.
[[nodiscard]] INGOT_EXPORT std::vector<ExpectedTensor> expected_tensors(
    const Architecture& architecture, const ArchitectureHeader& header,
    std::optional<std::uint64_t> layer);

/// A fact that the row tells of a model beside its tensors: a number, or a text. Texts are views
/// into the header.
struct ArchitectureFact {
  std::string_view name;  ///< "image_tokens"
  std::variant<std::int64_t, std::string_view> value;
};

/// The facts that the header tells of, in the order of the row.
[[nodiscard]] INGOT_EXPORT std::vector<ArchitectureFact> facts_of(const Architecture& architecture,
                                                                  const ArchitectureHeader& header);

/// A number of the memory that heads and states do not tell; nothing if the row does not say it or
/// the header lacks what it needs. `name` is "shared", whether keys are values, too; "compressed",
/// how many tokens have another key of the layer together; "state", the floats that make such keys
/// of a sequence; "indexer", the width of the key by which the indexer of a layer selects tokens;
/// "loops", how often the layers run, each time with a cache of their own; "router", the heads of a
/// layer that has a cache and no tensors; or "work", the floats of the work space for each token.
[[nodiscard]] INGOT_EXPORT std::optional<std::int64_t> memory_number(
    const Architecture& architecture, const ArchitectureHeader& header, std::string_view name,
    std::optional<std::uint64_t> layer);

/// A variant of an architecture, such as the type of a projector, whose tensors are not checked.
struct UncheckedVariant {
  std::string_view text;  ///< Empty: the header tells of no variant at all.
  bool is_known = false;  ///< The engine loads it; the row does not describe its tensors yet.
};

[[nodiscard]] INGOT_EXPORT std::vector<UncheckedVariant> unchecked_variants(
    const Architecture& architecture, const ArchitectureHeader& header);

/// Why the engine refuses the header whatever its tensors are: sentences for people.
[[nodiscard]] INGOT_EXPORT std::vector<std::string_view> refusals_of(
    const Architecture& architecture, const ArchitectureHeader& header);

/// A key of a sample model.
struct SampleKey {
  std::string name;
  ValueType type = ValueType::uint32;  ///< The type of the elements if it is an array.
  bool is_array = false;
  std::vector<std::variant<std::int64_t, double, std::string>> values;
};
struct SampleTensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  bool is_precise = false;  ///< Its floats have full precision, whatever the others have.
};
/// A small model of an architecture.
struct ArchitectureSample {
  std::vector<SampleKey> keys;
  std::vector<SampleTensor> tensors;
};
/// Numbers that take the place of a sample's own, by the name of the key without the architecture;
/// those of keys that the sample does not have are ignored.
using SampleNumbers = std::vector<std::pair<std::string_view, std::int64_t>>;

/// `variant` takes the place of the text that tells variants of the architecture apart; empty: the
/// row's own.
[[nodiscard]] INGOT_EXPORT Result<ArchitectureSample> plan_architecture_sample(
    const Architecture& architecture, const SampleNumbers& numbers, std::uint64_t vocabulary,
    std::string_view variant = {});

}  // namespace ingot
