// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/pre_check.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "huggingface/import/tokenizer/pre_structure.hpp"
#include "huggingface/import/tokenizer/special_block.hpp"
#include "ingot/digest.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/model.hpp"

namespace ingot::huggingface {
namespace {

struct NamedDigest {
  std::string_view digest;
  std::string_view name;
};

constexpr NamedDigest digests[] = {
#define INGOT_PRE_DIGEST(digest, name) {digest, name},
#include "huggingface/import/tokenizer/pre_digests.def"
#undef INGOT_PRE_DIGEST
};

/// Ids around a text.
struct Frame {
  std::vector<TokenId> before;
  std::vector<TokenId> after;
};

void add_ids(JsonView special, std::vector<TokenId>& ids) {
  for (const JsonView id : special["ids"].elements()) {
    ids.push_back(static_cast<TokenId>(id.integer().value_or(no_token)));
  }
}

Frame frame_of(JsonView processor) {
  Frame frame;
  const std::string_view type = processor["type"].text();
  if (type == "RobertaProcessing" || type == "BertProcessing") {
    const auto id_of = [&](const char* name) {
      return static_cast<TokenId>(processor[name].at(1).integer().value_or(no_token));
    };
    frame.before.push_back(id_of("cls"));
    frame.after.push_back(id_of("sep"));
  } else if (type == "TemplateProcessing") {
    bool is_before = true;
    for (const JsonView item : processor["single"].elements()) {
      if (item["Sequence"].exists()) is_before = false;
      const JsonView special = item["SpecialToken"]["id"];
      if (special.is_text()) {
        add_ids(processor["special_tokens"][special.text()],
                is_before ? frame.before : frame.after);
      }
    }
  } else {
    for (const JsonView step : processor["processors"].elements()) {
      const Frame inner = frame_of(step);
      frame.before.insert(frame.before.begin(), inner.before.begin(), inner.before.end());
      frame.after.insert(frame.after.end(), inner.after.begin(), inner.after.end());
    }
  }
  return frame;
}

/// The model with nothing but its tokenizer, which the tokenizers of candidates are made from.
class Candidates {
 public:
  static std::optional<Candidates> make(const TokenizerFiles& files, const KeyPlan& keys) {
    ModelWriter writer;
    for (const KeyValue& entry : keys.entries()) {
      if (entry.key.starts_with(keys::tokenizer_prefix)) writer.set_value(entry.key, entry.value);
    }
    const auto merges = read_merges(files);
    if (!merges) return std::nullopt;
    writer.set_array(keys::tokenizer_ggml_merges, std::span<const std::string>(*merges));
    auto header = writer.serialise_header();
    if (!header) return std::nullopt;
    Candidates candidates;
    candidates.tokenizer_json_ = files.tokenizer.root();
    candidates.header_ = *std::move(header);
    auto model = Model::open_memory(candidates.header_);
    if (!model) return std::nullopt;
    candidates.model_ = *std::move(model);
    return candidates;
  }

  /// The digest with a pre-tokenizer; nothing if texts cannot be encoded with it.
  [[nodiscard]] std::optional<std::string> digest_with(std::string_view pre) const {
    const auto tokenizer = Tokenizer::make(*model_, {.pre_tokenizer = pre});
    if (!tokenizer) return std::nullopt;
    return pre_check_digest(*tokenizer, tokenizer_json_);
  }

