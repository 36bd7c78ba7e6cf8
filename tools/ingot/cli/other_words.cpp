// SPDX-License-Identifier: MIT
#include "cli/other_words.hpp"

#include <algorithm>
#include <array>

namespace ingot::cli {
namespace {

struct Row {
  std::string_view command;  ///< Empty for a command that does not exist.
  std::string_view word;
  std::string_view instead;
};

// The spellings of docs/coming-from.md that no command here has.
constexpr std::array rows = {
    Row{"", "version", "'ingot --version'"},
    Row{"", "info", "'ingot show'"},
    Row{"", "inspect", "'ingot show'"},
    Row{"", "inspect-tensor", "'ingot extract'"},
    Row{"", "list", "'ingot ls'"},
    Row{"", "dump", "'ingot metadata' and 'ingot tensors'"},
    Row{"", "keys", "'ingot metadata'"},
    Row{"", "verify", "'ingot hash --verify', or 'ingot check' without a manifest"},
    Row{"", "validate", "'ingot check'"},
    Row{"", "lint", "'ingot check'"},
    Row{"", "compare", "'ingot diff'"},
    Row{"", "set-metadata", "'ingot edit --set'"},
    Row{"", "join", "'ingot merge'"},
    Row{"", "estimate", "'ingot fit'"},
    Row{"split", "--split", "'ingot split' alone"},
    Row{"merge", "--merge", "'ingot merge FIRST OUT' alone"},
    Row{"merge", "--delete-splits", "'rm' after 'ingot diff FIRST OUT'"},
    Row{"split", "--merge", "'ingot merge'"},
    Row{"split", "--split-max-size", "--max-size"},
    Row{"split", "--split-max-tensors", "--max-tensors"},
    Row{"hash", "--sha1", "--algorithm sha1"},
    Row{"hash", "--sha256", "--algorithm sha256"},
    Row{"hash", "--xxh64", "--algorithm xxh64"},
    Row{"hash", "--all", "--algorithm all"},
    Row{"hash", "--check", "--verify"},
    Row{"hash", "--no-layer", "--no-tensors"},
    Row{"edit", "--special-token-by-id", "--special-token-id"},
    Row{"edit", "--remove-metadata", "--remove"},
    Row{"edit", "--general-name", "--set general.name=TEXT"},
    Row{"edit", "--general-description", "--set general.description=TEXT"},
    Row{"edit", "--pre-tokenizer", "--set tokenizer.ggml.pre=NAME"},
    Row{"quantize", "--dry-run", "--plan"},
    Row{"metadata", "--no-tensors", "'ingot metadata' alone"},
    Row{"metadata", "--json-array", "--json, where arrays are whole"},
    Row{"show", "--markdown", "'ingot ls --markdown'"},
    Row{"show", "--path", "'ingot show FILE'"},
    Row{"show", "--raw", "'ingot metadata --json' and 'ingot tensors --json'"},
    Row{"show", "--data-offset", "format.data_offset of --json"},
    Row{"show", "--data-alignment", "format.alignment of --json"},
    Row{"diff", "--tensor-bytes", "--data"},
    Row{"imatrix", "--output-format", "'ingot imatrix convert IN -o OUT.dat'"},
    Row{"imatrix", "--in-file", "'ingot imatrix merge A B -o OUT'"},
    Row{"imatrix", "--show-statistics", "'ingot imatrix show'"},
};

std::string_view find(std::string_view command, std::string_view word) noexcept {
  const auto* row = std::find_if(rows.begin(), rows.end(), [&](const Row& candidate) {
    return candidate.command == command && candidate.word == word;
  });
  return row == rows.end() ? std::string_view() : row->instead;
}

}  // namespace

std::string_view other_command(std::string_view word) noexcept { return find("", word); }

std::string_view other_option(std::string_view command, std::string_view option) noexcept {
  return find(command, option);
}

}  // namespace ingot::cli
