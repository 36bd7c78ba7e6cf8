// SPDX-License-Identifier: MIT
#include "commands/fit/fit_arguments.hpp"

#include <algorithm>
#include <charconv>
#include <ingot/text.hpp>
#include <iterator>

#include "cli/command.hpp"
#include "commands/fit/engine_command.hpp"
#include "commands/image_facts.hpp"
#include "text/byte_count.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

Failure senseless(const std::string& option, const std::string& text, const std::string& right) {
  return fail(Errc::invalid_argument, option,
              "\"" + escape_shortened(text, 60) + "\" is not " + right);
}

/// A rate like 936G, in bytes a second, in powers of 1000 as makers count; of a bare number, in
/// GB/s, as they print it.
Result<double> parse_rate(const std::string& option, const std::string& text) {
  constexpr double most_gigabytes = 1e6;  // far above any memory
  const auto [number, length] = leading_decimal(text);
  const bool is_bare = length == text.size() && number <= most_gigabytes;
  const std::string full = is_bare ? text + "G" : text;
  const std::optional<std::uint64_t> rate = parse_byte_count(full);
  if (!rate) return senseless(option, text, "a rate like 936G, in bytes a second");
  return static_cast<double>(*rate);
}

/// Whether a list of devices may be one size with a comma for the point: "8,5 GB".
bool has_decimal_comma(const std::vector<std::string>& words) {
  if (words.size() != 2 || !parse_number<std::uint32_t>(words[0])) return false;
  const std::string& rest = words[1];
  const auto is_digit = [&](std::size_t at) { return rest[at] >= '0' && rest[at] <= '9'; };
  return rest.size() > 1 && is_digit(0) && !is_digit(1) && parse_memory_size(rest).has_value();
}

Result<void> take_devices(const FitArguments& arguments, RunOptions& run) {
  for (const std::string& list : arguments.devices) {
    if (const std::vector<std::string> words = split_list(list); has_decimal_comma(words)) {
      std::string rest = words[1];
      std::erase(rest, ' ');
      return fail(Errc::invalid_argument, "--device",
                  "\"" + escape_shortened(list, 60) + "\" may be one card or two: write " +
                      words[0] + "." + rest + " or " + words[0] + "G," + rest);
    }
    for (const std::string& word : split_list(list)) {
      if (word == "auto") {
        ThisMachine machine = find_this_machine();
        std::move(machine.devices.begin(), machine.devices.end(), std::back_inserter(run.devices));
        if (!run.host_bytes) run.host_bytes = machine.host_bytes;
        continue;
      }
      const Result<Device> device = parse_device(word);
      if (!device) {
        return fail(Errc::invalid_argument, "--device",
                    "\"" + escape_shortened(word, 60) + "\" is none: " + device.error().detail +
                        "; `ingot fit --list-devices` prints all");
      }
      run.devices.push_back(*device);
    }
  }
  return {};
}

Result<void> take_bandwidths(const FitArguments& arguments, RunOptions& run) {
  if (arguments.host_bandwidth) {
    INGOT_TRY(run.host_bandwidth, parse_rate("--host-bandwidth", *arguments.host_bandwidth));
  }
  if (!arguments.bandwidth) return {};
  const std::vector<std::string> words = split_list(*arguments.bandwidth);
  if (run.devices.empty() && words.size() == 1) {
    INGOT_TRY(run.host_bandwidth, parse_rate("--bandwidth", words[0]));
    return {};
  }
  if (words.size() != 1 && words.size() != run.devices.size()) {
    return senseless("--bandwidth", *arguments.bandwidth, "one rate, or one for each device");
  }
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    INGOT_TRY(run.devices[i].bandwidth,
              parse_rate("--bandwidth", words[words.size() == 1 ? 0 : i]));
  }
  return {};
}