 private:
  JsonView tokenizer_json_;
  std::vector<std::byte> header_;
  std::optional<Model> model_;
};

/// The name of a published tokenizer that makes the same of the check text when it is cut as one of
/// `names`. One that cuts otherwise, or that is not `allowed`, is none: the digest tells of the
/// vocabulary, which others may share, but the ids of other texts depend on the cut.
template <class Allowed>
std::string_view find_published(const Candidates& candidates,
                                std::span<const std::string_view> names, const Allowed& allowed) {
  // Pre-tokenizers that cut alike and take merges alike make the same ids.
  std::vector<PreTokenizerFacts> tried;
  for (const std::string_view name : names) {
    const auto facts = facts_of_pre_tokenizer(name);
    if (facts) {
      const auto is_same = [&](const PreTokenizerFacts& other) {
        return other.expressions.data() == facts->expressions.data() &&
               other.ignores_merges == facts->ignores_merges;
      };
      if (std::ranges::any_of(tried, is_same)) continue;
      tried.push_back(*facts);
    }
    const auto digest = candidates.digest_with(name);
    if (!digest) continue;
    const std::string_view found = name_of_pre_digest(*digest);
    if (!found.empty() && cut_alike(found, name) && allowed(found)) return found;
  }
  return {};
}

/// Finds a row by its digest if no row has the structure. A tokenizer.json then contradicts names
/// that have rows; a folder without one contradicts none.
std::string_view find_by_digest_alone(const Candidates& candidates, const TokenizerFiles& files) {
  const std::vector<std::string_view> unknown = names_of_unknown_structure();
  const bool states_cut = files.tokenizer.root().exists();
  return find_published(candidates, states_cut ? unknown : known_pre_tokenizers(),
                        [&](std::string_view name) {
                          return !states_cut || std::ranges::find(unknown, name) != unknown.end();
                        });
}

/// The steps of a tokenizer without a tokenizer.json, by its class.
PreStructure structure_of(const TokenizerFiles& files) {
  if (files.tokenizer.root().exists()) return PreStructure::of(files.tokenizer.root());
  PreStructure structure;
  structure.normalizer = "none";
  std::string_view name = files.tokenizer_config.root()["tokenizer_class"].text();
  if (name.ends_with("Fast")) name.remove_suffix(4);
  if (name == "GPT2Tokenizer" || name == "GPTNeoXTokenizer" || name == "CodeGenTokenizer") {
    structure.steps = {"ByteLevel"};
  } else if (name == "RobertaTokenizer") {
    structure.steps = {"ByteLevel"};
    structure.has_separator = true;
  } else if (name == "BertTokenizer" || files.folder->has(file_names::vocabulary_lines)) {
    structure.normalizer = "bert";
    structure.steps = {"Bert"};
  }
  return structure;
}

}  // namespace

std::string_view pre_check_text() noexcept {
  return "\n \n\n \n\n\n \t \t\t \t\n  \n   \n    \n     \n\xF0\x9F\x9A\x80 (normal) "
         "\xF0\x9F\x98\xB6\xE2\x80\x8D\xF0\x9F\x8C\xAB\xEF\xB8\x8F (multiple emojis concatenated) "
         "\xE2\x9C\x85 \xF0\x9F\xA6\x99\xF0\x9F\xA6\x99 3 33 333 3333 33333 333333 3333333 3333333"
         "3 3.3 3..3 3...3 \xE1\x9E\x80\xE1\x9E\xB6\xE1\x9E\x93\xE1\x9F\x8B\xE1\x9E\x8F"
         "\xE1\x9F\x82\xE1\x9E\x96\xE1\x9E\xB7\xE1\x9E\x9F\xE1\x9F\x81\xE1\x9E\x9F\xE1\x9E\xA2"
         "\xE1\x9E\xB6\xE1\x9E\x85\xF0\x9F\x98\x81 ?\xE6\x88\x91\xE6\x83\xB3\xE5\x9C\xA8"
         "apple"
         "\xE5\xB7\xA5\xE4\xBD\x9C"
         "1314151\xE5\xA4\xA9\xEF\xBD\x9E ------======= \xD0\xBD\xD0\xB5"
         "\xD1\x89\xD0\xBE \xD0\xBD\xD0\xB0 \xD0\x91\xD1\x8A\xD0\xBB\xD0\xB3\xD0\xB0\xD1\x80"
         "\xD1\x81\xD0\xBA\xD0\xB8 ''''''```````\"\"\"\"......!!!!!!?????? I've been 'told he's th"
         "ere, 'RE you sure? 'M not sure I'll make it, 'D you like some tea? We'Ve a'lL";
}

std::optional<std::string> pre_check_digest(const Tokenizer& tokenizer, JsonView tokenizer_json) {
  const auto ids =
      tokenizer.encode(pre_check_text(), {.add_special = false, .parse_special = true});
  if (!ids) return std::nullopt;
  const Frame frame = frame_of(tokenizer_json["post_processor"]);
  std::string list = "[";
  for (const auto* part : {&frame.before, &*ids, &frame.after}) {
    for (const TokenId id : *part) {
      if (list.size() > 1) list += ", ";
      list += std::to_string(id);
    }
  }
  list += "]";
  return digest_of(DigestAlgorithm::sha256, std::as_bytes(std::span(list)));
}

std::string_view name_of_pre_digest(std::string_view digest) noexcept {
  const auto found =
      std::ranges::find_if(digests, [&](const NamedDigest& row) { return row.digest == digest; });
  return found == std::end(digests) ? std::string_view() : found->name;
}

Result<std::string> choose_pre(const TokenizerFiles& files, const Config& config,
                               const ImportOptions& options, const KeyPlan& keys,
                               std::vector<Error>& remarks) {
  const auto remark = [&](std::string text) {
    remarks.push_back({Errc::engine_may_misread, Error::no_offset,
                       std::string(keys::tokenizer_ggml_pre), std::move(text)});
  };
  if (options.pre) {
    if (*options.pre == "default") {
      remark("with \"default\" an engine may cut texts in the wrong places");
    }
    return *options.pre;
  }
  const std::string_view stated = files.tokenizer_config.root()[stated_pre_member].text();
  if (!stated.empty()) return std::string(stated);
  const PreStructure structure = structure_of(files);
  const std::vector<std::string_view> names = names_of(structure, config.model_class());
  std::string_view chosen = names.empty() ? std::string_view() : names.front();
  if (const auto candidates = Candidates::make(files, keys)) {
    if (!names.empty()) {
      const std::string_view published =
          find_published(*candidates, names, [](std::string_view) { return true; });
      if (!published.empty()) chosen = published;
    } else {
      chosen = find_by_digest_alone(*candidates, files);
      if (!chosen.empty()) {
        remark("\"" + std::string(chosen) + "\" by the ids of one text alone; the expressions of " +
               "the folder are not known to cut so, and another --pre may be right");
      }
    }
  }
  if (structure.repeats_interval && !chosen.empty()) {
    remark(
        "Hugging Face's library reads {1,3}+ as any number of digits, its authors and engines as "
        "one to three; ids of longer numbers differ");
  }
  if (!chosen.empty()) return std::string(chosen);
  return fail(Errc::pre_tokenizer_unknown, files.folder->locate(file_names::tokenizer),
              structure.text() + "; name it with --pre, or take --pre default at your own risk");
}

}  // namespace ingot::huggingface
