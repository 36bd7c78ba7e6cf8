// SPDX-License-Identifier: MIT
// `ingot convert IN OUT` -- another file format, or GGUF of another kind.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ingot/convert.hpp>
#include <ingot/folder_export.hpp>
#include <ingot/interop.hpp>
#include <ingot/text.hpp>
#include <limits>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/declaration.hpp"
#include "cli/imported_folder.hpp"
#include "cli/json_stream.hpp"
#include "cli/progress.hpp"
#include "commands/convert/import_folder.hpp"
#include "commands/output_name.hpp"
#include "text/byte_count.hpp"
#include "text/error_json.hpp"
#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot convert old.gguf new.gguf\n"
    "  ingot convert model.gguf big.gguf --endian big\n"
    "  ingot convert model.gguf half.gguf --type F16\n"
    "  ingot convert model.gguf m.safetensors --type BF16 --names hf --max-size 5G\n"
    "  ingot convert model.gguf weights.npz\n"
    "  ingot convert model.gguf out/weights.bump --ctx-size 4096\n"
    "  ingot convert model.gguf Qwen3-0.6B --names hf    # the folder with all files\n"
    "  ingot convert q4_0.gguf Qwen3-mlx --format mlx    # codes as they are\n"
    "  ingot convert Qwen3-0.6B qwen3.gguf --type q8_0\n"
    "  ingot convert Qwen3-0.6B --dry-run\n"
    "  ingot convert Qwen3-8B-GPTQ qwen3.gguf --type exact    # no second rounding\n"
    "  ingot convert Qwen3-0.6B qwen3.gguf --max-size 2G\n"
    "  ingot convert Qwen3-VL-4B models/ --with-mmproj\n"
    "  ingot convert my-adapter adapter.gguf --base Qwen3-0.6B\n"
    "  ingot convert hf:Qwen/Qwen3-0.6B qwen3.gguf\n"
    "  ingot convert ggml-model-f16.bin model.gguf --ctx-size 4096 --eps 1e-5\n"
    "\n"
    "IN is a GGUF file, any shard of a set, a bump file, a safetensors file, its\n"
    "index or a folder with one, or a LLaMA file from before GGUF; its content\n"
    "decides. The format of OUT follows from its ending or from --to.\n"
    "docs/convert.md says what each format keeps and loses. A Hugging Face folder\n"
    "with config.json becomes a GGUF that engines load: docs/import.md.\n"
    "Nothing is written before everything has been checked.";

std::optional<float> parse_positive(const std::string& text) {
  const auto number = parse_number<float>(text);
  return number && *number > 0 && std::isfinite(*number) ? number : std::nullopt;
}

struct Options : FolderConversion {
  std::optional<FileFormat> format;
  std::string max_size;
  std::string config_out;
  std::string manifest_out;
  std::optional<BumpCodes> codes;
  std::optional<bool> has_hf_names;  ///< Names of tensors: Hugging Face's, or the model's.
  std::optional<std::uint32_t> bump_version;
  std::optional<std::uint32_t> context;
  std::optional<std::uint32_t> heads_per_group;
  std::string rms_epsilon;
  bool is_strict = false;
  FolderPacking packing = FolderPacking::none;
  bool is_lossy = false;   ///< FolderExportOptions::is_lossy
  bool is_folder = false;  ///< OUT is a folder of Hugging Face's form.
  ConvertOptions convert;

  /// The options for files from before GGUF.
  [[nodiscard]] GgmlOptions ggml() const {
    GgmlOptions facts;
    facts.context = context.value_or(facts.context);
    facts.heads_per_group = heads_per_group.value_or(facts.heads_per_group);
    if (!rms_epsilon.empty()) facts.rms_epsilon = parse_positive(rms_epsilon).value_or(0.0f);
    return facts;
  }
};

std::string list_formats() {
  std::string list;
  for (const FileFormatInfo& info : file_formats) {
    if (info.is_written) list += (list.empty() ? "" : ", ") + std::string(info.ending);
  }
  return list;
}

