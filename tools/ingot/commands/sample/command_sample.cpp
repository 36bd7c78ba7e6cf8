// SPDX-License-Identifier: MIT
// `ingot sample OUT` -- a small, valid, deterministic model.

#include <fmt/core.h>

#include <algorithm>
#include <ingot/architectures.hpp>
#include <ingot/metadata_keys.hpp>
#include <ingot/text.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "commands/output_name.hpp"
#include "commands/sample/sample_model.hpp"
#include "commands/sample/sample_vocabulary.hpp"
#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot sample tiny.gguf\n"
    "  ingot sample hybrid.gguf --architecture jamba\n"
    "  ingot sample mmproj.gguf --architecture clip --projector qwen3vl_merger\n"
    "  ingot sample qwen.gguf --arch qwen2 --vocab 256000 --type BF16\n"
    "  ingot sample quantized.gguf --type Q4_K\n"
    "  ingot sample moe.gguf --experts 8 --layers 4\n"
    "  ingot sample large.gguf --params 8B --type F16\n"
    "\n"
    "The weights are random. The same options give the same bytes on every machine.";

struct Options {
  std::string out;
  std::string architecture = "llama";
  std::string projector;
  std::string parameters;
  ShapeRequest request;
  SampleOptions sample;
  bool is_forced = false;
};

void remark_done(Console& console, const Options& options) {
  const SampleShape& shape = options.sample.shape;
  std::string experts;
  if (shape.experts > 0) experts = fmt::format(" with {} experts", shape.experts);
  remark_written(console, options.out,
                 fmt::format("{}, {} layer{} of width {}{}, {} parameters, {}", name_of(shape.arch),
                             shape.layers, shape.layers == 1 ? "" : "s", shape.embedding, experts,
                             format_count(shape.parameters()), type_text(options.sample.type)));
}

void remark_row(Console& console, const Options& options) {
  remark_written(console, options.out,
                 options.architecture + ", " + std::string(type_text(options.sample.type)));
}

ExitCode write_sample(Options& options, Console& console) {
  INGOT_CLI_TRY_VOID(make_output_folder(options.out), console, options.out);
  options.out = output_path(options.out, options.architecture, type_text(options.sample.type));
  INGOT_CLI_TRY(const ModelWriter writer, make_sample(options.sample), console, options.out);
  const WriteFormat format{.version = 3, .byte_order = options.sample.byte_order};
  INGOT_CLI_TRY(const std::uint64_t bytes, writer.file_bytes(format), console, options.out);

  const Result<void> result =
      run_with_progress(console, options.out, bytes, [&](const GoOn& go_on) {
        return writer.write(options.out, format, options.is_forced, go_on);
      });
  if (!result) return console.fail(options.out, result.error());
  options.sample.architecture != nullptr ? remark_row(console, options)
                                         : remark_done(console, options);
  return ExitCode::done;
}

/// A sample as the row of its architecture has it, with the numbers that were given.
ExitCode run_of_row(const Architecture& row, Options& options, Console& console) {
  const ShapeRequest& request = options.request;
  if (request.parameters) {
    return console.refuse_usage("sample: --params goes with --architecture llama and qwen2 only");
  }
  const auto take = [&](std::string_view key, const std::optional<std::uint32_t>& number) {
    if (number) options.sample.numbers.emplace_back(key, *number);
  };
  options.sample.variant = options.projector;
  if (!options.projector.empty() && std::ranges::count(row.variants, options.projector) == 0) {
    return console.refuse_usage(
        row.variants.empty()
            ? "sample: --projector goes with --architecture clip only"
            : fmt::format("sample: there is no sample of the projector \"{}\"; there is one of {}",
                          escape(options.projector), joined(row.variants, ", ")));
  }
  take(suffixes::block_count, request.layers);
  take(suffixes::embedding_length, request.embedding);
  // Of a projector, the width of the model that it is for.
  take("vision.projection_dim", request.embedding);
  take("audio.projection_dim", request.embedding);
  take(suffixes::feed_forward_length, request.feed_forward);
  take(suffixes::attention_head_count, request.heads);
  take(suffixes::attention_head_count_kv, request.kv_heads);
  take(suffixes::expert_count, request.experts);
  take(suffixes::context_length, request.context);
  SampleShape& shape = options.sample.shape;
  shape.arch = row.has_scored_tokens ? SampleArch::llama : SampleArch::qwen2;
  shape.vocabulary = request.vocabulary.value_or(row.sample_tokens);
  if (shape.vocabulary < least_vocabulary(shape.arch)) {
    return console.refuse_usage(fmt::format("sample: the vocabulary must have at least {} tokens",
                                            least_vocabulary(shape.arch)));
  }
  options.sample.architecture = &row;
  return write_sample(options, console);
}

