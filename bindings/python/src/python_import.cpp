// SPDX-License-Identifier: MIT
// Folders of Hugging Face models.
#include <ingot/import.hpp>
#include <ingot/model_card.hpp>
#include <ingot/split.hpp>

#include "python_facts.hpp"
#include "python_options.hpp"

namespace ingot::python {
namespace {

/// A planned import. Values of its keys that Python has keep it alive.
struct ImportPlan {
  std::unique_ptr<Import> import;
  std::string folder;
};

using PlanPointer = std::shared_ptr<ImportPlan>;

PlanPointer make_import_plan(const py::str& folder, const py::dict& options) {
  const std::string name = to_bytes(folder);
  const auto to = options_from<ImportOptions>(options);
  return std::make_shared<ImportPlan>(ImportPlan{
      run(py::none(), [&](const Report&) { return plan_import(file_system(), name, to); }), name});
}

PlanPointer make_adapter_plan(const py::str& folder, const py::str& base_folder,
                              const py::dict& options) {
  const std::string name = to_bytes(folder);
  const std::string base = to_bytes(base_folder);
  const auto to = options_from<ImportOptions>(options);
  auto import = run(py::none(), [&](const Report&) {
    return plan_adapter_import(file_system(), name, file_system(), base, to);
  });
  return std::make_shared<ImportPlan>(ImportPlan{std::move(import), name});
}

/// Calls `find` for a folder, without the GIL.
template <class Find>
std::optional<std::string> find_in(const py::str& folder, Find find) {
  const std::string name = to_bytes(folder);
  const py::gil_scoped_release release;
  return find(file_system(), name);
}

/// The described members of the keys, each with its value.
py::list import_keys_of(const PlanPointer& self) {
  const std::vector<KeyValue> values = self->import->metadata();
  const py::object owner = py::cast(self);
  py::list rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    py::dict row = facts_of(self->import->keys()[i]);
    row["value"] = to_python(values[i].value, Endian::little, owner);
    rows.append(row);
  }
  return rows;
}

/// The model that the folder would become, which the import makes as it is read.
std::shared_ptr<OpenModel> open_model(const PlanPointer& self) {
  OpenedModel opened{run(py::none(), [&](const Report&) { return self->import->open_model(); })};
  opened.paths = {self->folder};
  return std::make_shared<OpenModel>(OpenModel{self, std::move(opened)});
}

/// The limits are those of `split`, which tells the names of the files.
void write_shards_of(const ImportPlan& self, const py::str& prefix, const SplitLimits& limits,
                     std::optional<std::uint32_t> only, bool may_replace,
                     const py::object& progress) {
  const std::string name = to_bytes(prefix);
  run(progress, [&](const Report& report) -> Result<void> {
    INGOT_TRY(const Model model, self.import->open_model());
    INGOT_TRY(const SplitPlan plan, plan_split(model, limits));
    return self.import->write_shards(plan, name, only, may_replace, report);
  });
}

/// The card value as None, a str, a list or a dict.
py::object card_object(const CardValue& value) {
  switch (value.kind) {
    case CardValue::Kind::null:
      return py::none();
    case CardValue::Kind::text:
      return to_str(value.text);
    case CardValue::Kind::list:
      return list_of(value.items, &card_object);
    case CardValue::Kind::object:
      break;
  }
  py::dict members;
  for (std::size_t i = 0; i < value.names.size(); ++i) {
    members[to_str(value.names[i])] = card_object(value.items[i]);
  }
  return members;
}

py::tuple model_id_parts(const py::str& id, std::int64_t parameter_count) {
  const ModelId parts = parse_model_id(to_bytes(id), parameter_count);
  const auto text = [](const std::optional<std::string>& part) {
    return part ? py::object(to_str(*part)) : py::none();
  };
  return py::make_tuple(to_str(parts.full_name), text(parts.organization), text(parts.basename),
                        text(parts.finetune), text(parts.version), text(parts.size_label));
}

}  // namespace

void add_import(py::module_& module) {
  py::class_<ImportPlan, PlanPointer>(module, "ImportPlan")
      .def(py::init(&make_import_plan))
      .def("keys", &import_keys_of)
      .def("tensors",
           [](const ImportPlan& self) {
             return list_of(self.import->tensors(), &facts_of<ImportedTensor>);
           })
      .def("remarks", [](const ImportPlan& self) { return error_list(self.import->remarks()); })
      .def("type", [](const ImportPlan& self) { return type_name(self.import->type()); })
      .def("file_name", [](const ImportPlan& self) { return to_str(self.import->file_name()); })
      .def("file_bytes", [](const ImportPlan& self) { return take(self.import->file_bytes()); })
      .def("open_model", &open_model)
      .def("write_shards",
           [](const ImportPlan& self, const py::str& prefix, std::uint64_t max_bytes,
              std::uint32_t shards, std::optional<std::uint32_t> only, bool may_replace,
              const py::object& progress) {
             const SplitLimits limits{.max_bytes = max_bytes, .shard_count = shards};
             write_shards_of(self, prefix, limits, only, may_replace, progress);
           })
      .def("write", [](const ImportPlan& self, const py::str& path, bool may_replace,
                       const py::object& progress) {
        const std::string target = to_bytes(path);
        run(progress,
            [&](const Report& report) { return self.import->write(target, may_replace, report); });
      });
  module.def("parse_model_card", [](const py::object& text, const py::str& file) {
    return card_object(take(parse_model_card(text_from(text), to_bytes(file))));
  });
  module.def("parse_model_id", &model_id_parts);
  module.def("model_title",
             [](const py::str& name) { return to_str(model_title(to_bytes(name))); });
  module.def("plan_adapter_import", &make_adapter_plan);
  module.def("find_importable_class",
             [](const py::str& folder) { return find_in(folder, find_importable_class); });
  module.def("find_adapter_base",
             [](const py::str& folder) { return find_in(folder, find_adapter_base); });
}

}  // namespace ingot::python
