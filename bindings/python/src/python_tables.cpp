// SPDX-License-Identifier: MIT
// The tables of the library: each fact is read from where it is written.
#include <ingot/architectures.hpp>
#include <ingot/check.hpp>
#include <ingot/digest.hpp>
#include <ingot/estimate.hpp>
#include <ingot/metadata_keys.hpp>
#include <ingot/recipe.hpp>
#include <ingot/shard_name.hpp>
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <ingot/types.hpp>

#include "python_facts.hpp"

namespace ingot::python {
namespace {

py::list value_types() {
  py::list rows;
#define INGOT_VALUE_TYPE(id, enumerator, constant, name, bytes) \
  rows.append(py::make_tuple(name, id, #constant, bytes));
#include <ingot/value_types.def>
#undef INGOT_VALUE_TYPE
  return rows;
}

py::list file_type_rows() {
  return list_of(file_types, [](const FileTypeInfo& type) {
    return py::make_tuple(std::string(type.name), type.number, type_name(type.weights));
  });
}

py::list recipe_rows() {
  return list_of(recipes(), [](const Recipe& recipe) {
    return py::make_tuple(std::string(recipe.name), std::string(recipe.description));
  });
}

py::list device_rows() {
  return list_of(device_models(), [](const DeviceModel& device) {
    return py::make_tuple(std::string(device.name), std::string(device.label), device.memory_bytes,
                          device.usable_bytes, device.bandwidth);
  });
}

/// Key or suffix, whether the architecture goes before it, the usual value type, the meaning.
py::list key_rows() {
  return list_of(standard_keys, [](const MetadataKeyInfo& key) {
    const KeyType type = usual_type(key.form);
    const std::string name(name_of(type.type));
    return py::make_tuple(std::string(key.name), key.has_architecture,
                          type.is_array ? "[" + name + "]" : name, std::string(key.meaning));
  });
}

/// The type of a new value of a standard key; empty for any other key.
std::string usual_type_of(const py::str& key, const std::string& architecture, bool wants_array) {
  const MetadataKeyInfo* info = find_key(to_bytes(key), architecture);
  if (info == nullptr) return {};
  const KeyType type = usual_type(info->form, wants_array);
  const std::string name(name_of(type.type));
  return type.is_array ? "[" + name + "]" : name;
}

/// What Ingot can do with each architecture.
py::list architectures() {
  return list_of(architecture_names(), [](std::string_view name) {
    FactDict row;
    describe_abilities(row, *find_architecture(name));
    return row.facts;
  });
}

py::object architecture(const py::str& name) {
  const Architecture* row = find_architecture(to_bytes(name));
  return row == nullptr ? py::object(py::none()) : facts_of(*row);
}

}  // namespace

void add_tables(py::module_& module) {
  module.attr("tensor_types") = list_of(live_tensor_types, &facts_of<TensorTypeInfo>);
  module.attr("value_types") = value_types();
  module.attr("file_types") = file_type_rows();
  module.attr("digest_algorithms") = list_of(digest_algorithms, &DigestAlgorithmInfo::name);
  module.attr("file_formats") = list_of(file_formats, &FileFormatInfo::name);
  module.def("recipes", &recipe_rows);
  module.def("architectures", &architectures);
  module.def("architecture", &architecture);
  module.def("check_rules", [] { return list_of(check_rules(), &facts_of<CheckRule>); });
  module.def("device_models", &device_rows);
  module.def("this_machine", [] { return facts_of(find_this_machine()); });
  module.def("standard_keys", &key_rows);
  module.def("usual_type", &usual_type_of);
  module.def("file_type_of", [](const std::string& type) { return file_type_of(type_from(type)); });
  module.def("escape", [](const py::str& text) { return escape(to_bytes(text)); });
  module.def("format_bytes", &format_bytes);
  module.def("format_count", &format_count);
  module.def("shard_file_name",
             [](const py::str& prefix, std::uint32_t index, std::uint32_t count) {
               return to_str(shard_file_name(to_bytes(prefix), index, count));
             });
  module.def("parse_shard_name", [](const py::str& path) -> py::object {
    const std::optional<ShardName> name = parse_shard_name(to_bytes(path));
    if (!name) return py::none();
    return py::make_tuple(to_str(name->prefix), name->index, name->count);
  });
}

}  // namespace ingot::python
