// SPDX-License-Identifier: MIT
#include "commands/convert/import_folder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <ingot/interop.hpp>
#include <ingot/shard_name.hpp>
#include <ingot/split.hpp>
#include <ingot/text.hpp>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/imported_folder.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "commands/output_name.hpp"
#include "text/error_json.hpp"
#include "text/shard_part.hpp"
#include "text/value_text.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr std::size_t value_columns = 40;

/// The path of the output: OUT, or in the folder OUT the name that the model suggests.
std::string path_of(const FolderConversion& conversion, const Import& import) {
  if (is_output_folder(conversion.out)) {
    return (std::filesystem::path(conversion.out) / import.file_name()).generic_string();
  }
  const std::string type(find_type(import.type())->name);
  const std::string suggested = prefix_of(import.file_name());
  const bool ends_with_type = suggested.ends_with("-" + type);
  return output_path(conversion.out,
                     suggested.substr(0, suggested.size() - (ends_with_type ? type.size() + 1 : 0)),
                     type);
}

/// The type of the weights before the import; that after it if they cannot be opened without.
TensorType source_type(const FolderPlace& place, const Import& import) {
  const Result<OpenedModel> weights = open_any(*place.store, place.path);
  return weights ? main_type(weights->model) : import.type();
}

std::string join(const std::vector<std::string>& names) {
  if (names.empty()) return "-";
  if (names.size() == 1) return names.front();
  return names.front() + " and " + std::to_string(names.size() - 1) + " more";
}

/// The largest error of a value; "-" if there is none.
std::string largest_error_text(const ImportedTensor& tensor) {
  if (tensor.exact.value_or(true)) return "-";
  return tensor.max_error ? fmt::format("{:.3g}", *tensor.max_error) : "unknown";
}

void print_plan(Console& console, const Import& import) {
  const std::vector<KeyValue> values = import.metadata();
  const Column key_columns[] = {{"KEY"}, {"VALUE"}, {"FROM"}};
  print_table(console, key_columns, values.size(), [&](std::size_t row, auto cells) {
    cells[0] = std::string(values[row].key);
    cells[1] = short_value_text(values[row].value, value_columns);
    cells[2] = import.keys()[row].origin;
  });
  console.out().print("\n");
  std::vector<Column> tensor_columns = {{"TENSOR"},    {"TYPE"}, {"SHAPE"}, {"BYTES", Align::right},
                                        {"TRANSFORM"}, {"FROM"}};
  const bool has_errors = std::ranges::any_of(
      import.tensors(), [](const ImportedTensor& tensor) { return tensor.exact.has_value(); });
  if (has_errors) tensor_columns.push_back({"LARGEST ERROR"});
  print_table(console, tensor_columns, import.tensors().size(), [&](std::size_t row, auto cells) {
    const ImportedTensor& tensor = import.tensors()[row];
    cells[0] = tensor.name;
    cells[1] = type_text(tensor.type);
    cells[2] = shape_text(tensor.shape);
    cells[3] = std::to_string(tensor.size_bytes);
    cells[4] = tensor.transform.empty() ? "-" : tensor.transform;
    cells[5] = join(tensor.sources);
    if (has_errors) cells[6] = largest_error_text(tensor);
  });
}

/// The files to write.
struct Outputs {
  std::optional<SplitPlan> plan = {};  ///< Without a plan there is one file.
  std::string prefix = {};             ///< The prefix of the shards.
  std::optional<std::uint32_t> only = {};
  std::vector<std::string> paths = {};
  std::uint64_t bytes = 0;
};

/// A model of the folder, and where it goes.
struct PlannedFile {
  std::unique_ptr<Import> import;
  Outputs outputs;
};

Result<Outputs> plan_outputs(const FolderConversion& conversion, const ConvertOptions& convert,
                             const Import& import) {
  Outputs outputs;
  const std::string path = path_of(conversion, import);
  const auto part = parse_shard_part(conversion.shard);
  if (!part && convert.max_file_bytes == 0) {
    outputs.paths.push_back(path);
    INGOT_TRY(outputs.bytes, import.file_bytes());
    return outputs;
  }
  INGOT_TRY(const Model model, import.open_model());
  INGOT_TRY(outputs.plan, plan_split(model, {.max_bytes = convert.max_file_bytes,
                                             .shard_count = part ? part->count : 0}));
  outputs.prefix = prefix_of(path);
  if (part) outputs.only = part->index;
  const auto count = static_cast<std::uint32_t>(outputs.plan->shards.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (outputs.only.value_or(i) != i) continue;
    outputs.paths.push_back(shard_file_name(outputs.prefix, i, count));
    outputs.bytes += outputs.plan->shards[i].file_bytes;
  }
  return outputs;
}

