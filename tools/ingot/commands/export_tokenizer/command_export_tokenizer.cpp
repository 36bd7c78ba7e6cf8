// SPDX-License-Identifier: MIT
// `ingot export-tokenizer MODEL OUT` -- the tokenizer in the files of Hugging Face's libraries.

#include <filesystem>
#include <ingot/metadata_keys.hpp>
#include <ingot/output_set.hpp>
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <memory>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "commands/export_tokenizer/tokenizer_json.hpp"
#include "commands/output_name.hpp"
#include "text/report_file.hpp"
#include "text/vocabulary_facts.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot export-tokenizer model.gguf tokenizer/       # a folder, made if needed\n"
    "  ingot export-tokenizer model.gguf tokenizer.json   # that file, others beside\n"
    "\n"
    "Writes tokenizer.json, tokenizer_config.json, special_tokens_map.json and, if\n"
    "the model has a template, chat_template.jinja. Remarks name what the form cannot\n"
    "express; docs/tokenizers.md has the list. RWKV, PLaMo-2, hybriddna, whitespace\n"
    "and vocabularies without texts have no such form and are refused.";

struct Options {
  std::string file;
  std::string out;
  bool is_forced = false;
};

/// The special tokens that configuration files name.
struct NamedToken {
  const char* name;
  SpecialToken special;
};
constexpr NamedToken named_tokens[] = {
    {"bos_token", SpecialToken::bos}, {"eos_token", SpecialToken::eos},
    {"unk_token", SpecialToken::unk}, {"sep_token", SpecialToken::sep},
    {"pad_token", SpecialToken::pad}, {"mask_token", SpecialToken::mask}};

void write_named_tokens(JsonStream& json, const Vocabulary& vocabulary) {
  for (const NamedToken& token : named_tokens) {
    const TokenId id = vocabulary.special(token.special);
    if (id != no_token) json.member(token.name, vocabulary.text(id));
  }
  // BERT calls its first token by another name, too.
  const TokenId bos = vocabulary.special(SpecialToken::bos);
  if (vocabulary.family() == TokenizerFamily::wpm && bos != no_token) {
    json.member("cls_token", vocabulary.text(bos));
  }
}

std::string_view chat_template_of(const Model& model) {
  return model.get_or<std::string_view>(keys::tokenizer_chat_template, "");
}

void write_special_tokens_map(JsonStream& json, TokenizerSource& source) {
  const auto object = json.object();
  write_named_tokens(json, source.tokenizer);
}

void write_configuration(JsonStream& json, TokenizerSource& source) {
  const TokenizerFlags& flags = source.tokenizer.flags();
  const auto object = json.object();
  json.member("tokenizer_class", "PreTrainedTokenizerFast");
  write_named_tokens(json, source.tokenizer);
  json.member("add_bos_token", flags.adds_bos);
  json.member("add_eos_token", flags.adds_eos);
  json.member("clean_up_tokenization_spaces", flags.cleans_spaces);
  const auto architecture = source.model.get_or<std::string_view>(keys::general_architecture, "");
  const auto context =
      source.model.get_or<std::uint64_t>(std::string(architecture) + ".context_length", 0);
  if (context != 0) json.member("model_max_length", context);
  if (const auto text = chat_template_of(source.model); !text.empty()) {
    json.member("chat_template", text);
  }
}

/// The files, which are one tokenizer only together; tokenizer.json, which readers look for, last.
class Export {
 public:
  Export(const Options& options, TokenizerSource& source)
      : source_(source), outputs_(options.is_forced) {
    std::filesystem::path out = options.out;
    const bool is_file = out.extension() == ".json";
    folder_ = is_file ? out.parent_path() : out;
    name_ = is_file ? out.filename().string() : "tokenizer.json";
  }

  Result<void> run() {
    INGOT_TRY_VOID(outputs_.make_folder(folder_.string()));
    INGOT_TRY_VOID(add_json("tokenizer_config.json", write_configuration));
    INGOT_TRY_VOID(add_json("special_tokens_map.json", write_special_tokens_map));
    const std::string_view text = chat_template_of(source_.model);
    const std::string template_path = (folder_ / "chat_template.jinja").string();
    // Libraries would take an older one for this model's.
    INGOT_TRY_VOID(text.empty() ? outputs_.drop(template_path)
                                : outputs_.add_text(template_path, text));
    INGOT_TRY_VOID(add_json(name_, write_tokenizer_json));
    return outputs_.commit();
  }

 private:
  Result<void> add_json(const std::string& name, void (*write)(JsonStream&, TokenizerSource&)) {
    INGOT_TRY(OutputFile* const file, outputs_.add((folder_ / name).string(), 0));
    return print_to(*file, [&](Output& out) {
      JsonStream json(out);
      write(json, source_);
    });
  }

  TokenizerSource& source_;
  OutputSet outputs_;
  std::filesystem::path folder_;
  std::string name_;
};

ExitCode run(const Options& options, Console& console) {
  if (console.is_json()) {
    return console.refuse_usage("export-tokenizer: it reports nothing, so there is no --json");
  }
  if (options.out.empty()) {
    return console.refuse_usage(
        "export-tokenizer: OUT is missing; the usage is: ingot export-tokenizer [OPTIONS] FILE "
        "OUT");
  }
  INGOT_CLI_TRY(const Model model, console.open_model(options.file), console, options.file);
  INGOT_CLI_TRY(const Tokenizer tokenizer, Tokenizer::make(model), console, options.file);
  TokenizerSource source{.model = model, .tokenizer = tokenizer};
  INGOT_CLI_TRY_VOID(check_expressible(source), console, options.file);
  remark_on_pre_tokenizer(console, options.file, tokenizer, false);
  if (const Result<void> written = Export(options, source).run(); !written) {
    const std::string& subject = written.error().subject;
    return console.fail(subject.empty() ? options.out : subject, written.error());
  }
  for (const std::string& warning : source.warnings) console.remark(options.file, warning);
  return ExitCode::done;
}

}  // namespace

void add_export_tokenizer_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "export-tokenizer",
                                  "Write the tokenizer in the form of Hugging Face", examples);
  add_file(command, options->file);
  add_output(command, options->out, "OUT", "A folder, or a file that ends in .json");
  add_switch(command, "--force", options->is_forced, "Replace files that exist");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
