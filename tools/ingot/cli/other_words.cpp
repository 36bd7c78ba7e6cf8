// SPDX-License-Identifier: MIT
#include "cli/other_words.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace ingot::cli {
namespace {

struct Row {
  std::string_view command;  ///< The command; empty for a word in the place of a command.
  std::string_view word;
  std::string_view instead;
};

// The words that no command here has. docs/coming-from.md lists them, as `--generate other-words`
// prints them.
constexpr std::array rows = {
    Row{"", "version", "'ingot --version'"},
    Row{"", "info", "'ingot show'"},
    Row{"", "inspect", "'ingot show'"},
    Row{"", "inspect-tensor", "'ingot extract'"},
    Row{"", "list", "'ingot ls'"},
    Row{"", "dump", "'ingot metadata' and 'ingot tensors'"},
    Row{"", "import", "'ingot convert FOLDER OUT'"},
    Row{"", "get", "'ingot metadata FILE KEY'"},
    Row{"", "set", "'ingot edit FILE --set KEY=VALUE'"},
    Row{"", "cat", "'ingot metadata' and 'ingot tensors'"},
    Row{"", "pull", "'ingot download'"},
    Row{"", "run", "'ingot fit', or 'ingot evaluate'; no text is generated here"},
    Row{"", "keys", "'ingot metadata'"},
    Row{"", "verify", "'ingot hash --verify', or 'ingot check' without a manifest"},
    Row{"", "validate", "'ingot check'"},
    Row{"", "lint", "'ingot check'"},
    Row{"", "compare", "'ingot diff'"},
    Row{"", "set-metadata", "'ingot edit --set'"},
    Row{"", "join", "'ingot merge'"},
    Row{"", "estimate", "'ingot fit'"},
    Row{"", "gguf-dump", "'ingot metadata' and 'ingot tensors'"},
    Row{"", "gguf_dump.py", "'ingot metadata' and 'ingot tensors'"},
    Row{"", "gguf-set-metadata", "'ingot edit --set KEY=VALUE --in-place'"},
    Row{"", "gguf-new-metadata", "'ingot edit -o OUT'"},
    Row{"", "gguf_hash.py", "'ingot hash'"},
    Row{"", "gguf-convert-endian", "'ingot convert --endian ORDER'"},
    Row{"", "gguf-editor-gui", "'ingot report' to look, 'ingot edit' to change"},
    Row{"", "llama-gguf", "'ingot anatomy', or 'ingot sample' to write"},
    Row{"", "llama-gguf-split", "'ingot split' or 'ingot merge'"},
    Row{"", "gguf-split", "'ingot split' or 'ingot merge'"},
    Row{"", "llama-gguf-hash", "'ingot hash'"},
    Row{"", "gguf-hash", "'ingot hash'"},
    Row{"", "llama-quantize", "'ingot quantize'"},
    Row{"", "llama-imatrix", "'ingot imatrix'"},
    Row{"", "llama-perplexity", "'ingot evaluate'"},
    Row{"", "perplexity", "'ingot evaluate'"},
    Row{"", "llama-cli", "'ingot show hf:ORG/REPO:QUANT'"},
    Row{"", "gguf-tools", "'ingot show'"},
    Row{"", "gguf-parser", "'ingot show', or 'ingot fit' for memory"},
    Row{"", "hf", "'ingot download hf:ORG/REPO/FILE'"},
    Row{"", "gguf-inspect", "'ingot show'"},
    Row{"", "gguf-validate", "'ingot check'"},
    Row{"", "gguf-compare", "'ingot diff'"},
    Row{"", "gguf-view", "'ingot show'"},
    Row{"", "convert_hf_to_gguf.py", "'ingot convert FOLDER OUT'"},
    Row{"", "llama-export-lora", "'ingot lora merge MODEL ADAPTER OUT'"},
    Row{"", "convert_lora_to_gguf.py", "'ingot convert ADAPTER OUT --base FOLDER'"},
    Row{"", "convert_llama_ggml_to_gguf.py", "'ingot convert'"},
    Row{"", "--merge", "'ingot merge'"},
    Row{"", "--split", "'ingot split'"},
    Row{"", "--split-max-size", "'ingot split --max-size'"},
    Row{"", "--split-max-tensors", "'ingot split --max-tensors'"},
    Row{"", "--sha1", "'ingot hash --algorithm sha1'"},
    Row{"", "--sha256", "'ingot hash --algorithm sha256'"},
    Row{"", "--xxh64", "'ingot hash --algorithm xxh64'"},
    Row{"convert", "--input", "the first argument: 'ingot convert IN OUT'"},
    Row{"diff", "--tensor-bytes", "--data"},
    Row{"diff", "--diffable", "'ingot diff A B' alone"},
    Row{"edit", "--special-token-by-id", "--special-token-id"},
    Row{"edit", "--remove-metadata", "--remove"},
    Row{"edit", "--general-name", "--set general.name=TEXT"},
    Row{"edit", "--general-description", "--set general.description=TEXT"},
    Row{"edit", "--pre-tokenizer", "--set tokenizer.ggml.pre=NAME"},
    Row{"evaluate", "-f", "--text"},
    Row{"evaluate", "--kl-divergence-base", "the first argument: 'ingot evaluate BASE OTHER'"},
    Row{"evaluate", "--kl-divergence", "the second argument: 'ingot evaluate BASE OTHER'"},
    Row{"hash", "--sha1", "--algorithm sha1"},
    Row{"hash", "--sha256", "--algorithm sha256"},
    Row{"hash", "--xxh64", "--algorithm xxh64"},
    Row{"hash", "--all", "--algorithm all"},
    Row{"hash", "--check", "--verify"},
    Row{"hash", "--no-layer", "--no-tensors"},
    Row{"imatrix", "--output-format", "'ingot imatrix convert IN -o OUT.dat'"},
    Row{"imatrix", "--in-file", "'ingot imatrix merge A B -o OUT'"},
    Row{"imatrix", "-f", "--text"},
    Row{"imatrix", "--show-statistics", "'ingot imatrix show'"},
    Row{"merge", "--merge", "'ingot merge FIRST OUT' alone"},
    Row{"merge", "--delete-splits", "'rm' after 'ingot diff FIRST OUT'"},
    Row{"metadata", "--no-tensors", "'ingot metadata' alone"},
    Row{"metadata", "--json-array", "--json, where arrays are whole"},
    Row{"metadata", "--markdown", "'ingot report -o OUT.html'"},
    Row{"metadata", "--data-offset", "'ingot show --json': format.data_offset"},
    Row{"metadata", "--data-alignment", "'ingot show --json': format.alignment"},
    Row{"report", "--markdown", "-o OUT.html"},
    Row{"show", "--markdown", "'ingot ls --markdown'"},
    Row{"show", "--path", "'ingot show FILE'"},
    Row{"show", "--raw", "'ingot metadata --json' and 'ingot tensors --json'"},
    Row{"show", "--data-offset", "format.data_offset of --json"},
    Row{"show", "--data-alignment", "format.alignment of --json"},
    Row{"show", "--url", "a FILE: 'ingot show URL'"},
    Row{"show", "--hf-file", "a part of FILE: 'ingot show hf:ORG/REPO/FILE'"},
    Row{"show", "--ol-model", "a FILE: 'ingot show ollama:NAME'"},
    Row{"show", "--diffable", "'ingot diff A B'"},
    Row{"split", "--split", "'ingot split' alone"},
    Row{"split", "--merge", "'ingot merge'"},
    Row{"split", "--split-max-size", "--max-size"},
    Row{"split", "--split-max-tensors", "--max-tensors"},
};

struct Spelling {
  std::string_view command;
  std::string_view word;
  std::string_view option;
};

// CLI11 has no options of one dash and several letters.
constexpr std::array spellings = {
    Spelling{"fit", "-ub", "--ubatch-size"},
    Spelling{"fit", "-np", "--parallel"},
    Spelling{"fit", "-ctk", "--cache-type-k"},
    Spelling{"fit", "-ctv", "--cache-type-v"},
    Spelling{"fit", "-fa", "--flash-attn"},
    Spelling{"fit", "-kvu", "--kv-unified"},
    Spelling{"fit", "-ngl", "--gpu-layers"},
    Spelling{"fit", "--n-gpu-layers", "--gpu-layers"},
    Spelling{"fit", "-ts", "--tensor-split"},
    Spelling{"fit", "-nkvo", "--no-kv-offload"},
    Spelling{"fit", "-cmoe", "--cpu-moe"},
    Spelling{"fit", "-ncmoe", "--n-cpu-moe"},
    Spelling{"fit", "-mm", "--with"},
    Spelling{"fit", "--mmproj", "--with"},
    Spelling{"fit", "--lora", "--with"},
    Spelling{"fit", "--gpu", "--device"},
    Spelling{"fit", "--table", "--markdown"},
    Spelling{"fit", "--context", "--ctx-size"},
    Spelling{"convert", "--context", "--ctx-size"},
    Spelling{"convert", "--context-length", "--ctx-size"},
    Spelling{"convert", "--plan", "--dry-run"},
    Spelling{"convert", "--outfile", "--output"},
    Spelling{"convert", "--outtype", "--type"},
    Spelling{"sample", "--context", "--ctx-size"},
    Spelling{"quantize", "--plan", "--dry-run"},
    Spelling{"edit", "--chat-template-file", "--template"},
    Spelling{"check", "--chat-template-file", "--template"},
    Spelling{"chat", "--chat-template-file", "--template"},
};

std::string_view find(std::string_view command, std::string_view word) noexcept {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& candidate) {
    return candidate.command == command && candidate.word == word;
  });
  return row == rows.end() ? std::string_view() : row->instead;
}

}  // namespace

std::string_view other_command(std::string_view word) noexcept { return find("", word); }

std::string other_words_page() {
  std::string page = "| after `ingot` | here |\n| --- | --- |\n";
  for (const Row& row : rows) {
    const std::string_view space = row.command.empty() ? "" : " ";
    page += fmt::format("| `{}{}{}` | {} |\n", row.command, space, row.word, row.instead);
  }
  return page;
}

std::string_view other_option(std::string_view command, std::string_view option) noexcept {
  return find(command, option);
}

void respell_options(std::vector<std::string>& arguments) {
  for (const Spelling& spelling : spellings) {
    auto word = std::find(arguments.begin(), arguments.end(), spelling.command);
    for (; word != arguments.end(); ++word) {
      const std::size_t end = std::min(word->find('='), word->size());
      if (std::string_view(*word).substr(0, end) == spelling.word) {
        word->replace(0, end, spelling.option);
      }
    }
  }
}

}  // namespace ingot::cli
