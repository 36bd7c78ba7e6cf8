// SPDX-License-Identifier: MIT
#include "python_options.hpp"

#include <ingot/evaluate.hpp>
#include <ingot/folder_export.hpp>
#include <ingot/import_options.hpp>
#include <ingot/lora.hpp>
#include <ingot/quantize_model.hpp>

namespace ingot::python {
namespace {

/// The names of the options of a function.
template <class Options>
py::list option_names() {
  py::list names;
  const auto add = [&](const char* name, auto&) { names.append(name); };
  Options options;
  describe_options(add, options);
  return names;
}

}  // namespace

void OptionSetter::refuse_word(const std::string& word, std::string detail) {
  throw Failed{Error{Errc::invalid_argument, Error::no_offset, word, std::move(detail)}};
}

void OptionSetter::set(const char*, const py::handle& value, std::optional<std::uint64_t>& target) {
  if (!py::isinstance<py::str>(value)) {
    target = py::cast<std::uint64_t>(value);
    return;
  }
  const auto text = py::cast<std::string>(value);
  target = parse_memory_size(text);
  if (!target) refuse_word(text, "a size such as 64G is meant");
}

void OptionSetter::set(const char*, const py::handle& value, std::vector<Device>& target) {
  for (const std::string& device : py::cast<std::vector<std::string>>(value)) {
    if (device != "auto") {
      target.push_back(take(parse_device(device)));
      continue;
    }
    for (Device& own : find_this_machine().devices) target.push_back(std::move(own));
  }
}

void OptionSetter::set(const char*, const py::handle& value, std::vector<TypePattern>& target) {
  for (const auto& [pattern, type] : py::cast<py::dict>(value)) {
    target.push_back({py::cast<std::string>(pattern), type_from(py::cast<std::string>(type))});
  }
}

void OptionSetter::set(const char*, const py::handle& value, const Recipe*& target) {
  const auto name = py::cast<std::string>(value);
  target = find_recipe(std::string_view(name));
  if (target != nullptr) return;
  const py::object hint = py::module_::import("ingot._names").attr("hint");
  const auto near = py::cast<std::string>(hint(name, list_of(recipes(), &Recipe::name)));
  refuse_word(name, "no recipe of this name" + near + "; recipes() lists them");
}

void OptionSetter::set(const char*, const py::handle& value, RenameTensors& target) {
  const auto word = py::cast<std::string>(value);
  if (word == "hf") {
    target = rename_as_in_folders;
  } else if (word != "keep") {
    refuse_word(word, "names is one of keep, hf");
  }
}

void add_options(py::module_& module) {
  py::dict names;
  names["collect_importance"] = option_names<ImportanceOptions>();
  names["convert"] = option_names<ConvertOptions>();
  names["evaluate"] = option_names<EvaluationOptions>();
  names["export_folder"] = option_names<FolderExportOptions>();
  names["fit"] = option_names<RunOptions>();
  names["merge_lora"] = option_names<LoraMergeOptions>();
  names["plan_import"] = option_names<ImportOptions>();
  names["plan_quantization"] = option_names<QuantizeModelOptions>();
  module.attr("option_names") = names;
  module.attr("limit_names") = option_names<Limits>();
}

}  // namespace ingot::python
