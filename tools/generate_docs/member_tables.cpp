// SPDX-License-Identifier: MIT
#include "member_tables.hpp"

#include <concepts>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>

#include "ingot/anatomy.hpp"
#include "ingot/architectures.hpp"
#include "ingot/check.hpp"
#include "ingot/describe.hpp"
#include "ingot/diff.hpp"
#include "ingot/digest_manifest.hpp"
#include "ingot/download.hpp"
#include "ingot/edit.hpp"
#include "ingot/embeddings.hpp"
#include "ingot/estimate.hpp"
#include "ingot/evaluate.hpp"
#include "ingot/imatrix.hpp"
#include "ingot/import.hpp"
#include "ingot/lora.hpp"
#include "ingot/projectors.hpp"
#include "ingot/quantize_model.hpp"
#include "ingot/remote_cache.hpp"
#include "ingot/repair.hpp"
#include "ingot/sensitivity.hpp"
#include "ingot/split.hpp"
#include "ingot/statistics.hpp"
#include "ingot/summary.hpp"
#include "ingot/tensor.hpp"
#include "ingot/types.hpp"
#include "ingot/upload_plan.hpp"
#include "ingot/vocabulary_statistics.hpp"
#include "markdown.hpp"

namespace ingot::docs {
namespace {

/// The visitor that writes a row for each member of a result, and for the members inside it.
class MemberRows {
 public:
  template <class T>
  void operator()(std::string_view name, const T& value, std::string_view unit,
                  std::string_view meaning) {
    const std::string path = prefix_ + std::string(name);
    const std::size_t place = text_.size();
    std::string more;
    add_inner(path, value, more);
    text_.insert(place, row(code(path), unit, escape_markup(meaning) + more));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <class T>
  void add_inner(const std::string& path, const T& value, std::string& more) {
    if constexpr (detail::is_optional<T>) {
      add_inner(path, typename T::value_type(), more);
    } else if constexpr (ingot::Described<T>) {
      const auto [known, is_new] = paths_.try_emplace(&tag_of<T>, path);
      if (!is_new) {
        more = "; members as of " + code(known->second);
        return;
      }
      const std::string outer = std::exchange(prefix_, path + ".");
      describe(*this, value);
      prefix_ = outer;
    } else if constexpr (std::ranges::range<T> && !std::convertible_to<T, std::string_view>) {
      const bool has_sample = !std::ranges::empty(value);
      add_inner(path + "[]", has_sample ? value[0] : std::ranges::range_value_t<T>(), more);
    }
  }

  template <class T>
  static constexpr char tag_of = 0;

  std::string text_;
  std::string prefix_;
  std::map<const void*, std::string> paths_;
};

/// Puts the members of a result between the marks that name it.
template <class T>
void fill_members(std::string& page, std::string_view name, const T& result = {}) {
  MemberRows rows;
  describe(rows, result);
  const std::string start = "<!-- members: " + std::string(name) + " -->\n";
  const std::string end = "<!-- end of members -->\n";
  const std::size_t begin = page.find(start);
  const std::size_t stop = begin == page.npos ? page.npos : page.find(end, begin);
  if (stop == page.npos) {
    page += "There is no place for " + start;  // a check finds this text
    return;
  }
  page.replace(begin + start.size(), stop - begin - start.size(),
               row("name", "unit", "meaning") + "| --- | --- | --- |\n" + rows.text());
}

}  // namespace

void fill_member_tables(std::string& page) {
  fill_members<Architecture>(page, "architectures");
  fill_members<RunReport>(page, "fit");
  fill_members<TensorInfo>(page, "tensor");
  fill_members<VocabularyStatistics>(page, "vocabulary");
  fill_members(page, "type", live_tensor_types.front());
  fill_members<Statistics>(page, "statistics");
  fill_members<Summary>(page, "show");
  fill_members<QuantizationError>(page, "report error");
  fill_members<EditOutcome>(page, "edit");
  fill_members<RepairReport>(page, "repair");
  fill_members<DigestMismatch>(page, "verify");
  fill_members<UploadPlan>(page, "plan-upload");
  fill_members<ModelDifference>(page, "diff");
  fill_members<WeightDistance>(page, "diff data");
  fill_members<PlannedShard>(page, "split");
  fill_members<TensorError>(page, "quantize error");
  fill_members<QuantizePlan>(page, "quantize");
  fill_members<ImportedKey>(page, "import key");
  fill_members<ImportedTensor>(page, "import tensor");
  fill_members<Field>(page, "anatomy");
  fill_members<ImatrixEntry>(page, "imatrix entry");
  fill_members<ImatrixSummary>(page, "imatrix summary");
  fill_members(page, "check rule", check_rules().front());
  fill_members<Evaluation>(page, "evaluate");
  fill_members<EmbeddingEvaluation>(page, "embeddings");
  fill_members<TensorSensitivity>(page, "sensitivity");
  fill_members<DownloadedFile>(page, "download");
  fill_members<ImageTokens>(page, "image");
  fill_members<SoundTokens>(page, "sound");
  // The members of a plan or a change are those of its tensors.
  const TensorInfo tensor = {};
  fill_members(page, "quantize tensor", PlannedTensor{.source = &tensor, .choice = {}});
  LoraAdapter adapter;
  adapter.changes = {{.name = {}, .a = &tensor}};
  fill_members(page, "lora", adapter);
  fill_members<CachedHeaderFacts>(page, "cache");
  Finding finding;  // Only a finding of a rule can be described.
  finding.rule = &check_rules().front();
  fill_members(page, "check", finding);
}

}  // namespace ingot::docs
