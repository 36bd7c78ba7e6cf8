// SPDX-License-Identifier: MIT
// `ingot export-tokenizer MODEL OUT` -- the tokenizer in the files of Hugging Face's libraries.

#include <filesystem>
#include <ingot/metadata_keys.hpp>
#include <ingot/output_file.hpp>
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "commands/export_tokenizer/tokenizer_json.hpp"
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

/// The files, written beside their places and put there together at the end.
class Export {
 public:
  Export(const Options& options, TokenizerSource& source) : options_(options), source_(source) {
    std::filesystem::path out = options.out;
    const bool is_file = out.extension() == ".json";
    folder_ = is_file ? out.parent_path() : out;
    name_ = is_file ? out.filename().string() : "tokenizer.json";
  }

  Result<void> run() {
    INGOT_TRY_VOID(make_folder());
    INGOT_TRY_VOID(add_json(name_, write_tokenizer_json));
    INGOT_TRY_VOID(add_json("tokenizer_config.json", write_configuration));
    INGOT_TRY_VOID(add_json("special_tokens_map.json", write_special_tokens_map));
    const std::string_view text = chat_template_of(source_.model);
    if (!text.empty()) {
      INGOT_TRY(OutputFile file, create("chat_template.jinja"));
      INGOT_TRY_VOID(file.write(std::as_bytes(std::span(text))));
      INGOT_TRY_VOID(keep(std::move(file)));
    }
    for (OutputFile& file : files_) INGOT_TRY_VOID(file.commit());
    return {};
  }

 private:
  Result<void> make_folder() {
    std::error_code error;
    if (folder_.empty()) return {};
    std::filesystem::create_directories(folder_, error);
    if (!error) return {};
    return fail(Errc::io_error, folder_.string(), error.message());
  }

  [[nodiscard]] Result<OutputFile> create(const std::string& name) {
    Result<OutputFile> file = OutputFile::create((folder_ / name).string(), options_.is_forced);
    if (!file && file.error().subject.empty()) file.error().subject = (folder_ / name).string();
    return file;
  }

  Result<void> keep(OutputFile file) {
    INGOT_TRY_VOID(file.sync());
    files_.push_back(std::move(file));
    return {};
  }

  Result<void> add_json(const std::string& name, void (*write)(JsonStream&, TokenizerSource&)) {
    INGOT_TRY(OutputFile file, create(name));
    INGOT_TRY_VOID(print_to(file, [&](Output& out) {
      JsonStream json(out);
      write(json, source_);
    }));
    return keep(std::move(file));
  }

  const Options& options_;
  TokenizerSource& source_;
  std::filesystem::path folder_;
  std::string name_;
  std::vector<OutputFile> files_;
};

ExitCode run(const Options& options, Console& console) {
  if (console.is_json()) {
    return console.refuse_usage("export-tokenizer: it reports nothing, so there is no --json");
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
  require(add_argument(command, "OUT", options->out, "A folder, or a file that ends in .json"));
  add_switch(command, "--force", options->is_forced, "Replace files that exist");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