Result<void> take_gpu_layers(const FitArguments& arguments, RunOptions& run) {
  if (!arguments.gpu_layers) return {};
  const std::string& text = *arguments.gpu_layers;
  if (text == "all" || text == "auto" || text == "-1") {
    run.gpu_layers = -1;
    return {};
  }
  const auto count = parse_number<std::uint32_t>(text);
  if (!count) return senseless("--gpu-layers", text, "a number of layers, or all");
  run.gpu_layers = *count;
  return {};
}

Result<void> take_split(const FitArguments& arguments, RunOptions& run) {
  if (!arguments.tensor_split) return {};
  std::string list = *arguments.tensor_split;
  std::replace(list.begin(), list.end(), '/', ',');
  for (const std::string& word : split_list(list)) {
    const auto [share, length] = leading_decimal(word);
    if (length == 0 || length != word.size()) {
      return senseless("--tensor-split", *arguments.tensor_split, "a list of shares like 3,1");
    }
    run.tensor_split.push_back(share);
  }
  return {};
}

Choices<TensorType> cache_type_choices() {
  Choices<TensorType> choices;
  for (const TensorType type : cache_types) choices.emplace_back(engine_word(type), type);
  return choices;
}

void add_run_options(CLI::App& command, FitArguments& arguments) {
  RunOptions& run = arguments.run;
  add_text(command, "-c,--ctx-size", arguments.context, "N",
           "Tokens of context, like 8192 or 32k; default: the model's own");
  add_number(command, "-b,--batch-size", run.batch, 1, 1U << 30,
             "Tokens of a batch; default: 2048");
  add_number(command, "--ubatch-size", run.micro_batch, 1, 1U << 30,
             "Tokens that are computed at once; default: 512");
  add_number(command, "--parallel", run.sequences, 1, max_sequences,
             "Sequences at the same time; default: 1");
  add_choice(command, "--cache-type-k", "TYPE", run.key_type, cache_type_choices(),
             "Type of the keys, {}; default: f16");
  add_choice(command, "--cache-type-v", "TYPE", run.value_type, cache_type_choices(),
             "Type of the values, the same; default: f16");
  add_choice(command, "--flash-attn", "WHEN", run.flash_attention,
             {{"auto", FlashAttention::automatic},
              {"on", FlashAttention::on},
              {"off", FlashAttention::off}},
             "Flash attention, {}; auto counts as on");
  add_switch(command, "--kv-unified", run.is_cache_unified, "Let all sequences share one context");
  add_switch(command, "--swa-full", run.keeps_full_windows,
             "Keep the whole context in layers that see only a window");
  add_switch(command, "--embeddings", run.wants_embeddings, "Ask for embeddings as well");
  add_switch(command, "--no-mmap", arguments.no_mmap, "Read the file instead of mapping it");
  add_switch(command, "--no-repack", arguments.no_repack,
             "Leave weights as they are stored, and so mapped");
}

void add_place_options(CLI::App& command, FitArguments& arguments) {
  add_texts(
      command, "-d,--device", arguments.devices, "DEVICES",
      "Memory sizes or names, like 24G or rtx-4090,rtx-3060; 8 is 8G, 3090 rtx-3090; auto is what "
      "is free on the cards and the host of this machine");
  add_text(command, "--host", arguments.host, "SIZE",
           "Memory of the host, like 64G, or 64; default: not limited");
  add_text(command, "--gpu-layers", arguments.gpu_layers, "N",
           "Layers on the devices, the output counted as one, or all; default: all");
  add_text(command, "--tensor-split", arguments.tensor_split, "LIST",
           "Shares of the devices, like 3,1; default: by their memory");
  add_switch(command, "--no-kv-offload", arguments.no_kv_offload, "Keep the cache on the host");
  add_switch(command, "--cpu-moe", arguments.keeps_experts_on_host,
             "Keep the experts of all layers on the host");
  add_number(command, "--n-cpu-moe", arguments.run.experts_on_host, 0, 1U << 20,
             "Keep the experts of the first N layers on the host");
  add_texts(command, "--with", arguments.companions, "FILE",
            "A projector or an adapter that is loaded beside the model");
  add_number(command, "--images", arguments.run.images, 1, 1U << 20,
             "Images in the context, whose tokens count; needs --with and --image-size");
  add_text(command, "--image-size", arguments.image_size, "SIZE",
           "Pixels of each image, like 1024x768; --images is 1 then if it is not given");
  add_text(command, "--audio-seconds", arguments.audio_seconds, "N",
           "Seconds of a sound in the context, whose tokens count; needs --with");
  add_text(command, "--bandwidth", arguments.bandwidth, "RATE",
           "Memory bandwidth of the devices, like 936G (or 936) a second, to bound the speed");
  add_text(command, "--host-bandwidth", arguments.host_bandwidth, "RATE", "The same of the host");
}

}  // namespace

