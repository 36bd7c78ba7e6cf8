// SPDX-License-Identifier: MIT
// Rules about the tensor table: names, types, shapes, and which tensors there are.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "base/messages.hpp"
#include "base/strings.hpp"
#include "check/case_collisions.hpp"
#include "check/rules.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"
#include "model/open/model_header.hpp"

namespace ingot::check::rules {
namespace {

/// Splits at a separator and calls use(part) until it returns false; whether all did.
template <class Use>
bool all_parts(std::string_view text, char separator, const Use& use) {
  while (!text.empty()) {
    const std::string_view part = take_part(text, separator);
    if (!part.empty() && !use(part)) return false;
  }
  return true;
}

constexpr bool is_plain_in_name(char c) noexcept {
  return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == '/' || c == ':' ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// Whether a file of this name is a device, whatever the folder, on Windows.
bool is_device_name(std::string_view part) {
  const std::string name = lower_case(part);
  if (name == "con" || name == "prn" || name == "aux" || name == "nul") return true;
  const bool is_port = name.starts_with("com") || name.starts_with("lpt");
  return is_port && name.size() == 4 && name[3] >= '0' && name[3] <= '9';
}

/// The flaw of a name that a careless program would use as a path, a format or a command;
/// empty if nothing.
std::string problem_of_name(std::string_view name) {
  if (escape(name) != name) return "it holds control or invisible characters, or a backslash";
  if (!std::ranges::all_of(name, is_plain_in_name)) {
    return "it holds characters that mean something to a shell, a format or a page";
  }
  if (name.starts_with('/') || (name.size() > 1 && name[1] == ':')) return "it is a path";
  if (name.starts_with('-')) return "it looks like an option";
  const bool is_path =
      !all_parts(name, '/', [](std::string_view part) { return part != "." && part != ".."; });
  if (is_path) return "it is a path";
  const bool is_device =
      !all_parts(name, '/', [](std::string_view part) { return !is_device_name(part); });
  if (is_device) return "it is a device on Windows";
  return {};
}

std::string shape_text(std::span<const std::uint64_t> shape) { return "[" + joined(shape) + "]"; }

/// A shape without dimensions of 1 at its end.
std::vector<std::uint64_t> trimmed(std::span<const std::uint64_t> shape) {
  while (!shape.empty() && shape.back() == 1) shape = shape.first(shape.size() - 1);
  return {shape.begin(), shape.end()};
}

/// The most layers that the engine loads.
constexpr std::uint64_t most_layers = 512;

/// Calls use(tensors that the engine looks for) for the model, and for each of its layers.
template <class Use>
void for_each_expectation(const Inspection& inspection, const Use& use) {
  const Architecture* architecture = inspection.row();
  // A vocabulary has none.
  const bool may_be_vocabulary = architecture == nullptr || architecture->file_kind == "model";
  if (architecture == nullptr || (may_be_vocabulary && !inspection.has_layers())) return;
  const ModelHeader header(inspection.model());
  use(expected_tensors(*architecture, header, {}));
  const std::uint64_t layers =
      std::min(layers_of(*architecture, header).value_or(inspection.layer_count()), most_layers);
  for (std::uint64_t layer = 0; layer < layers; ++layer) {
    use(expected_tensors(*architecture, header, layer));
  }
}

bool fits(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> expected) {
  for (std::size_t i = 0; i < std::max(shape.size(), expected.size()); ++i) {
    const std::uint64_t is = i < shape.size() ? shape[i] : 1;
    const std::uint64_t should_be = i < expected.size() ? expected[i] : 1;
    if (should_be != 0 && is != should_be) return false;
  }
  return true;
}

/// "[64, ?]"
std::string expected_text(std::span<const std::uint64_t> expected) {
  std::string text = shape_text(expected);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != 0) continue;
    const std::size_t at = text.find(i == 0 ? "[0" : " 0");
    if (at != std::string::npos) text[at + 1] = '?';
  }
  return text;
}

template <class Use>
void for_each_tensor(const Inspection& inspection, const Use& use) {
  for (const TensorInfo& tensor : inspection.model().tensors()) use(tensor);
}

/// The name with {i} for each part between dots that is a number: of a layer, or of an expert.
std::string without_numbers(std::string_view name) {
  std::string text;
  for (bool is_last = false; !is_last;) {
    is_last = name.find('.') == name.npos;
    const std::string_view part = take_part(name, '.');
    const bool is_number = !part.empty() && std::ranges::all_of(part, is_digit);
    text.append(is_number ? "{i}" : part).append(is_last ? "" : ".");
  }
  return text;
}

/// Whether an engine takes the tensor only as F32: what it adds to or multiplies with activations.
/// By name, as in the engine; the embeddings and the output may have one row.
bool is_wanted_as_f32(const TensorInfo& tensor) {
  const std::string_view name = tensor.name;
  if (name.ends_with(".bias") || name.ends_with("_norm.weight")) return true;
  if (name == "token_embd.weight" || name == "output.weight") return false;
  const bool is_of_engine = name.ends_with(".weight") || parse_layer_name(name).has_value();
  return is_of_engine && trimmed(tensor.shape).size() < 2;
}

}  // namespace

