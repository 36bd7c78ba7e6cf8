// SPDX-License-Identifier: MIT
// Published lists of digests, and comparing models with them (target ingot::convert).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/model_digests.hpp"

namespace ingot {

struct NamedDigests {
  std::string name;
  DigestSet digests;
};

/// One model in a manifest.
struct ManifestEntry {
  std::string file;                   ///< The name in the manifest; do not trust it as a path.
  DigestSet digests;                  ///< The digests of the file.
  DigestSet weights;                  ///< See ModelDigests.
  std::string uuid;                   ///< See ModelDigests; lower case.
  std::vector<NamedDigests> shards;   ///< Files of a set; named like `file`.
  std::vector<NamedDigests> tensors;  ///< The tensors in the order of the manifest; each name once.
};

/// Reads a manifest of any known form, which it recognises:
/// - what `ingot hash --json` prints (docs/json.md), or an array of such;
/// - what llama-gguf-hash prints: algorithm, digits, FILE or FILE:TENSOR; unknown algorithms are
///   skipped;
/// - what sha256sum and sha1sum print: digits, FILE.
///
/// @return  the models in the order of their first line. Errc::manifest_invalid if the text is none
///          of these, has digests of the wrong length, or two different digests for one tensor.
///
/// Linear in the text; memory is a small multiple of it. The text may be hostile.
[[nodiscard]] INGOT_EXPORT Result<std::vector<ManifestEntry>> parse_digest_manifest(
    std::string_view text);

/// The digests to compute to verify an entry: the strongest algorithm that it has of each kind of
/// thing. If `algorithms` is not empty, these instead.
[[nodiscard]] INGOT_EXPORT DigestRequest
request_for(const ManifestEntry& entry, const std::vector<DigestAlgorithm>& algorithms = {});

struct DigestMismatch {
  enum class Kind : std::uint8_t { file, tensor, weights, uuid };

  Kind kind = Kind::file;
  std::string name;       ///< The name of the file or tensor; raw bytes, not escaped.
  std::string algorithm;  ///< Empty if the whole file or tensor is missing.
  std::string expected;   ///< The digest in the manifest; empty if the manifest lacks the file or
                          ///< tensor.
  std::string found;      ///< The digest of the model; empty if the model lacks the file or tensor.
};

/// "file", "tensor", "weights", "uuid"
[[nodiscard]] INGOT_EXPORT std::string_view name_of(DigestMismatch::Kind kind) noexcept;

template <class Visitor>
void describe(Visitor& visit, const DigestMismatch& mismatch) {
  const bool is_whole = mismatch.algorithm.empty();
  const auto digest = [&](std::string_view digits) { return text_if_any(is_whole ? "" : digits); };
  visit("kind", mismatch.kind, "",
        "file, tensor, weights (all of them, as llama-gguf-hash has it) or uuid");
  visit("name", mismatch.name, "", "of the file or tensor");
  visit("algorithm", text_if_any(mismatch.algorithm), "", "of the digests; null for no digest");
  visit("expected", digest(mismatch.expected), "", "the digest of the manifest");
  visit("found", digest(mismatch.found), "", "the digest of the model");
  visit("problem",
        std::string_view(!is_whole                ? "differs"
                         : mismatch.found.empty() ? "missing"
                                                  : "unexpected"),
        "", "differs, missing (from the model) or unexpected (not in the manifest)");
}

/// Everything in which a model differs from an entry, as far as both have digests by the same
/// algorithm; a tensor or shard that only one of them has is a mismatch too. Linear.
///
/// @param compared_count  if not null, receives the number of compared pairs of digests: without
///                        any, nothing was verified.
[[nodiscard]] INGOT_EXPORT std::vector<DigestMismatch> find_mismatches(
    const ManifestEntry& entry, const Model& model, const ModelDigests& digests,
    std::uint64_t* compared_count = nullptr);

}  // namespace ingot