ExitCode write_outputs(const FolderConversion& conversion, const ConvertOptions& convert,
                       const Import& import, const Outputs& outputs, Console& console) {
  for (const std::string& path : outputs.paths) {
    if (!is_file_of_folder(conversion.in, path)) continue;
    return console.fail(path, {Errc::same_file, Error::no_offset, path, {}});
  }
  const std::string& label = outputs.paths.front();
  const Result<void> result =
      run_with_progress(console, label, outputs.bytes, [&](const GoOn& go_on) {
        return outputs.plan ? import.write_shards(*outputs.plan, outputs.prefix, outputs.only,
                                                  convert.replace, go_on)
                            : import.write(label, convert.replace, go_on);
      });
  if (result) return ExitCode::done;
  const bool is_output = result.error().code == Errc::already_exists;
  return console.fail(is_output ? label : conversion.in, result.error());
}

void write_json(JsonStream& json, const PlannedFile& file, bool only_plan) {
  json.values("outputs", file.outputs.paths);
  write_messages_json(json, "warnings", {});
  write_messages_json(json, "notes", file.import->remarks());
  json.member("type", find_type(file.import->type())->name);
  json.member("bytes", file.outputs.bytes);
  if (!only_plan) return;
  const auto write = [&](const auto& part) { write_members(json, part); };
  json.objects("keys", file.import->keys(), write);
  json.objects("tensors", file.import->tensors(), write);
}

void print_json(Console& console, const std::vector<PlannedFile>& files,
                const FolderConversion& conversion) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("file", conversion.in);
  json.member("format", name_of(FileFormat::gguf));
  write_json(json, files.front(), conversion.only_plan);
  if (files.size() == 1) return;
  const auto projector = json.object("mmproj");
  write_json(json, files.back(), conversion.only_plan);
}

/// A note on tensors that neither the model nor its projector is made of, such as those of a voice.
void note_left_out(Console& console, const std::string& folder,
                   const std::vector<PlannedFile>& files) {
  if (files.size() == 1) return;
  const std::vector<std::string>& of_projector = files.back().import->left_out();
  std::map<std::string, std::uint64_t> counts;
  for (const std::string& name : files.front().import->left_out()) {
    if (std::ranges::count(of_projector, name) == 0) continue;
    // Whole models have "model." in front of all that they hold.
    const std::size_t first = name.starts_with("model.") ? name.find('.') + 1 : 0;
    ++counts[name.substr(0, name.find('.', first))];
  }
  std::string parts;
  for (const auto& [part, count] : counts) {
    parts += (parts.empty() ? "" : ", ") + escape(part) + ": " + counted(count, "tensor");
  }
  if (!parts.empty()) console.remark(folder, "note: in neither file: " + parts);
}

/// The fault in --base; empty if there is none. `named` is the name of the base if the folder holds
/// an adapter.
std::string find_wrong_base(const FolderConversion& conversion, const FolderPlace& place,
                            const std::optional<std::string>& named) {
  if (!named) return conversion.base.empty() ? "" : "--base is for adapters";
  if (!conversion.base.empty() || place.has("config.json")) return {};
  return "an adapter is converted by the config.json of its base" +
         (named->empty() ? std::string() : ", " + escape(*named)) + "; name its folder with --base";
}

/// Whether weights of a type of floats lose digits in another type.
bool loses(TensorType from, TensorType to) {
  const auto digits = [](TensorType type) {
    return type == TensorType::f64                               ? 3
           : type == TensorType::f32                             ? 2
           : type == TensorType::f16 || type == TensorType::bf16 ? 1
                                                                 : 0;
  };
  return from != to && digits(from) > 0 && (digits(to) < 2 || digits(to) < digits(from));
}

}  // namespace