void vector_not_f32(Inspection& inspection) {
  if (!inspection.is_model()) return;
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    const TensorTypeInfo* type = find_type(tensor.type);
    if (type == nullptr || tensor.type == TensorType::f32 || is_integer(tensor.type)) return;
    if (tensor.element_count == 0 || !is_wanted_as_f32(tensor)) return;
    inspection.report_tensor(tensor, "it is " + std::string(type->name));
  });
}

void tensor_name_unsafe(Inspection& inspection) {
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    std::string problem = problem_of_name(tensor.name);
    if (!problem.empty()) inspection.report_tensor(tensor, std::move(problem));
  });
}

void tensor_name_empty(Inspection& inspection) {
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    if (tensor.name.empty()) inspection.report_tensor(tensor, "a tensor has an empty name");
  });
}

void tensor_name_long(Inspection& inspection) {
  constexpr std::size_t max_bytes = 63;  // GGML_MAX_NAME is 64, with a NUL at the end
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    if (tensor.name.size() <= max_bytes) return;
    inspection.report_tensor(tensor,
                             "the name has " + std::to_string(tensor.name.size()) + " bytes");
  });
}

void tensor_case_collision(Inspection& inspection) {
  const Model& model = inspection.model();
  std::vector<std::string_view> names;
  for_each_tensor(inspection, [&](const TensorInfo& tensor) { names.push_back(tensor.name); });
  find_case_collisions(
      names, [&](std::string_view name) { return model.find_tensor(name) != nullptr; },
      [&](std::string_view name, std::string_view other) {
        inspection.report_tensor(*model.find_tensor(name),
                                 "there is " + quoted_name(other) + ", too");
      });
}

void tensor_no_dimensions(Inspection& inspection) {
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    if (tensor.shape.empty()) inspection.report_tensor(tensor, "it has no dimensions");
  });
}

void tensor_no_elements(Inspection& inspection) {
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    if (std::ranges::find(tensor.shape, 0u) == tensor.shape.end()) return;
    inspection.report_tensor(tensor, "its shape is " + shape_text(tensor.shape));
  });
}

void tensor_many_dimensions(Inspection& inspection) {
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    if (tensor.shape.size() <= 4) return;
    inspection.report_tensor(tensor, std::to_string(tensor.shape.size()) + " dimensions");
  });
}

void tensor_type_recent(Inspection& inspection) {
  std::set<TensorType> seen;
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    const TensorTypeInfo* type = find_type(tensor.type);
    // Types were numbered in the order in which they came; MXFP4 came in August 2025.
    if (type == nullptr || tensor.type < TensorType::mxfp4 || !seen.insert(tensor.type).second) {
      return;
    }
    inspection.report_tensor(tensor, "it is " + std::string(type->name));
  });
}

