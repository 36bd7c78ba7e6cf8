// SPDX-License-Identifier: MIT
#include "commands/plan_work/work_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <ingot/digest.hpp>
#include <ingot/text.hpp>
#include <utility>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "commands/plan_work/cut_work.hpp"
#include "commands/quantize/quantize_outputs.hpp"
#include "text/chat_json.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr std::string_view kind = "ingot work";

constexpr std::array work_commands = {
    WorkCommand{"check", add_check_command, cut_check, ExitCode::refused},
    WorkCommand{"convert", add_convert_command, cut_convert},
    WorkCommand{"evaluate", add_evaluate_command, cut_evaluate},
    WorkCommand{"hash", add_hash_command, cut_hash, ExitCode::refused},
    WorkCommand{"imatrix", add_imatrix_command, cut_imatrix},
    WorkCommand{"merge", add_merge_command},
    WorkCommand{"quantize", add_quantize_command, cut_quantize},
    WorkCommand{"sensitivity", add_sensitivity_command, cut_sensitivity},
};

void write_task(JsonStream& json, const WorkTask& task) {
  json.values("argv", task.words, Layout::line);
  json.begin_array("inputs", Layout::line);
  for (const WorkInput& input : task.inputs) {
    const auto object = json.object(Layout::line);
    json.member("path", input.path);
    json.member("state", input.state);
  }
  json.end();
  json.values("outputs", task.outputs, Layout::line);
  json.member("printed", task.is_printed);
}

auto wrong(std::string message) { return tl::unexpected<std::string>(std::move(message)); }

/// The texts of a list; nothing if it is none, or holds anything else.
std::optional<std::vector<std::string>> texts_of(const ChatValue* list) {
  if (list == nullptr || list->elements() == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const ChatValue& element : *list->elements()) {
    if (element.string() == nullptr) return std::nullopt;
    texts.push_back(*element.string());
  }
  return texts;
}

tl::expected<WorkTask, std::string> read_task(const ChatValue& value, const std::string& name) {
  const auto words = texts_of(value.find("argv"));
  const auto outputs = texts_of(value.find("outputs"));
  const ChatValue* inputs = value.find("inputs");
  if (!words || !outputs || inputs == nullptr || inputs->elements() == nullptr) {
    return wrong(name + " has no \"argv\", \"inputs\" and \"outputs\"");
  }
  if (!words->empty() && find_work_command(words->front()) == nullptr) {
    return wrong(fmt::format("{} would run \"{}\", which is no command for tasks", name,
                             escape(words->front())));
  }
  WorkTask task{*words, {}, *outputs, is_true(value.find("printed"))};
  if (task.is_printed && task.outputs.size() != 1) {
    return wrong(name + " prints, so that it must have one output");
  }
  for (const ChatValue& input : *inputs->elements()) {
    task.inputs.push_back({text_of(input.find("path")), text_of(input.find("state"))});
    if (task.inputs.back().path.empty()) return wrong(name + " has an input without a path");
  }
  return task;
}

}  // namespace

const WorkCommand* find_work_command(std::string_view name) {
  const auto found = std::ranges::find(work_commands, name, &WorkCommand::name);
  return found == work_commands.end() ? nullptr : &*found;
}

std::string list_work_commands() {
  std::vector<std::string_view> names;
  for (const WorkCommand& command : work_commands) {
    if (command.cut != nullptr) names.push_back(command.name);
  }
  return joined(names, ", ");
}

std::string state_of_input(const std::string& path) {
  std::string states;
  if (is_folder(path)) {
    states = state_of_folder(path);
  } else {
    const std::string own = stamp_of(path);
    const std::vector<std::string> files = files_of_set(path);
    if (own.empty() || files.size() < 2) return own;
    for (const std::string& file : files) {
      states += fmt::format("{} {}\n", name_of_file(file), stamp_of(file));
    }
  }
  return digest_of(DigestAlgorithm::xxh3_128, std::as_bytes(std::span(states)));
}

void write_work_plan(JsonStream& json, const WorkPlan& plan) {
  const auto object = json.object();
  json.member("kind", kind);
  json.member("folder", plan.folder);
  json.member("list", plan.is_list);
  json.objects("tasks", plan.tasks, [&](const WorkTask& task) { write_task(json, task); });
  json.begin_object("join", Layout::line);
  write_task(json, plan.join);
  json.end();
}

tl::expected<WorkPlan, std::string> read_work_plan(const std::string& path) {
  const Result<std::string> content = read_whole(path, max_list_bytes);
  if (!content) return wrong(content.error().message());
  const auto document = parse_chat_json(*content);
  if (!document) return wrong(document.error());
  if (text_of(document->find("kind")) != kind) {
    return wrong("this is no file of `ingot plan-work`, whose \"kind\" is \"ingot work\"");
  }
  WorkPlan plan{.folder = text_of(document->find("folder")),
                .is_list = is_true(document->find("list"))};
  const ChatValue* tasks = document->find("tasks");
  const ChatValue* join = document->find("join");
  if (plan.folder.empty() || join == nullptr || tasks == nullptr || tasks->elements() == nullptr ||
      tasks->elements()->empty()) {
    return wrong("it has no \"folder\", \"tasks\" and \"join\"");
  }
  for (const ChatValue& value : *tasks->elements()) {
    auto task = read_task(value, fmt::format("task {}", plan.tasks.size() + 1));
    if (!task) return wrong(task.error());
    if (task->words.empty()) return wrong(fmt::format("task {} is empty", plan.tasks.size() + 1));
    plan.tasks.push_back(std::move(*task));
  }
  auto task = read_task(*join, "the join");
  if (!task) return wrong(task.error());
  plan.join = std::move(*task);
  return plan;
}

}  // namespace ingot::cli
