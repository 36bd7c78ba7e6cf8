// SPDX-License-Identifier: MIT
// Models at work: parts of a text, and of the matrices of a model.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "commands/evaluate/evaluation_run.hpp"
#include "commands/plan_work/cut_work.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

using Words = std::vector<std::string>;

/// What is cut: work on a model with a text, whose parts have names in the folder of the plan.
struct TextWork {
  std::string model;
  Words others;  ///< Further files that are read.
  std::string ending;
  bool has_parts_of_text = true;  ///< False: parts of the matrices.
  bool is_evaluation = false;
};

/// Opens the model and the text to see into how many parts they can be cut.
ExitCode count_parts(Cutting& cutting, const TextWork& work, std::uint64_t& count) {
  Console& console = cutting.console;
  TextRequest request{.file = cutting.line.value("--text")};
  if (request.file.empty() || request.file == "-") {
    return console.refuse_usage("plan-work: --text must name a file, which all tasks can read");
  }
  request.chunk_tokens = parse_number<std::uint64_t>(cutting.line.value("--ctx-size")).value_or(0);
  request.max_chunks = parse_number<std::uint64_t>(cutting.line.value("--chunks")).value_or(0);
  INGOT_CLI_TRY(const Model model, console.open_model(work.model), console, work.model);
  ChunksOf purpose = ChunksOf::either;
  if (work.is_evaluation && compares_vectors(model, !work.others.empty())) {
    purpose = ChunksOf::vectors;
  }
  std::string failed;
  INGOT_CLI_TRY(const TextChunks text, read_chunks(request, model, work.model, failed, purpose),
                console, failed);
  const auto is_matrix = [](const TensorInfo& tensor) { return tensor.shape.size() > 1; };
  const auto most = work.has_parts_of_text ? static_cast<std::ptrdiff_t>(max_text_parts(text))
                                           : std::ranges::count_if(model.tensors(), is_matrix);
  count = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(most), 1, cutting.jobs);
  return ExitCode::done;
}

/// Adds a task for each part; `make` gives its words for what it writes and what makes it a part.
template <class Make>
ExitCode cut_parts(Cutting& cutting, TextWork work, bool is_printed, const Make& make) {
  std::uint64_t count = 0;
  const ExitCode code = count_parts(cutting, work, count);
  if (code != ExitCode::done) return code;
  work.others.push_back(work.model);
  cutting.plan.join.inputs = inputs_of(cutting.line, work.others);
  for (std::uint64_t i = 1; i <= count; ++i) {
    const std::string out = fmt::format("{}/{}{}", cutting.plan.folder, i, work.ending);
    cutting.plan.tasks.push_back({make(out, Words{"--part", fmt::format("{}/{}", i, count)}),
                                  cutting.plan.join.inputs,
                                  {out},
                                  is_printed});
  }
  return ExitCode::done;
}

/// All parts, each behind `option` if there is one.
Words parts_of(const WorkPlan& plan, const std::string& option) {
  Words words;
  for (const WorkTask& task : plan.tasks) {
    if (!option.empty()) words.push_back(option);
    words.push_back(task.outputs[0]);
  }
  return words;
}

/// The output of a command, which its join writes; complains if it is missing.
ExitCode find_output(Cutting& cutting, std::string& out) {
  out = cutting.line.value("--output");
  if (!out.empty()) return ExitCode::done;
  return cutting.console.refuse_usage(
      "plan-work: -o is missing; it names the file that the join writes");
}

}  // namespace

ExitCode cut_evaluate(Cutting& cutting) {
  const CommandLine& line = cutting.line;
  if (line.arguments().empty()) {
    return cutting.console.refuse_usage("plan-work: evaluate needs BASE");
  }
  const Words& models = line.arguments();
  const auto make = [&](const std::string&, const Words& part) {
    return line.with(models, {"--markdown", "--by-chunk", "--report", "--force", "--json"}, part);
  };
  const ExitCode code = cut_parts(
      cutting, {models[0], {models.begin() + 1, models.end()}, ".json", true, true}, true, make);
  if (code != ExitCode::done) return code;
  WorkTask& join = cutting.plan.join;
  join.words = line.with(models, {"--force"}, parts_of(cutting.plan, "--join"));
  if (!line.has("--report")) return code;
  join.words.push_back("--force");
  join.outputs = {line.value("--report")};
  return code;
}

ExitCode cut_imatrix(Cutting& cutting) {
  const CommandLine& line = cutting.line;
  const Words& words = line.arguments();
  if (words.size() != 2 || words[0] != "collect" || line.has("--moments")) {
    return cutting.console.refuse_usage(
        "plan-work: of imatrix only collect MODEL can be cut, without --moments");
  }
  std::string out;
  ExitCode code = find_output(cutting, out);
  if (code != ExitCode::done) return code;
  const auto make = [&](const std::string& file, const Words& part) {
    Words more = part;
    more.insert(more.end(), {"-o", file, "--force"});
    return line.with(words, {"--output", "--force"}, more);
  };
  code = cut_parts(cutting, {words[1], {}, ".gguf"}, false, make);
  if (code != ExitCode::done) return code;
  Words merge = {"imatrix", "merge"};
  for (std::string& part : parts_of(cutting.plan, {})) merge.push_back(std::move(part));
  merge.insert(merge.end(), {"-o", out, "--force"});
  cutting.plan.join.words = std::move(merge);
  cutting.plan.join.outputs = {out};
  return code;
}

ExitCode cut_sensitivity(Cutting& cutting) {
  const CommandLine& line = cutting.line;
  const Words& models = line.arguments();
  if (models.size() != 1) return cutting.console.refuse_usage("plan-work: sensitivity needs MODEL");
  std::string out;
  ExitCode code = find_output(cutting, out);
  if (code != ExitCode::done) return code;
  const auto make = [&](const std::string& file, const Words& part) {
    Words more = part;
    more.insert(more.end(), {"-o", file, "--resume", "--quiet"});
    return line.with(models, {"--output", "--force", "--resume", "--json"}, more);
  };
  code = cut_parts(cutting, {models[0], {}, ".json", false}, false, make);
  if (code != ExitCode::done) return code;
  Words more = parts_of(cutting.plan, "--join");
  more.insert(more.end(), {"-o", out, "--force"});
  cutting.plan.join.words = line.with(models, {"--output", "--force", "--resume"}, more);
  cutting.plan.join.outputs = {out};
  return code;
}

}  // namespace ingot::cli
