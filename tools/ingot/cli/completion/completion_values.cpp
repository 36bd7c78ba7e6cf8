// SPDX-License-Identifier: MIT
#include "cli/completion/completion_values.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <ingot/check.hpp>
#include <ingot/estimate.hpp>
#include <ingot/metadata_keys.hpp>
#include <ingot/model.hpp>
#include <ingot/recipe.hpp>
#include <optional>
#include <span>

namespace ingot::cli {
namespace {

struct Row {
  std::string_view name;
  ValueKind kind;
};

// Values of all other names cannot be guessed.
constexpr std::array rows = {
    Row{"FILE", ValueKind::file},      Row{"OUT", ValueKind::file},
    Row{"MODEL", ValueKind::file},     Row{"IN", ValueKind::file},
    Row{"A", ValueKind::file},         Row{"B", ValueKind::file},
    Row{"SHARD", ValueKind::file},     Row{"PREFIX", ValueKind::file},
    Row{"PATH", ValueKind::file},      Row{"MANIFEST", ValueKind::file},
    Row{"DIR", ValueKind::file},       Row{"REF", ValueKind::file},
    Row{"KEY", ValueKind::key},        Row{"KEY-GLOB", ValueKind::key},
    Row{"TENSOR", ValueKind::tensor},  Row{"NAME-GLOB", ValueKind::tensor},
    Row{"RULE", ValueKind::rule},      Row{"COMMAND", ValueKind::command},
    Row{"DEVICES", ValueKind::device},
};

/// The names of rows and their meanings.
template <class Named>
std::vector<Candidate> candidates_of(std::span<const Named> table,
                                     std::string_view Named::*meaning) {
  std::vector<Candidate> found;
  for (const Named& row : table)
    found.push_back({std::string(row.name), std::string(row.*meaning)});
  return found;
}

std::vector<Candidate> mixtures() { return candidates_of(recipes(), &Recipe::description); }

std::vector<Candidate> tensor_types() {
  std::vector<Candidate> found;
  for (const TensorTypeInfo& type : live_tensor_types) {
    if (is_quantize_target(type.type)) found.push_back({std::string(type.name), {}});
  }
  return found;
}

std::vector<Candidate> rules() { return candidates_of(check_rules(), &CheckRule::title); }

/// A model on this system; a pipe would be waited for, and a server is not asked.
std::optional<Model> open_local(std::string path) {
  const char* const home = std::getenv("HOME");
  if (path.starts_with("~/") && home != nullptr) path.replace(0, 1, home);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  Result<Model> model =
      Model::open(path, {.access = FileAccess::read, .is_lenient = true, .is_header_only = true});
  if (!model) return std::nullopt;
  return std::move(*model);
}

std::vector<Candidate> keys_of(const std::optional<Model>& model) {
  std::vector<Candidate> found;
  if (model) {
    for (const KeyValue& pair : model->metadata()) {
      found.push_back({std::string(pair.key), std::string(name_of(pair.value.type()))});
    }
    return found;
  }
  for (const MetadataKeyInfo& key : standard_keys) {
    if (!key.has_architecture) found.push_back({std::string(key.name), std::string(key.meaning)});
  }
  return found;
}

std::vector<Candidate> tensors_of(const std::optional<Model>& model) {
  std::vector<Candidate> found;
  if (!model) return found;
  for (const TensorInfo& tensor : model->tensors()) {
    const TensorTypeInfo* type = find_type(tensor.type);
    found.push_back(
        {std::string(tensor.name), type == nullptr ? std::string() : std::string(type->name)});
  }
  return found;
}

}  // namespace

ValueKind kind_of_value(std::string_view name, bool is_argument) {
  if (name == "TYPE") return is_argument ? ValueKind::mixture : ValueKind::tensor_type;
  const auto* row = std::ranges::find(rows, name, &Row::name);
  return row == rows.end() ? ValueKind::other : row->kind;
}

std::vector<Candidate> candidates_of(ValueKind kind, const std::string& file) {
  if (kind == ValueKind::mixture) return mixtures();
  if (kind == ValueKind::tensor_type) return tensor_types();
  if (kind == ValueKind::key) return keys_of(open_local(file));
  if (kind == ValueKind::tensor) return tensors_of(open_local(file));
  if (kind == ValueKind::device) return candidates_of(device_models(), &DeviceModel::label);
  return kind == ValueKind::rule ? rules() : std::vector<Candidate>();
}

}  // namespace ingot::cli
