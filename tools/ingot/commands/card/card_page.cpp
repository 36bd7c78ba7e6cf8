// SPDX-License-Identifier: MIT
#include "commands/card/card_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ingot/model_card.hpp>
#include <ingot/text.hpp>

#include "commands/evaluate/evaluation_output.hpp"
#include "commands/fit/fit_grid.hpp"
#include "text/markdown.hpp"
#include "text/memory_facts.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

void write_text(Output& out, std::string_view member, std::string_view text) {
  if (!text.empty()) out.print("{}: {}\n", member, yaml_scalar(text));
}

void write_texts(Output& out, std::string_view member, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  out.print("{}:\n", member);
  for (const std::string& text : texts) out.print("- {}\n", yaml_scalar(text));
}

void write_front_matter(Output& out, const CardFacts& facts) {
  out.write("---\n");
  write_text(out, "license", facts.license);
  write_text(out, "license_name", facts.license_name);
  write_text(out, "license_link", facts.license_link);
  write_texts(out, "base_model", facts.base_models);
  if (facts.is_quantized) write_text(out, "base_model_relation", "quantized");
  write_texts(out, "language", facts.languages);
  write_text(out, "pipeline_tag", facts.pipeline_tag);
  write_texts(out, "tags", facts.tags);
  write_text(out, "quantized_by", facts.quantized_by);
  out.write("---\n");
}

void write_introduction(Output& out, const CardFacts& facts) {
  out.print("\n# {}\n\n", markdown_text(facts.title));
  out.write("Files in GGUF, for llama.cpp and what is built on it");
  // These are names of repositories, which hold nothing that Markdown or an address would read.
  for (const std::string& base : facts.base_models) {
    out.print("{}[{}](https://huggingface.co/{})",
              &base != &facts.base_models.front() ? " and "
              : facts.is_quantized                ? ", of "
                                                  : ", of a model based on ",
              base, base);
  }
  out.write(".\n");
  if (!facts.prompt_format.empty()) out.print("Prompt format: {}.\n", facts.prompt_format);
}

std::string file_text(const CardModel& model) {
  const std::string name = markdown_text(model.name);
  return model.file_count == 1 ? name : fmt::format("{} and {} more", name, model.file_count - 1);
}

void write_files(Output& out, const CardFacts& facts) {
  const bool has_quality = !facts.results_basis.empty();
  out.print("\n## Files\n\n| file | type | bits per weight | size |{}\n",
            has_quality ? " KL divergence | same top token |" : "");
  out.print("| --- | --- | ---: | ---: |{}\n", has_quality ? " ---: | ---: |" : "");
  for (const CardModel& model : facts.models) {
    const std::string bits =
        model.bits_per_weight ? fmt::format("{:.2f}", *model.bits_per_weight) : std::string();
    out.print("| {} | {} | {} | {} |", file_text(model), markdown_text(model.type), bits,
              format_bytes(model.size_bytes));
    if (has_quality && model.quality) {
      const auto& [divergence, error, same_top] = *model.quality;
      out.print(" {} | {} |", with_error(divergence, error, 6),
                same_top ? fmt::format("{:.2f} %", 100.0 * *same_top) : std::string());
    } else if (has_quality) {
      out.write(" | |");
    }
    out.put('\n');
  }
  if (has_quality) {
    out.print(
        "\nDivergence from the model before quantizing, with its standard error, over {}, "
        "measured by `ingot evaluate`.\n",
        markdown_text(facts.results_basis));
  }
}

std::string longest_text(std::optional<std::uint64_t> context) {
  if (!context || *context == 0) return "-";
  return context_text(*context < 1024 ? *context : *context / 1024 * 1024);
}

void write_fits(Output& out, const CardFacts& facts) {
  if (facts.card_bytes.empty()) return;
  out.write("\n## What fits which card\n\n| file |");
  for (const std::uint64_t size : facts.card_bytes) out.print(" {} |", card_text(size));
  out.write("\n| --- |");
  for (std::size_t i = 0; i < facts.card_bytes.size(); ++i) out.write(" ---: |");
  out.put('\n');
  for (const CardModel& model : facts.models) {
    if (model.contexts.empty()) continue;
    out.print("| {} |", file_text(model));
    for (const auto& context : model.contexts) out.print(" {} |", longest_text(context));
    out.put('\n');
  }
  out.write(
      "\nThe longest context in tokens with the whole model and an F16 cache on the card, "
      "estimated by `ingot fit`.\n");
}

}  // namespace

void write_card(Output& out, const CardFacts& facts) {
  write_front_matter(out, facts);
  write_introduction(out, facts);
  write_files(out, facts);
  write_fits(out, facts);
}

void write_card_json(JsonStream& json, const CardFacts& facts) {
  const auto object = json.object();
  json.member("title", facts.title);
  json.text_or_null("license", facts.license);
  json.text_or_null("license_name", facts.license_name);
  json.text_or_null("license_link", facts.license_link);
  json.values("base_models", facts.base_models, Layout::line);
  json.values("languages", facts.languages, Layout::line);
  json.text_or_null("pipeline_tag", facts.pipeline_tag);
  json.values("tags", facts.tags, Layout::line);
  json.text_or_null("quantized_by", facts.quantized_by);
  json.text_or_null("prompt_format", facts.prompt_format);
  json.values("card_bytes", facts.card_bytes, Layout::line);
  json.objects("models", facts.models, [&](const CardModel& model) {
    json.member("file", model.name);
    json.member("files", model.file_count);
    json.member("type", model.type);
    json.member("bits_per_weight", model.bits_per_weight);
    json.member("size_bytes", model.size_bytes);
    json.values("contexts", model.contexts);
    const CardQuality quality = model.quality.value_or(CardQuality());
    json.member_if(model.quality.has_value(), "kl", quality.divergence);
    json.member_if(model.quality && std::isfinite(quality.divergence_error), "kl_error",
                   quality.divergence_error);
    json.member("same_top", quality.same_top);
  });
}

}  // namespace ingot::cli
