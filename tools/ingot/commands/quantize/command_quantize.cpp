// SPDX-License-Identifier: MIT
// `ingot quantize IN OUT TYPE` -- a model in other tensor types.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <ingot/recipe.hpp>
#include <ingot/shard_name.hpp>
#include <memory>

#include "cli/command.hpp"
#include "commands/quantize/quantize_run.hpp"
#include "text/byte_count.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot quantize model-F16.gguf model-Q4_K_M.gguf Q4_K_M\n"
    "  ingot quantize model-F16.gguf Q4_K_M Q8_0       # model-Q4_K_M.gguf, ...\n"
    "  ingot quantize model-F16.gguf -o out/ Q4_K_M Q8_0 # out/model-Q4_K_M.gguf, ...\n"
    "  ingot quantize model-F16.gguf --to Q4_K_M --to Q8_0 --to-dir out\n"
    "  ingot quantize Qwen3-0.6B qwen3-Q4_K_M.gguf Q4_K_M   # a model folder\n"
    "  ingot quantize hf:Qwen/Qwen3-0.6B Q4_K_M        # ./Qwen3-0.6B-Q4_K_M.gguf\n"
    "  ingot quantize model-F16.gguf model-IQ2_M.gguf iq2_m --imatrix imatrix.gguf\n"
    "  ingot quantize model.gguf --dry-run Q4_K_M --tensor-type '*attn_v*=Q8_0'\n"
    "  ingot quantize model-F16.gguf small.gguf --target-size 4.2G --imatrix im.gguf\n"
    "\n";

std::string list_of_types() {
  std::string text = "Types:\n";
  for (const Recipe& recipe : recipes()) {
    const std::string number = recipe.file_type ? fmt::format("{}", *recipe.file_type) : "";
    text += fmt::format("  {:>2} {:9}  {}\n", number, recipe.name, recipe.description);
  }
  text +=
      "\n"
      "TYPE is a name in any case, or its number. Rules, formats and how to spread the\n"
      "work over machines: docs/quantize.md.\n"
      "\n"
      "Of the largest errors, 'error' is the root of their squares over those of the\n"
      "weights, by importances where there are any; 'slope' below 1 says that weights\n"
      "became smaller; 'output', with second moments, is the error of what the tensor\n"
      "computes.";
  return text;
}

void add_type_options(CLI::App& command, QuantizeRequest& options) {
  add_texts(command, "--tensor-type", options.tensor_types, "PATTERN=TYPE",
            "This type for tensors of that name: a glob, re:EXPRESSION, or a part of names; the "
            "first that finds one counts");
  add_text(command, "--tensor-type-file", options.tensor_type_file, "FILE",
           "Such patterns, one a line, after those of --tensor-type");
  add_text(command, "--output-tensor-type", options.output_type, "TYPE", "For output.weight");
  add_text(command, "--token-embedding-type", options.embedding_type, "TYPE",
           "For the token embeddings");
  add_switch(command, "--leave-output-tensor", options.settings.types.leaves_output,
             "Keep output.weight as it is");
  add_switch(command, "--pure", options.settings.types.is_pure, "No mixture: one type for all");
  add_text(
      command, "--target-bpw", options.target_bits, "BITS",
      "Instead of TYPE: choose types for at most so many bits per weight, with the least error");
  add_text(command, "--target-size", options.target_size, "SIZE",
           "The same for a file of at most SIZE: 4.2G, 900MiB");
  add_text(command, "--sensitivity", options.sensitivity, "FILE",
           "Choose by what `ingot sensitivity` has measured");
}

void add_matrix_options(CLI::App& command, QuantizeRequest& options) {
  add_texts(command, "--imatrix", options.imatrix_files, "FILE",
            "Importance matrix, GGUF or .dat; several are combined");
  add_texts(command, "--include-weights", options.include_weights, "PART",
            "Use only its entries whose names hold PART, or match a glob or re:EXPRESSION");
  add_texts(command, "--exclude-weights", options.exclude_weights, "PART", "Ignore such entries");
  add_texts(command, "--override-kv", options.overrides, "KEY=TYPE:VALUE",
            "Set a key of the result; TYPE: int, float, bool, str");
}

}  // namespace

void add_quantize_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<QuantizeRequest>();
  CLI::App& command =
      add_command(program, "quantize", "Write a model in other, usually smaller, tensor types",
                  examples + list_of_types());
  require(add_argument(command, "IN", options->file,
                       "A GGUF file, any shard of a set, or a Hugging Face folder"));
  add_argument(command, "OUT", options->out,
               "The file to write, a folder for it, or a pattern like 'out/{name}-{type}.gguf'; "
               "without it {name}-{type}.gguf, beside IN, or here if IN is a folder or remote");
  add_argument(
      command, "TYPE", options->types,
      "The mixture of types, listed below; without OUT several, each with a file of its own");
  add_text(command, "-o,--output", options->named_out, "OUT",
           "The same as OUT; then one or several TYPEs may follow IN");
  add_texts(command, "--to", options->to, "TYPE",
            "The same as TYPE; several results are made from one reading of IN");
  add_text(command, "--to-dir", options->to_dir, "FOLDER",
           "The folder of all results, {name}-{type}.gguf; made if it is missing");
  add_type_options(command, *options);
  add_matrix_options(command, *options);
  add_choice(
      command, "--effort", "EFFORT", options->settings.effort,
      {{"auto", Effort::automatic}, {"reference", Effort::reference}, {"best", Effort::best}},
      "How blocks are chosen, {}: by a search for weights on a lattice (int4, QAT) and else as "
      "ggml "
      "does it; always as ggml; always by the search, which takes longer; default: auto");
  add_switch(command, "--no-feedback", options->has_no_feedback,
             "With --effort best, make no use of the second moments of an importance matrix");
  add_byte_count(
      command, "--max-memory", options->settings.max_memory_bytes,
      "Write with less at once, so that the process does not hold more than SIZE; planning is not "
      "limited, nor pages of files that --io mmap maps");
  add_switch(
      command, "--resume", options->settings.resumes,
      "Use the finished tensors of an earlier run that was stopped; keep those of this run, too");
  add_switch(command, "--keep-split", options->settings.keeps_shards,
             "Of a model in shards, write as many: OUT-00001-of-00003.gguf and so on");
  add_text(command, "--shard", options->shard, "I/N",
           "Write only the I-th of N shards; the others can be made elsewhere");
  add_byte_count(command, "--max-size", options->limits.max_bytes,
                 "Write files of at most SIZE: OUT-00001-of-00003.gguf and so on");
  add_number(command, "--shards", options->limits.shard_count, 1, max_shard_count,
             "Write exactly N files, as equal in size as can be");
  add_text(command, "--pre", options->pre, "NAME",
           "Model folders: pre-tokenizer; default: by the tokenizer");
  add_switch(command, "--dry-run", options->is_plan,
             "Show what each tensor would become, and why; write nothing");
  add_text(command, "--report", options->report, "FILE",
           "Write the errors of all tensors: a page if FILE ends in .html, else JSON");
  add_switch(command, "--allow-requantize", options->settings.allows_requantize,
             "Also quantize tensors that are quantized already, at a loss");
  add_switch(command, "--index", options->settings.has_index,
             "Write a layout index, by which readers jump to the tensors");
  add_switch(command, "--allow-nan", options->settings.allows_nan,
             "Go on where weights are NaN or infinite");
  add_switch(command, "--force", options->is_forced, "Replace OUT and the report if they exist");
  on_run(command, [options, &console] { console.finish(run_quantize(*options, console)); });
}

}  // namespace ingot::cli