ExitCode run(Options& options, Console& console) {
  if (console.is_json()) {
    return console.refuse_usage("sample: it reports nothing, so there is no --json");
  }
  if (options.out.empty()) {
    return console.refuse_usage("sample: OUT is missing; the usage is: ingot sample [OPTIONS] OUT");
  }
  if (options.out == "-") {
    return console.refuse_usage("sample: OUT must be a file, which appears complete or not at all");
  }
  if (!options.parameters.empty()) {
    options.request.parameters = parse_parameters(options.parameters);
    if (!options.request.parameters) {
      return console.refuse_usage(
          "sample: --params must be a number like 350M, 1B or 1.5B, not \"" +
          escape(options.parameters) + "\"");
    }
  }
  options.sample.threads = console.threads();
  const Architecture* row = find_architecture(options.architecture);
  if (row == nullptr) {
    return console.refuse_usage("sample: the architecture \"" + escape(options.architecture) +
                                "\" is not known; `ingot architectures` lists those that are");
  }
  const bool is_llama = row->name == name_of(SampleArch::llama);
  const bool has_own_shape = is_llama || row->name == name_of(SampleArch::qwen2);
  if (!has_own_shape || !options.projector.empty()) return run_of_row(*row, options, console);
  options.request.arch = is_llama ? SampleArch::llama : SampleArch::qwen2;
  options.request.block_elements = find_type(options.sample.type)->block_elements;
  options.sample.shape = choose_shape(options.request);
  const std::string problem = shape_problem(options.sample.shape);
  if (!problem.empty()) return console.refuse_usage("sample: " + problem);
  return write_sample(options, console);
}

Choices<TensorType> all_types() {
  Choices<TensorType> choices;
  for (const TensorTypeInfo& info : live_tensor_types) {
    choices.emplace_back(info.name, info.type);
  }
  return choices;
}

void add_shape_options(CLI::App& command, Options& options) {
  ShapeRequest& request = options.request;
  add_text(command, "--architecture,--arch", options.architecture, "NAME",
           "Any that `ingot architectures` describes; default: llama");
  add_text(command, "--projector", options.projector, "TYPE",
           "The type of a projector, with --architecture clip; default: gemma3");
  add_text(command, "--params", options.parameters, "COUNT",
           "Choose a shape with about this many parameters: 350M, 1B, 8B");
  add_number(command, "--layers", request.layers, 1, 4096, "Layers");
  add_number(command, "--embedding", request.embedding, 2, 65536,
             "Width of a layer; of a projector, of the model that it is for");
  add_number(command, "--feed-forward", request.feed_forward, 1, 1 << 20,
             "Inner width of the feed-forward nets");
  add_number(command, "--heads", request.heads, 1, 65536, "Attention heads");
  add_number(command, "--kv-heads", request.kv_heads, 1, 65536, "Heads of keys and values");
  add_number(command, "--experts", request.experts, 1, 1024,
             "A mixture of N experts in each layer (llama only)");
  add_number(command, "--vocab", request.vocabulary, 1, 1 << 24, "Tokens in the vocabulary");
  add_number(command, "-c,--ctx-size", request.context, 1, 1 << 30, "Tokens of context");
}

}  // namespace

void add_sample_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "sample", "Make a small, valid model for demos and tests", examples);
  add_output(command, options->out, "OUT", "The file to write; in a folder ARCHITECTURE-TYPE.gguf");
  add_shape_options(command, *options);
  add_choice(command, "--type", "TYPE", options->sample.type, all_types(),
             "Type of the matrices, any that `ingot types` lists; default: F16");
  add_number(command, "--seed", options->sample.seed, 0, std::numeric_limits<std::uint64_t>::max(),
             "Another number, other weights; default: 1");
  add_choice(command, "--endian", "ORDER", options->sample.byte_order,
             {{"little", Endian::little}, {"big", Endian::big}}, "Byte order, {}; default: little");
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
