// SPDX-License-Identifier: MIT
// The data of `ingot report`: one JSON document, which the page draws.
#pragma once

#include <ingot/model.hpp>
#include <ingot/tensor_profile.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"

namespace ingot::cli {

/// The content of a report. Everything is borrowed.
struct ReportData {
  const std::string& file;
  const Model& model;
  const ForeignFile* foreign = nullptr;  ///< Set if the file is of another format than GGUF.
  const std::string* reference_file = nullptr;
  const Model* reference = nullptr;
  /// The profiles by position in `model.tensors()`; nullptr if the weights were not read.
  std::vector<const TensorProfile*> profiles;
  bool shows_all_keys = false;
  std::vector<std::string> notices;  ///< Remarks for the reader; safe to print.
};

void write_report_data(JsonStream& json, const ReportData& report);

/// JSON that can stand in a <script> element of a page: `<` is written as \u003c. In JSON it can
/// only be inside of a string, so pieces of a document may be converted one by one.
[[nodiscard]] std::string json_for_html(std::string_view json);

}  // namespace ingot::cli