void add_folder_options(CLI::App& command, FolderConversion& conversion) {
  ImportOptions& import = conversion.import;
  add_switch(command, "--dry-run,--plan", conversion.only_plan,
             "Model folders: show keys and tensors with their origins, write nothing");
  add_text(command, "--shard", conversion.shard, "I/N",
           "Model folders: write only the I-th of N shards; the others can be made elsewhere");
  add_text(command, "--pre", import.pre, "NAME",
           "Model folders: pre-tokenizer; default: by the tokenizer");
  add_switch(command, "--as-reference", import.as_reference,
             "Model folders: as the reference converter, with its known defects");
  add_switch(command, "--mistral-format", import.mistral_format,
             "Model folders: by params.json and consolidated*.safetensors");
  add_switch(command, "--mmproj", import.mmproj,
             "Model folders: the projector instead of the model, for images and sound");
  add_switch(command, "--with-mmproj", conversion.with_projector,
             "Model folders: the model and its projector, as two files of the folder OUT");
  add_text(command, "--class", import.as_class, "NAME",
           "Model folders: by the rules of this class, whatever config.json names");
  add_switch(command, "--mtp", import.next_layers_only,
             "Model folders: only layers that predict further tokens, as a draft");
  add_switch(command, "--no-mtp", import.without_next_layers,
             "Model folders: without layers that predict further tokens");
  add_switch(command, "--fuse-gate-up-exps", import.fuse_experts,
             "Model folders: gate and up matrices of experts in one tensor");
  add_switch(command, "--fp8-as-q8", import.fp8_as_q8_0,
             "Model folders: matrices of FP8 as Q8_0, whatever the type");
  add_switch(command, "--sentence-transformers-dense-modules", import.dense_modules,
             "Model folders: also the layers behind the pooling of an embedding model");
  add_text(command, "--target-model-dir", import.target_folder, "FOLDER",
           "Drafts: the model that they belong to, of which config and tokenizer are read");
  add_text(command, "--model-name", import.model_name, "NAME",
           "Model folders: name of the model; default: by its card and its folder");
  add_text(command, "--metadata", conversion.metadata_file, "FILE",
           "Model folders: JSON with values for keys of general.*");
  add_text(command, "--base", conversion.base, "FOLDER",
           "LoRA adapters: the base model, of which config.json is read; default: IN");
}

std::string first_folder_option(const FolderConversion& conversion) {
  const ImportOptions& import = conversion.import;
  const std::pair<bool, const char*> uses[] = {
      {import.pre.has_value(), "--pre"},
      {import.as_reference, "--as-reference"},
      {import.mistral_format, "--mistral-format"},
      {import.mmproj, "--mmproj"},
      {conversion.with_projector, "--with-mmproj"},
      {import.as_class.has_value(), "--class"},
      {import.next_layers_only, "--mtp"},
      {import.without_next_layers, "--no-mtp"},
      {import.fuse_experts, "--fuse-gate-up-exps"},
      {import.fp8_as_q8_0, "--fp8-as-q8"},
      {import.dense_modules, "--sentence-transformers-dense-modules"},
      {import.target_folder.has_value(), "--target-model-dir"},
      {import.model_name.has_value(), "--model-name"},
      {!conversion.metadata_file.empty(), "--metadata"},
      {!conversion.base.empty(), "--base"},
      {conversion.only_plan, "--dry-run"},
      {!conversion.shard.empty(), "--shard"},
  };
  for (const auto& [is_used, name] : uses) {
    if (is_used) return name;
  }
  return {};
}

std::string resolve_projector(FolderConversion& conversion) {
  if (!conversion.with_projector) return {};
  if (conversion.import.mmproj) return "give --mmproj or --with-mmproj";
  std::string& out = conversion.out;
  if (out == "-" || format_by_ending(out)) {
    return "--with-mmproj writes two files; OUT is their folder";
  }
  if (!out.empty() && !out.ends_with('/')) out += '/';
  return {};
}

TensorType main_type(const Model& model) {
  std::map<TensorType, std::uint64_t> bytes;
  for (const TensorInfo& tensor : model.tensors()) bytes[tensor.type] += tensor.size_bytes;
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& row) { return row.second; });
  return most == bytes.end() ? TensorType::f32 : most->first;
}

