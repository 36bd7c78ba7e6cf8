// SPDX-License-Identifier: MIT
// generate_docs [--check] FOLDER: writes the pages of the manual that repeat the tables (.def), and
// the tables of docs/json.md that repeat the descriptions of results. With --check it writes
// nothing and fails if a page is not what it would write.
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "ingot/architectures.hpp"
#include "ingot/check.hpp"
#include "ingot/error.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/types.hpp"
#include "markdown.hpp"
#include "member_tables.hpp"

namespace {

using ingot::ErrorCategory;
using ingot::ImportanceWeights;
using ingot::docs::code;
using ingot::docs::escape_markup;
using ingot::docs::plain;
using ingot::docs::row;

constexpr std::string_view generated_mark =
    "<!-- Generated from include/ingot/*.def by generate_docs; edit those. -->\n\n";

struct ErrorRow {
  int number;
  std::string_view name;
  ErrorCategory category;
  std::string_view sentence;
};

constexpr std::array error_rows = {
#define INGOT_ERROR(number, name, constant, category, sentence) \
  ErrorRow{number, #name, ErrorCategory::category, sentence},
#include "ingot/errors.def"
};

struct NumberedName {
  int number;
  std::string_view name;
};

struct CheckRefusalRow {
  std::string_view error;
  std::string_view category;
  std::string_view remedy;
};

constexpr std::array check_refusal_rows = {
#define INGOT_CHECK_REFUSAL(error, category, remedy) CheckRefusalRow{#error, #category, remedy},
#include "ingot/check_rules.def"
};

constexpr std::array removed_types = {
#define INGOT_TENSOR_TYPE(id, enumerator, label, elements, bytes, weights)
#define INGOT_REMOVED_TYPE(id, label) NumberedName{id, #label},
#include "ingot/tensor_types.def"
};

/// The shortest decimal text, e.g. "4.5".
std::string decimal(double number) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

std::string_view weights_cell(ImportanceWeights weights) {
  constexpr std::array<std::string_view, 4> cells = {"-", "optional", "recommended", "required"};
  return cells[static_cast<std::size_t>(weights)];
}

std::string live_types_table() {
  std::string text = row("id", "name", "elements", "bytes", "bits per weight", "weights");
  text += "| ---: | --- | ---: | ---: | ---: | --- |\n";
  for (const ingot::TensorTypeInfo& info : ingot::live_tensor_types) {
    text += row(std::to_string(static_cast<std::uint32_t>(info.type)), info.name,
                std::to_string(info.block_elements), std::to_string(info.block_bytes),
                decimal(info.bits_per_weight()), weights_cell(info.weights));
  }
  return text;
}

std::string numbered_names_table(std::string_view number_title, const auto& rows) {
  std::string text = row(number_title, "name");
  text += "| ---: | --- |\n";
  for (const NumberedName& entry : rows) text += row(std::to_string(entry.number), entry.name);
  return text;
}

std::string file_types_table() {
  std::string text = row("file type", "name", "most weights");
  text += "| ---: | --- | --- |\n";
  for (const ingot::FileTypeInfo& info : ingot::file_types) {
    text += row(std::to_string(info.number), info.name, ingot::find_type(info.weights)->name);
  }
  return text;
}

std::string value_types_table() {
  std::string text = row("id", "name", "bytes");
  text += "| ---: | --- | ---: |\n";
  for (std::uint32_t id = 0; id < ingot::value_type_count; ++id) {
    const auto type = static_cast<ingot::ValueType>(id);
    const std::uint32_t size_bytes = ingot::size_bytes_of(type);
    text += row(std::to_string(id), ingot::name_of(type),
                size_bytes == 0 ? "varies" : std::to_string(size_bytes));
  }
  return text;
}

std::string tensor_types_page() {
  std::string text = "# Tensor types, value types, file types\n\n";
  text += generated_mark;
  text +=
      "A GGUF file writes down three kinds of types as numbers: how the data of a tensor is\n"
      "encoded, what a metadata value is, and which recipe the model as a whole was made by.\n\n"
      "## Tensor types\n\n"
      "The data of a tensor is a run of blocks. A block holds some consecutive elements of one\n"
      "row, so dimension 0 has to be a whole number of blocks; the bytes of a tensor are\n"
      "`element count / elements * bytes`. A plain type is one with a single element per block.\n"
      "Bits per weight count everything in a block, scales too.\n\n"
      "*Weights* says whether quantizing to the type uses importance weights, which measure how\n"
      "much each column of a matrix matters (an \"imatrix\"):\n\n"
      "- `-`: they are not used;\n"
      "- `optional`: used if there are any;\n"
      "- `recommended`: the quantizer works without, but the result is so poor that tools refuse;\n"
      "- `required`: there is no quantizing without them.\n\n";
  text += live_types_table();
  text +=
      "\nQ8_1 and Q8_K are the formats in which inference keeps activations; they have ids, but\n"
      "are not met in model files. F64 and the integers are stored as they are.\n\n"
      "### Removed types\n\n"
      "These ids were in use once, and nothing defines their blocks any more. A tensor that has\n"
      "one, or an id that is in neither table, cannot be sized: the file is refused, unless it\n"
      "is opened leniently, which keeps the bytes of the tensor as they are.\n\n";
  text += numbered_names_table("id", removed_types);
  text += "\n## Value types\n\nThe types of metadata values, and of the elements of arrays.\n\n";
  text += value_types_table();
  text +=
      "\n## File types\n\n"
      "The number in the key `general.file_type` names the recipe for a whole model: most of its\n"
      "matrices have the type in the name, some have a better or a plain one (`S`, `M` and `L`\n"
      "are smaller and larger mixtures). It is a hint for people, and nothing is decoded by it.\n"
      "The numbers are *not* those of tensor types: tensor type 15 is Q8_K, file type 15 is a\n"
      "mixture of Q4_K and Q6_K. 1024 is added where a tool guessed the recipe.\n\n";
  text += file_types_table();
  return text;
}

std::string errors_table(ErrorCategory category) {
  std::string text = row("number", "name", "meaning");
  text += "| ---: | --- | --- |\n";
  for (const ErrorRow& error : error_rows) {
    if (error.category != category) continue;
    std::string meaning(error.sentence);
    const std::string_view advice = ingot::advice_of(static_cast<ingot::Errc>(error.number));
    if (!advice.empty()) meaning.append("; ").append(advice);
    text += row(std::to_string(error.number), code(error.name), plain(meaning));
  }
  return text;
}

/// A part of a page: the rows of one kind.
template <class Kind>
struct Section {
  Kind kind;
  std::string_view title;
  std::string_view introduction;
};

template <class Kind, std::size_t count, class TableOf>
void append_sections(std::string& text, const Section<Kind> (&sections)[count],
                     const TableOf& table_of) {
  for (const Section<Kind>& section : sections) {
    text.append("\n## ").append(section.title).append("\n\n").append(section.introduction);
    text.append("\n").append(table_of(section.kind));
  }
}

constexpr Section<ErrorCategory> category_sections[] = {
    {ErrorCategory::input, "The file is refused",
     "Its bytes cannot be decoded without guessing, or two readers could disagree on\n"
     "their meaning.\n"},
    {ErrorCategory::lenient, "The file is refused, unless it is opened leniently",
     "A limit of the format is broken, but there is one way to read the file. The\n"
     "option `--lenient` of the program, and `is_lenient` in C++ and C, accepts the\n"
     "point; the message says so.\n"},
    {ErrorCategory::usage, "The request makes no sense",
     "The file is fine, but it lacks what the request names, or the request does not fit.\n"},
    {ErrorCategory::system, "The system failed",
     "Memory, files and devices; and the one error that is our own fault.\n"},
    {ErrorCategory::notice, "Notices",
     "Never a failure: facts that the user of a file that opened should know.\n"},
};

std::string errors_page() {
  std::string text = "# Errors\n\n";
  text += generated_mark;
  text +=
      "Every error has a number, a name and a sentence that names the fault and the remedy.\n"
      "They are the same in C++ (`ingot::Errc::truncated`), in C\n"
      "(`INGOT_ERROR_TRUNCATED`: the name in upper case) and in the JSON of the program\n"
      "(`\"truncated\"`). Numbers never change and are never used again, so they may be stored\n"
      "and compared; sentences may get better.\n\n"
      "A message is one line that begins with the place and ends with what was found:\n\n"
      "    ";
  text += ingot::Error{ingot::Errc::offset_unaligned, 7168, "blk.0.attn_q.weight", "found 33"}
              .message();
  text +=
      "\n\nThe quoted part is a key, a tensor, a field or a file. It comes from outside, so\n"
      "bytes that could steer a terminal or hide in a text are written as escapes such as `\\x1b`\n"
      "or `\\u{202e}`.\n";
  append_sections(text, category_sections, errors_table);
  return text;
}

/// Marks of code stay, as the titles are written with them.
std::string check_rules_table(ingot::RuleSource source) {
  std::string text = row("rule", "severity", "category", "requirement", "remedy");
  text += "| --- | --- | --- | --- | --- |\n";
  for (const ingot::CheckRule& rule : ingot::check_rules()) {
    if (rule.is_refusal || rule.source != source) continue;
    text += row(code(rule.name), name_of(rule.severity), name_of(rule.category),
                escape_markup(rule.title), escape_markup(rule.remedy));
  }
  return text;
}

std::string check_refusals_table() {
  std::string text = row("rule", "category", "remedy");
  text += "| --- | --- | --- |\n";
  for (const CheckRefusalRow& refusal : check_refusal_rows) {
    text += row(code(refusal.error), refusal.category, escape_markup(refusal.remedy));
  }
  return text;
}

constexpr Section<ingot::RuleSource> source_sections[] = {
    {ingot::RuleSource::format, "The format", "Demands of the format's specification.\n"},
    {ingot::RuleSource::convention, "Conventions",
     "What writers and readers of models agree on: standard keys, vocabularies, the\n"
     "tensors of known architectures, sets of shards.\n"},
    {ingot::RuleSource::loader, "Limits of loaders",
     "The file is fine; some program that loads models does not take it.\n"},
    {ingot::RuleSource::security, "Security",
     "Content that may have been planted: text that drives a terminal, templates that reach\n"
     "into the program that renders them, bytes in padding and gaps.\n"},
    {ingot::RuleSource::data, "Weights", "Only with `--data`, which reads all of them.\n"},
    {ingot::RuleSource::folder, "Model folders",
     "Files that an import would read; the model that it would make is checked, too.\n"},
};

std::string check_rules_page() {
  std::string text = "# Rules of `ingot check`\n\n";
  text += generated_mark;
  text +=
      "A finding names the rule that it breaks. Names are stable: they are in the output of\n"
      "`--json` and `--sarif`, and may be stored and compared.\n\n"
      "- `error`: the model is broken;\n"
      "- `warning`: a rule of the format or a convention is broken, or something is fishy;\n"
      "- `note`: merely unusual, incomplete by design, or beyond what some loader takes.\n\n"
      "A model with notes alone is clean, unless `--strict` is given. The category `security`\n"
      "marks rules through which a file made on purpose could do harm, whatever their severity;\n"
      "`--fail-on security` asks for them. `ingot check --list-rules` prints all rules.\n";
  append_sections(text, source_sections, check_rules_table);
  text +=
      "\n## Refused files\n\n"
      "The rules by which a file is refused are the errors of the reader, under the same names:\n"
      "[errors.md](errors.md) says what each means. They cannot be ignored.\n\n";
  text += check_refusals_table();
  return text;
}

std::string metadata_keys_table(bool has_architecture) {
  std::string text = row("key", "value", "meaning");
  text += "| --- | --- | --- |\n";
  for (const ingot::MetadataKeyInfo& key : ingot::standard_keys) {
    if (key.has_architecture != has_architecture) continue;
    text += row(code(key.name), ingot::name_of(key.form), escape_markup(key.meaning));
  }
  return text;
}

std::string metadata_keys_page() {
  std::string text = "# Metadata keys\n\n";
  text += generated_mark;
  text +=
      "The standard keys of model files. `ingot check` reports values of another form (rule\n"
      "`key_type`), and `ingot edit --set KEY=VALUE` knows the types of these keys. A model may\n"
      "have any other keys as well.\n\n"
      "In C++ the names are constants: `ingot::keys::general_name`,\n"
      "`ingot::suffixes::context_length`.\n\n"
      "## Any model\n\n";
  text += metadata_keys_table(false);
  text +=
      "\n## By architecture\n\n"
      "These follow the value of `general.architecture` and a dot, as in `llama.context_length`.\n"
      "An array has an element for each layer.\n\n";
  text += metadata_keys_table(true);
  return text;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
  return !file.fail();
}

bool check_text(const std::string& path, const std::string& text) {
  if (read_text(path) == text) return true;
  std::fprintf(stderr, "%s: does not fit the tables; please run: generate_docs docs\n",
               path.c_str());
  return false;
}

std::string architectures_page() {
  std::string text = "# Architectures\n\n";
  text += "<!-- Generated from src/architectures/rows/*.def by generate_docs; edit those. -->\n\n";
  text +=
      "The names of `general.architecture` that Ingot knows. Of those that are described, it knows "
      "the\n"
      "keys and tensors that the reference engine, llama.cpp, requires: `ingot check` holds files "
      "against\n"
      "them, `ingot sample --architecture NAME` makes a small model, and `ingot architectures "
      "NAME` prints\n"
      "them all. *Fit* says whether `ingot fit` knows what the layers keep. The table shows the "
      "keys that\n"
      "the engine requires without a condition, but for those of every model: `context_length`,\n"
      "`embedding_length` and `block_count`.\n\n";
  text += row("name", "tensors", "fit", "import", "export", "evaluate", "further required keys");
  text += "| --- | ---: | --- | --- | --- | --- | --- |\n";
  const auto yes = [](bool is_so) { return is_so ? "yes" : ""; };
  for (const std::string_view name : ingot::architecture_names()) {
    const ingot::Architecture& each = *ingot::find_architecture(name);
    std::string keys;
    for (const ingot::ArchitectureKey& key : each.keys) {
      if (!key.is_required || !key.condition.empty() || key.name == "context_length" ||
          key.name == "embedding_length" || key.name == "block_count") {
        continue;
      }
      keys += (keys.empty() ? "" : ", ") + code(key.name);
    }
    text += row(code(name), each.is_described() ? std::to_string(each.tensors.size()) : "-",
                yes(each.memory.has_value()), yes(each.is_imported), yes(each.is_exported),
                yes(each.is_evaluated), each.is_described() ? keys : each.waits);
  }
  return text;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const bool is_check = argument_count == 3 && std::string_view(arguments[1]) == "--check";
  if (argument_count != 2 && !is_check) {
    std::fputs("usage: generate_docs [--check] FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = arguments[argument_count - 1];
  const auto put = is_check ? check_text : write_text;
  const bool has_types = put(folder + "/tensor-types.md", tensor_types_page());
  const bool has_errors = put(folder + "/errors.md", errors_page());
  const bool has_rules = put(folder + "/check-rules.md", check_rules_page());
  std::string json_page = read_text(folder + "/json.md");
  ingot::docs::fill_member_tables(json_page);
  const bool has_members = put(folder + "/json.md", json_page);
  const bool has_keys = put(folder + "/metadata-keys.md", metadata_keys_page());
  const bool has_architectures = put(folder + "/architectures.md", architectures_page());
  return has_architectures && has_types && has_errors && has_rules && has_keys && has_members ? 0
                                                                                              : 1;
}