/// An option that has no meaning for the format; empty if all have.
std::string option_without_meaning(const Options& options, FileFormat format) {
  const ConvertOptions& convert = options.convert;
  struct Use {
    bool is_used;
    const char* name;
    bool is_allowed;
  };
  const bool is_gguf = format == FileFormat::gguf;
  const bool is_bump = format == FileFormat::bump;
  const Use uses[] = {
      {convert.byte_order.has_value(), "--endian", is_gguf},
      {convert.alignment.has_value(), "--align", is_gguf},
      {convert.has_index, "--index", is_gguf},
      {convert.version.has_value(), "--gguf-version", is_gguf},
      {convert.all_tensors, "--all-tensors", is_gguf},
      {convert.type.has_value(), "--type", !is_bump},
      {options.has_hf_names.has_value(), "--names",
       is_gguf ? options.has_hf_names == false : !is_bump},
      {options.is_strict, "--strict", options.is_folder},
      {options.packing != FolderPacking::none, "--format", options.is_folder},
      {options.is_lossy, "--lossy", options.packing != FolderPacking::none},
      {convert.max_file_bytes != 0, "--max-size", format == FileFormat::safetensors},
      {options.bump_version.has_value(), "--bump-version", is_bump},
      {options.codes.has_value(), "--dtype-codes", is_bump},
      {!options.config_out.empty(), "--config-out", is_bump},
      {!options.manifest_out.empty(), "--manifest-out", is_bump},
      {convert.bump.allow_loss, "--allow-loss", is_bump},
      {convert.bump.widen, "--widen", is_bump},
      {convert.bump.is_strictly_original, "--strict-original", is_bump},
  };
  for (const Use& use : uses) {
    if (use.is_used && !use.is_allowed) return use.name;
  }
  return first_folder_option(options);
}

/// Resolves and checks options beyond the parser. Returns the fault, or an empty text.
std::string resolve_options(Options& options) {
  ConvertOptions& convert = options.convert;
  if (!options.type.empty() && options.type != "auto") {
    const TensorTypeInfo* info = find_type(std::string_view(options.type));
    if (info == nullptr) return "--type must be F32, F16, BF16 or F64";
    convert.type = info->type;
  }
  if (!options.rms_epsilon.empty() && !parse_positive(options.rms_epsilon)) {
    return "--eps must be a number above 0, such as 1e-5";
  }
  if (convert.all_tensors && !convert.type) return "--all-tensors says what gets --type; give one";
  if (convert.alignment.value_or(0) % 8 != 0) return "--align must be a multiple of 8";
  if (!options.config_out.empty()) convert.bump.config_path = options.config_out;
  if (!options.manifest_out.empty()) convert.bump.manifest_path = options.manifest_out;
  convert.bump.codes = options.codes;
  convert.bump.context = options.context;
  convert.bump.version = options.bump_version.value_or(3);
  if (options.has_hf_names == true) convert.rename = rename_as_in_folders;
  if (!options.format) options.format = format_by_ending(options.out);
  if (!options.format) {
    return "the ending of OUT says no format (" + list_formats() + "); give --to";
  }
  const std::string misplaced = option_without_meaning(options, *options.format);
  if (misplaced.empty()) return {};
  return misplaced + " has no meaning for " + std::string(name_of(*options.format));
}

/// The options that help.
std::string_view option_for(const Error& error) {
  switch (error.remedy) {
    case Remedy::allow_loss:
      return " (--allow-loss)";
    case Remedy::widen:
      return " (--widen)";
    case Remedy::engine_codes:
      return " (--dtype-codes engine)";
    case Remedy::widen_or_engine_codes:
      return " (--dtype-codes engine, or --widen)";
    case Remedy::give_context:
      return " (--ctx-size)";
    case Remedy::none:
      break;
  }
  return {};
}

ExitCode fail(Console& console, const Options& options, const Error& error) {
  if (error.code == Errc::already_exists) return console.fail(options.out, error);
  Error shown = error;
  if (options.format == FileFormat::bump) shown.detail += option_for(error);
  if (options.packing != FolderPacking::none && error.remedy == Remedy::allow_loss) {
    shown.detail += " (--lossy)";
  }
  return console.fail(options.in, shown);
}

void print_json(Console& console, const Options& options, const Conversion& conversion) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("file", options.in);
  json.member("format", name_of(*options.format));
  json.values("outputs", conversion.outputs());
  write_messages_json(json, "warnings", conversion.warnings());
  write_messages_json(json, "notes", conversion.remarks());
}

/// Whether the input is a model folder that becomes a GGUF with its names, keys and tokenizer.
bool is_import(const Options& options, Console& console) {
  const bool is_gguf = options.format ? options.format == FileFormat::gguf
                                      : options.out.empty() || is_output_folder(options.out) ||
                                            format_by_ending(options.out) == FileFormat::gguf;
  if (options.has_hf_names || !is_gguf) return false;
  return is_model_folder(options.in) || is_adapter_folder(options.in) ||
         is_remote_folder(console, options.in);
}

/// An option that has no meaning for a model folder; empty if all have.
std::string find_misplaced_for_folder(const Options& options) {
  const ConvertOptions& convert = options.convert;
  if (convert.has_index) return "--index";
  if (convert.byte_order || convert.alignment) return "--endian and --align";
  if (convert.version) return "--gguf-version";
  if (convert.all_tensors) return "--all-tensors";
  const bool is_ggml = options.context || options.heads_per_group || !options.rms_epsilon.empty();
  return is_ggml ? "--ctx-size, --gqa and --eps" : "";
}

ExitCode run_import(const Options& options, Console& console) {
  const std::string misplaced = find_misplaced_for_folder(options);
  if (!misplaced.empty()) {
    return console.refuse_usage("convert: " + misplaced + " has no meaning for a model folder");
  }
  return import_folder(options, options.convert, console);
}

/// Whether OUT is a folder that the import could read again, and no file of tensors alone.
bool is_folder_export(const Options& options) {
  return options.has_hf_names == true && !options.format && !format_by_ending(options.out);
}

Result<std::unique_ptr<Conversion>> plan(const Model& model, const Options& options) {
  const ConvertOptions& convert = options.convert;
  if (!options.is_folder) return plan_conversion(model, *options.format, options.out, convert);
  const std::uint64_t usual = FolderExportOptions{}.max_file_bytes;
  const std::uint64_t limit = convert.max_file_bytes != 0 ? convert.max_file_bytes : usual;
  return plan_folder_export(model, options.out,
                            {.type = convert.type,
                             .max_file_bytes = limit,
                             .is_strict = options.is_strict,
                             .packing = options.packing,
                             .is_lossy = options.is_lossy,
                             .replace = convert.replace,
                             .thread_count = convert.thread_count});
}

ExitCode run(Options& options, Console& console) {
  if (options.out.empty() && !options.only_plan) {
    return console.refuse_usage(
        "convert: OUT is missing: a file to write, model.gguf say, or a folder for it, out/ say");
  }
  if (!options.max_size.empty()) {
    const auto bytes = parse_byte_count(options.max_size);
    if (!bytes) return console.refuse_usage("convert: --max-size must be a size like 500M or 2GiB");
    options.convert.max_file_bytes = *bytes;
  }
  if (const std::string problem = resolve_projector(options); !problem.empty()) {
    return console.refuse_usage("convert: " + problem);
  }
  if (options.packing != FolderPacking::none) options.has_hf_names = true;
  if (is_import(options, console)) return run_import(options, console);
  if (options.out == "-") {
    return console.refuse_usage(
        "convert: OUT must be a file, which appears complete or not at all");
  }
  options.is_folder = is_folder_export(options);
  if (options.is_folder) options.format = FileFormat::safetensors;
  const bool is_in_folder = !options.is_folder && is_output_folder(options.out);
  if (is_in_folder && !options.format) options.format = FileFormat::gguf;
  const std::string problem = resolve_options(options);
  if (!problem.empty()) return console.refuse_usage("convert: " + problem);
  console.set_ggml_options(options.ggml());
  INGOT_CLI_TRY(const Model model, console.open_stored(options.in, FileAccess::read), console,
                options.in);
  const bool is_ggml =
      console.foreign() != nullptr && console.foreign()->format == name_of(FileFormat::ggml);
  if (options.context && !is_ggml && options.format != FileFormat::bump) {
    return console.refuse_usage("convert: --ctx-size is for GGML files and for bump");
  }
  if ((options.heads_per_group || !options.rms_epsilon.empty()) && !is_ggml) {
    return console.refuse_usage("convert: --gqa and --eps are for GGML files");
  }
  options.convert.thread_count = console.threads();
  const TensorType type = options.convert.type.value_or(main_type(model));
  if (!options.is_folder) {
    INGOT_CLI_TRY_VOID(make_output_folder(options.out), console, options.out);
    options.out = output_path(
        options.out, base_name(console.remote().local_name(options.in)), type_text(type),
        std::ranges::find(file_formats, *options.format, &FileFormatInfo::format)->ending);
  }
  if (const ForeignFile* foreign = console.foreign()) options.convert.inputs = foreign->paths;
  const auto conversion = plan(model, options);
  if (!conversion) return fail(console, options, conversion.error());
  for (const Error& warning : (*conversion)->warnings()) {
    console.complain(options.out, options.is_folder ? "lost: " + escape(warning.subject) + ": " +
                                                          escape(warning.detail)
                                                    : "warning: " + warning.message());
  }
  for (const Error& remark : (*conversion)->remarks()) {
    console.remark(options.in, "note: " + remark.message());
  }
  Result<void> result = console.before_reading(options.in, model);
  if (result) {
    result = run_with_progress(console, options.out, (*conversion)->total_bytes(),
                               [&](const GoOn& go_on) { return (*conversion)->run(go_on); });
  }
  if (!result) return fail(console, options, result.error());
  if (console.is_json()) print_json(console, options, **conversion);
  print_written(console, {options.out, main_type(model), type, model.tensors().size(),
                          (*conversion)->total_bytes()});
  return ExitCode::done;
}

Choices<std::optional<FileFormat>> all_formats() {
  Choices<std::optional<FileFormat>> choices;
  for (const FileFormatInfo& info : file_formats) {
    if (info.is_written) choices.emplace_back(std::string(info.name), info.format);
  }
  return choices;
}

void add_gguf_options(CLI::App& command, Options& options) {
  add_switch(command, "--all-tensors", options.convert.all_tensors,
             "GGUF: also give --type to norms and biases, which otherwise become F32");
  add_choice(command, "--endian", "ORDER", options.convert.byte_order,
             {{"little", Endian::little}, {"big", Endian::big}},
             "GGUF: byte order, {}; default: as it is");
  add_switch(command, "--index", options.convert.has_index, "GGUF: write a layout index");
  add_number(command, "--align", options.convert.alignment, 8, 1u << 30,
             "GGUF: alignment of tensor data in bytes; default: as it is");
  add_number(command, "--gguf-version", options.convert.version, 1, 3,
             "GGUF: version of the format; default: 3");
}

void add_bump_options(CLI::App& command, Options& options) {
  BumpOptions& bump = options.convert.bump;
  add_number(command, "--bump-version", options.bump_version, 3, 4,
             "bump: version of the format, 3 or 4; default: 3");
  add_choice(command, "--dtype-codes", "WHICH", options.codes,
             {{"doc", BumpCodes::doc}, {"engine", BumpCodes::engine}},
             "bump: numbering of types, {}; default: doc, for version 4 engine");
  add_text(command, "--config-out", options.config_out, "FILE",
           "bump: where the configuration goes; default: config.json beside OUT");
  add_text(command, "--manifest-out", options.manifest_out, "FILE",
           "bump: also write a list of the sections");
  add_switch(command, "--allow-loss", bump.allow_loss,
             "bump: leave out tensors for which it has no place");
  add_switch(command, "--widen", bump.widen,
             "bump: decode weights of types that it cannot hold to F32");
  add_switch(command, "--strict-original", bump.is_strictly_original,
             "bump: read metadata as the original converter does, errors included");
}

void add_ggml_options(CLI::App& command, Options& options) {
  add_number(command, "-c,--ctx-size", options.context, 1,
             std::numeric_limits<std::uint32_t>::max(),
             "GGML, bump: tokens of context; default: 2048 for GGML, else that of the model");
  add_number(command, "--gqa", options.heads_per_group, 1, 1024,
             "GGML: query heads for a head of keys, 8 for Llama 2 70B; default: 1");
  add_text(command, "--eps", options.rms_epsilon, "X", "GGML: epsilon of norms; default: 5e-6");
}

}  // namespace

void add_convert_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "convert",
                                  "Write a model in another format, or as another GGUF", examples);
  require(add_argument(command, "IN", options->in, "The model: GGUF, bump, safetensors, GGML"));
  add_output(command, options->out, "OUT",
             "The file to write, a folder for it, or a pattern like 'out/{name}-{type}.gguf'; with "
             "--names hf also the folder to make");
  add_choice(command, "--to", "FORMAT", options->format, all_formats(),
             "Format of OUT, {}; default: by its ending");
  note_words(
      *add_text(command, "--type", options->type, "TYPE",
                "Type of the weights: F32, F16, BF16 or F64; of model folders auto, exact, F32, "
                "F16, BF16, Q8_0, TQ1_0 or TQ2_0; default: as they are"),
      {"auto", "exact", "F32", "F16", "BF16", "F64", "Q8_0", "TQ1_0", "TQ2_0"});
  add_choice(command, "--names", "STYLE", options->has_hf_names, {{"keep", false}, {"hf", true}},
             "Names of tensors, {}; hf: as in Hugging Face models; OUT may be a folder, then");
  add_text(command, "--max-size", options->max_size, "SIZE",
           "safetensors, model folders: split into files of at most 500M, 5G, 2GiB");
  add_gguf_options(command, *options);
  add_folder_options(command, *options);
  add_switch(command, "--strict", options->is_strict, "Model folders as OUT: refuse any loss");
  add_choice(command, "--format", "FORMAT", options->packing,
             {{"mlx", FolderPacking::mlx}, {"gptq", FolderPacking::gptq}},
             "Model folders as OUT: quantized weights keep their codes, packed for {}");
  add_switch(command, "--lossy", options->is_lossy,
             "With --format: round weights that it cannot hold exactly");
  add_ggml_options(command, *options);
  add_bump_options(command, *options);
  add_switch(command, "--force", options->convert.replace, "Replace outputs that exist");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
