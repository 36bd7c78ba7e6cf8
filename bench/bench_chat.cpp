// SPDX-License-Identifier: MIT
// Chat templates: parsing, rendering, both, for a conversation of six messages; and what a template
// that never ends costs until it is stopped. The template is one of ours, as long and as busy as
// those of models with tools and reasoning. With a folder of templates (*.jinja) in
// INGOT_BENCH_TEMPLATES each of them is measured, too.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ingot/chat.hpp"

namespace {

using namespace ingot;

constexpr const char* source_text = R"({%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\n\n' }}
    {%- endif %}
    {{- "# Tools\n\nCall one or more functions to help with the question.\n<tools>" }}
    {%- for tool in tools %}
        {{- "\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\n</tools>\n\nAnswer with the name and the arguments of a function:\n<tool_call>\n" }}
    {{- '{"name": <name>, "arguments": <arguments>}\n</tool_call><|im_end|>\n' }}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string
           and not(message.content.startswith('<tool_response>')
                   and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning = content.split('</think>')[0].rstrip('\n').split('<think>')[-1] %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and reasoning %}
            {{- '<|im_start|>' + message.role + '\n<think>\n' + reasoning.strip('\n') }}
            {{- '\n</think>\n\n' + content.lstrip('\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\n{"name": "' + tool_call.name + '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\n<tool_response>\n' + content + '\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %})";

struct Source {
  std::string name;
  std::string text;
};

std::vector<Source> sources() {
  std::vector<Source> found = {{"own", source_text}};
  const char* folder = std::getenv("INGOT_BENCH_TEMPLATES");
  if (folder == nullptr) return found;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".jinja") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    found.push_back(
        {entry.path().stem().string(), std::string(std::istreambuf_iterator<char>(file), {})});
  }
  std::sort(found.begin() + 1, found.end(),
            [](const Source& a, const Source& b) { return a.name < b.name; });
  return found;
}

ChatValue conversation() {
  return ChatValue::list({
      chat_message("system", "You are a helpful assistant."),
      chat_message("user", "What is the capital of Norway?"),
      chat_message("assistant", "The capital of Norway is Oslo."),
      chat_message("user", "How many people live there?"),
      chat_message("assistant", "About 700,000 people live in the city of Oslo."),
      chat_message("user", "Thank you. Tell me more about its history, in three sentences."),
  });
}

void parse_and_render(benchmark::State& state, const std::string& source) {
  const ChatValue messages = conversation();
  for (auto _ : state) {
    const auto chat = ChatTemplate::make(source);
    if (!chat) return state.SkipWithError("it cannot be read");
    benchmark::DoNotOptimize(chat->render(messages));
  }
}

void render(benchmark::State& state, const std::string& source) {
  const auto chat = ChatTemplate::make(source);
  if (!chat) return state.SkipWithError("it cannot be read");
  const ChatValue messages = conversation();
  for (auto _ : state) benchmark::DoNotOptimize(chat->render(messages));
}

/// A loop that uses up the ten million steps of the default limit.
void stop_endless(benchmark::State& state) {
  const auto chat = ChatTemplate::make(
      "{% for i in range(99999) %}{% for j in range(99999) %}{% set x = i + j %}{% endfor %}"
      "{% endfor %}");
  for (auto _ : state) {
    const auto prompt = chat->render_variables({});
    if (prompt || prompt.error().code != Errc::limit_exceeded) {
      return state.SkipWithError("it was not stopped");
    }
  }
}

/// Refuses a value whose size is known before it is made.
void refuse_bomb(benchmark::State& state, const std::string& source) {
  const auto chat = ChatTemplate::make(source);
  for (auto _ : state) {
    const auto prompt = chat->render_variables({});
    if (prompt || prompt.error().code != Errc::limit_exceeded) {
      return state.SkipWithError("it was not refused");
    }
  }
}

const bool is_registered = [] {
  for (const Source& source : sources()) {
    benchmark::RegisterBenchmark(("parse_and_render/" + source.name).c_str(), parse_and_render,
                                 source.text)
        ->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("render/" + source.name).c_str(), render, source.text)
        ->Unit(benchmark::kMicrosecond);
  }
  benchmark::RegisterBenchmark("stop_endless", stop_endless)->Unit(benchmark::kMillisecond);
  for (const auto& [name, bomb] : {std::pair("range", "{{ range(1000000000) }}"),
                                   std::pair("repeat", "{{ 'x' * 1000000000 }}")}) {
    benchmark::RegisterBenchmark((std::string("refuse_bomb/") + name).c_str(), refuse_bomb,
                                 std::string(bomb))
        ->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace
