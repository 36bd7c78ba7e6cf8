// SPDX-License-Identifier: MIT
// A part of an evaluation, as a file that `evaluate --join` reads.
#pragma once

#include <cstdint>
#include <ingot/embeddings.hpp>
#include <ingot/evaluate.hpp>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cli/json_stream.hpp"

namespace ingot::cli {

struct EvaluationPart {
  std::uint64_t number = 0;  ///< Counted from 1.
  std::uint64_t count = 0;
  std::string basis;      ///< basis_of the work that it is a part of.
  Evaluation found = {};  ///< The figures of its chunks and tokens; no means.
  /// Of embedding models, the base first; they have no figures.
  std::vector<Embeddings> models = {};
};

void write_evaluation_part(JsonStream& json, const EvaluationPart& part);

/// The error is one line that says what is wrong with the file.
[[nodiscard]] tl::expected<EvaluationPart, std::string> read_evaluation_part(
    const std::string& path);

}  // namespace ingot::cli