void print_written(Console& console, const WrittenModel& written) {
  if (console.is_quiet() || console.is_json()) return;
  std::string types = type_text(written.type);
  if (written.rounded_tensors) {
    types += *written.rounded_tensors == 0
                 ? ", exact"
                 : fmt::format(" (not exact: {}; --dry-run names them)",
                               counted(*written.rounded_tensors, "tensor"));
  } else if (loses(written.source_type, written.type)) {
    types += fmt::format(" (weights were {}; --type {} keeps them)", type_text(written.source_type),
                         type_text(written.source_type));
  }
  console.print_prose(written_text(written.path, format_bytes(written.bytes),
                                   types + ", " + counted(written.tensors, "tensor")));
}

ExitCode import_folder(const FolderConversion& conversion, const ConvertOptions& convert,
                       Console& console) {
  INGOT_CLI_TRY(const FolderPlace place, find_folder(console, conversion.in), console,
                conversion.in);
  const auto named = find_adapter_base(*place.store, place.path);
  if (const std::string problem = find_wrong_base(conversion, place, named); !problem.empty()) {
    return console.refuse_usage("convert: " + problem);
  }
  if (named && (conversion.import.mmproj || conversion.with_projector)) {
    return console.refuse_usage("convert: an adapter has no projector");
  }
  std::string base = conversion.base;
  if (named && base.empty()) base = conversion.in;
  ImportOptions options = conversion.import;
  if (named && conversion.type.empty()) options.type = TensorType::f32;
  options.exact = conversion.type == "exact";
  const bool is_auto = conversion.type.empty() || conversion.type == "auto";
  if (!is_auto && !options.exact) {
    const TensorTypeInfo* info = find_type(std::string_view(conversion.type));
    if (info == nullptr) {
      return console.refuse_usage(
          "convert: --type must be auto, exact, F32, F16, BF16, Q8_0, TQ1_0 or TQ2_0");
    }
    options.type = info->type;
  }
  if (!conversion.shard.empty() && !parse_shard_part(conversion.shard)) {
    return console.refuse_usage("convert: --shard must be " + std::string(shard_part_form));
  }
  if (!conversion.metadata_file.empty()) {
    INGOT_CLI_TRY(options.metadata, read_whole(conversion.metadata_file), console,
                  conversion.metadata_file);
  }
  // An exact plan reads the weights to find their types.
  if (options.exact) {
    INGOT_CLI_TRY_VOID(prepare_weights(console, conversion.in, conversion.only_plan ? 1 : 2),
                       console, conversion.in);
  }
  std::vector<PlannedFile> files;
  for (const bool is_second : {false, true}) {
    if (is_second && !conversion.with_projector) continue;
    if (is_second) options.mmproj = true;
    auto import = plan_folder(console, conversion.in, options, base);
    if (!import) return console.fail(conversion.in, import.error());
    INGOT_CLI_TRY(Outputs outputs, plan_outputs(conversion, convert, **import), console,
                  conversion.in);
    files.push_back({*std::move(import), std::move(outputs)});
  }
  note_left_out(console, conversion.in, files);
  const std::uint64_t bits = files.front().import->code_bits();
  if (bits != 0 && is_auto && !options.as_reference) {
    console.remark(conversion.in, fmt::format("note: its weights have {} bits, and {} rounds them; "
                                              "--type exact keeps them as they are",
                                              bits, type_text(files.front().import->type())));
  }
  if (!conversion.only_plan) {
    INGOT_CLI_TRY_VOID(make_output_folder(conversion.out), console, conversion.out);
    if (!options.exact) {
      INGOT_CLI_TRY_VOID(prepare_weights(console, conversion.in), console, conversion.in);
    }
    for (const auto& [import, outputs] : files) {
      const ExitCode code = write_outputs(conversion, convert, *import, outputs, console);
      if (code != ExitCode::done) return code;
    }
  }
  if (console.is_json()) {
    print_json(console, files, conversion);
    return ExitCode::done;
  }
  for (const auto& [import, outputs] : files) {
    if (conversion.only_plan) {
      if (&import != &files.front().import) console.out().print("\n");
      print_plan(console, *import);
    } else {
      WrittenModel written{outputs.paths.front(), source_type(place, *import), import->type(),
                           import->tensors().size(), outputs.bytes};
      if (options.exact) {
        const auto is_rounded = [](const ImportedTensor& tensor) { return tensor.exact == false; };
        written.rounded_tensors =
            static_cast<std::size_t>(std::ranges::count_if(import->tensors(), is_rounded));
      }
      print_written(console, written);
    }
  }
  return ExitCode::done;
}

}  // namespace ingot::cli
