// SPDX-License-Identifier: MIT
// Merge LoRA adapters in GGUF into a model (target ingot::convert): first a plan, which can be
// looked at, then the work, which streams.
//
//   weight + scale * alpha / rank * (B A)
//
// A is the tensor NAME.lora_a [rank, inputs], B is NAME.lora_b [outputs, rank]; the key
// adapter.lora.alpha holds alpha, and without it, or if it is 0, the factor is `scale` alone. Of
// embeddings of tokens, token_embd.weight, A is [tokens, rank] and B [width, rank]. A norm comes
// whole, under its own name, and replaces that of the model as far as `scale` goes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/tensor.hpp"
#include "ingot/types.hpp"

namespace ingot {

/// The largest rank of an adapter.
inline constexpr std::uint64_t max_lora_rank = 65'536;

/// The change that an adapter makes to one tensor. Pointers are into the model that holds the
/// adapter.
struct LoraChange {
  std::string_view name;          ///< The tensor of the base.
  const TensorInfo* a = nullptr;  ///< The first factor, or the whole tensor.
  const TensorInfo* b = nullptr;  ///< nullptr: the tensor comes whole.
  std::uint64_t rank = 0;         ///< 0: the tensor comes whole.
  double scale = 1.0;             ///< LoraAdapter::factor of 1.

  [[nodiscard]] bool is_whole() const noexcept { return b == nullptr; }
  /// The row length of the base's tensor, without further dimensions.
  [[nodiscard]] INGOT_EXPORT std::uint64_t row_elements() const noexcept;
  [[nodiscard]] INGOT_EXPORT std::uint64_t row_count() const noexcept;
};

template <class Visitor>
void describe(Visitor& visit, const LoraChange& change) {
  visit("name", change.name, "", "the tensor of the base");
  visit("rank", change.rank, "", "of the product; 0: the tensor comes whole");
  visit("scale", change.scale, "", "of the product: alpha / rank");
  visit("rows", change.row_count(), "", "of the change");
  visit("columns", change.row_elements(), "", "of the change");
  visit("type", change.a->type, "", "the type of `lora_a`");
}

/// An adapter that has been checked. Valid as long as the model that it was read from.
struct LoraAdapter {
  const Model* model = nullptr;
  std::string_view architecture;  ///< The architecture of the base.
  float alpha = 0.0f;             ///< 0: products are not scaled by it.
  bool is_invoked = false;        ///< It counts only behind certain tokens (aLoRA).
  std::vector<LoraChange> changes;

  /// The factor by which a product is multiplied.
  [[nodiscard]] INGOT_EXPORT double factor(const LoraChange& change, double scale) const noexcept;
};

template <class Visitor>
void describe(Visitor& visit, const LoraAdapter& adapter) {
  visit("architecture", adapter.architecture, "", "of the base");
  visit("alpha", adapter.alpha, "", "0 where the adapter has none");
  visit("needs_invocation", adapter.is_invoked, "",
        "whether it counts only behind certain tokens (aLoRA), and cannot be merged");
  visit("tensors", adapter.changes, "", "the changes, one of each tensor");
}

/// Reads an adapter from an open GGUF file.
/// @return  Errc::adapter_invalid if it is none, or if halves are missing or do not fit together.
///
/// Linear in the tensors.
[[nodiscard]] INGOT_EXPORT Result<LoraAdapter> read_lora(const Model& model);

/// An adapter and how much of it.
struct ScaledLora {
  const LoraAdapter* adapter = nullptr;
  double scale = 1.0;
};

struct LoraMergeOptions {
  /// The type of the changed tensors. Default: the type that each has in the model.
  std::optional<TensorType> type = {};
  unsigned thread_count = 0;  ///< 0: as many as the machine has cores. The bytes are the same.
};

template <class Visitor>
void describe_options(Visitor& visit, LoraMergeOptions& options) {
  visit("type", options.type);
  visit("threads", options.thread_count);
}

/// A change by one of the adapters.
struct LoraTerm {
  const Model* adapter = nullptr;
  const LoraChange* change = nullptr;
  float factor = 0.0f;
};

/// The plan of one tensor.
struct MergedTensor {
  const TensorInfo* source = nullptr;  ///< The tensor in the model.
  TensorType type = TensorType::f32;
  std::vector<LoraTerm> terms = {};  ///< The terms in the order of the adapters; if empty, the
                                     ///< tensor is copied.
};

/// The plan of a model. Valid as long as the model and the adapters.
struct LoraMergePlan {
  std::vector<MergedTensor> tensors;       ///< The tensors in the order of the model.
  std::uint64_t changed_count = 0;         ///< The number of changed tensors.
  std::optional<std::uint32_t> file_type;  ///< If empty, the model's file type stays.
};

/// Finds the tensor of each change and checks everything that can be checked before the work.
///
/// @return  Errc::adapter_mismatch if the model has no such tensor, or one of another shape, or is
///          of another architecture, and for adapters that count only behind certain tokens;
///          Errc::weights_required for types that only an importance matrix makes;
///          Errc::type_does_not_fit; Errc::unsupported_type for tensors of integers;
///          Errc::invalid_argument for a scale that is not finite, or no adapter.
[[nodiscard]] INGOT_EXPORT Result<LoraMergePlan> plan_lora_merge(
    const Model& model, std::span<const ScaledLora> adapters, const LoraMergeOptions& options = {});

/// Receives the bytes of the file that are done; false ends the work with Errc::interrupted.
using LoraProgress = std::function<bool(std::uint64_t done_bytes)>;

/// Writes the merged model as one file, atomically, in the byte order of the model. Tensors are
/// decoded to binary32, changed and encoded; sums run over the ranks in ascending order and over
/// the adapters in theirs, each product and each sum rounded to binary32, so that the bytes are
/// the same for any number of threads. Memory is bounded by a few pieces of 256 Ki elements for
/// each thread.
///
/// @return  Errc::weight_not_finite names the tensor; Errc::same_file if `path` is a file of the
///          model; Errc::already_exists; errors of reading and writing.
[[nodiscard]] INGOT_EXPORT Result<void> merge_lora(const Model& model, const LoraMergePlan& plan,
                                                   const LoraMergeOptions& options,
                                                   const std::string& path, bool replace = false,
                                                   const LoraProgress& progress = {});

/// The size of the file that `merge_lora` writes.
[[nodiscard]] INGOT_EXPORT Result<std::uint64_t> merged_lora_bytes(const Model& model,
                                                                   const LoraMergePlan& plan);

}  // namespace ingot