std::string engine_word(TensorType type) { return lower_case(find_type(type)->name); }

std::optional<std::uint64_t> parse_token_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc() || unit.size() > 1) return std::nullopt;
  std::uint64_t factor = 1;
  if (unit == "k" || unit == "K") factor = 1024;
  if (unit == "m" || unit == "M") factor = std::uint64_t{1} << 20;
  if (!unit.empty() && factor == 1) return std::nullopt;
  if (count > max_context / factor) return std::nullopt;
  return count * factor;
}

void add_fit_arguments(CLI::App& command, FitArguments& arguments) {
  add_argument(command, "FILE", arguments.files,
               "A GGUF file, its header, or any shard of a set; several are a table");
  add_place_options(command, arguments);
  add_run_options(command, arguments);
  add_switch(command, "--max-context", arguments.wants_longest_context,
             "Take the longest context that fits");
  add_choice(command, "--for", "ENGINE", arguments.for_llama_cpp, {{"llama.cpp", true}},
             "Print the command that starts this run, for {}");
  add_switch(command, "--markdown", arguments.wants_table,
             "Print a grid of contexts and quantizations, for a model card");
  add_text(command, "--contexts", arguments.contexts, "LIST",
           "Contexts of the grid, like 4k,32k; default: from 2k to the model's own");
  add_text(command, "--types", arguments.types, "LIST",
           "Quantizations of the grid, like Q4_K_M,Q8_0");
  add_switch(command, "--list-devices", arguments.lists_devices, "Print the names of devices");
}

Result<RunOptions> run_options_of(const FitArguments& arguments) {
  RunOptions run = arguments.run;
  if (arguments.context) {
    const std::optional<std::uint64_t> tokens = parse_token_count(*arguments.context);
    if (!tokens) {
      return senseless("--ctx-size", *arguments.context, "a number of tokens like 8192 or 32k");
    }
    run.context = *tokens;
  }
  if (arguments.host) {
    run.host_bytes = parse_memory_size(*arguments.host);
    if (!run.host_bytes) return senseless("--host", *arguments.host, "a size like 64G");
  }
  if (arguments.image_size) {
    INGOT_TRY(const ImagePixels pixels, parse_image_size("--image-size", *arguments.image_size));
    run.images = std::max<std::uint64_t>(run.images, 1);
    run.image_size = {pixels.width, pixels.height};
  } else if (run.images > 0) {
    return fail(Errc::invalid_argument, "--images", "--image-size is missing, like 1024x768");
  }
  if (arguments.audio_seconds) {
    INGOT_TRY(run.audio_seconds, parse_seconds("--audio-seconds", *arguments.audio_seconds));
  }
  INGOT_TRY_VOID(take_devices(arguments, run));
  INGOT_TRY_VOID(take_bandwidths(arguments, run));
  INGOT_TRY_VOID(take_gpu_layers(arguments, run));
  INGOT_TRY_VOID(take_split(arguments, run));
  if (arguments.keeps_experts_on_host) {
    run.experts_on_host = 1U << 20;  // no model has more layers
  }
  run.maps_file = !arguments.no_mmap;
  run.repacks_weights = !arguments.no_repack;
  run.offloads_cache = !arguments.no_kv_offload;
  return run;
}

}  // namespace ingot::cli