void tensor_type_internal(Inspection& inspection) {
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    if (tensor.type != TensorType::q8_1 && tensor.type != TensorType::q8_k) return;
    inspection.report_tensor(tensor, "it is " + std::string(find_type(tensor.type)->name));
  });
}

void tensor_type_opaque(Inspection& inspection) {
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    if (find_type(tensor.type) != nullptr) return;
    inspection.report_tensor(
        tensor, "its type is " + std::to_string(static_cast<std::uint32_t>(tensor.type)));
  });
}

void tensor_missing(Inspection& inspection) {
  if (inspection.is_incomplete()) return;  // they may be elsewhere
  const Architecture* row = inspection.row();
  if (row != nullptr && inspection.model().tensors().empty()) {
    return inspection.report_model("it has no tensors, so that nothing is projected");
  }
  for_each_expectation(inspection, [&](const std::vector<ExpectedTensor>& tensors) {
    std::string missing;
    for (const ExpectedTensor& tensor : tensors) {
      if (!tensor.is_required || inspection.model().find_tensor(tensor.name) != nullptr) continue;
      missing += (missing.empty() ? "" : ", ") + tensor.name;
    }
    if (!missing.empty()) inspection.report_model("missing: " + missing);
  });
}

void tensor_extra_layer(Inspection& inspection) {
  const auto layers = inspection.own_number(suffixes::block_count);
  if (!layers || find_architecture(inspection.architecture()) == nullptr) return;
  const auto tensors = inspection.model().tensors();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> beyond;  // layers of up to 9 digits, tensors
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    const auto name = parse_layer_name(tensors[i].name);
    if (name && name->layer >= *layers) {
      beyond.emplace_back(static_cast<std::uint32_t>(name->layer), i);
    }
  }
  std::ranges::sort(beyond);
  const auto is_same = [](const auto& a, const auto& b) { return a.first == b.first; };
  beyond.erase(std::unique(beyond.begin(), beyond.end(), is_same), beyond.end());
  const std::string message =
      inspection.own_key(suffixes::block_count) + " is " + std::to_string(*layers);
  for (const auto& [layer, tensor] : beyond) inspection.report_tensor(tensors[tensor], message);
}

void tensor_unknown(Inspection& inspection) {
  const Architecture* row = inspection.row();
  // The engine counts the tensors of models, not those of projectors.
  if (row == nullptr || row->file_kind != "model" || !row->is_described()) return;
  if (!inspection.has_layers()) return;
  // Names alone: what the row says of one under other conditions may hold in other engines.
  std::set<std::string> known;
  for (const ArchitectureTensor& tensor : row->tensors) known.insert(without_numbers(tensor.name));
  for_each_tensor(inspection, [&](const TensorInfo& tensor) {
    std::string name = without_numbers(tensor.name);
    // Every weight may have scales beside it, as those of NVFP4 do.
    for (const std::string_view suffix : {".input_scale", ".scale"}) {
      if (!name.ends_with(suffix)) continue;
      name.replace(name.size() - suffix.size(), suffix.size(), ".weight");
      break;
    }
    if (known.contains(name)) return;
    inspection.report_tensor(tensor, "the architecture " + row->name + " has no such tensor");
  });
}

void tensor_shape(Inspection& inspection) {
  for_each_expectation(inspection, [&](const std::vector<ExpectedTensor>& tensors) {
    for (const ExpectedTensor& expected : tensors) {
      const TensorInfo* tensor = inspection.model().find_tensor(expected.name);
      if (tensor == nullptr || fits(trimmed(tensor->shape), expected.shape)) continue;
      inspection.report_tensor(*tensor, "shape is " + shape_text(tensor->shape) +
                                            "; the metadata implies " +
                                            expected_text(expected.shape));
    }
  });
}

}  // namespace ingot::check::rules
