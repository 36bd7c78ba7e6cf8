// SPDX-License-Identifier: MIT
// Chat templates.
#include <ingot/chat.hpp>
#include <ingot/chat_profile.hpp>
#include <ingot/chat_prompt.hpp>

#include "python_bindings.hpp"

namespace ingot::python {
namespace {

/// Python values may contain themselves; JSON values are not nested deeper than this.
constexpr int max_depth = 100;

ChatValue value_from(const py::handle& object, int depth = 0);

ChatValue integer_from(const py::handle& object) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (overflow == 0) return ChatValue(number);
  return ChatValue(ChatValue::Digits{py::cast<std::string>(py::str(object))});
}

ChatValue object_from(const py::handle& mapping, int depth) {
  ChatValue object = ChatValue::object();
  for (const py::handle& item : mapping.attr("items")()) {
    const auto pair = py::cast<py::tuple>(item);
    object.add(to_bytes(py::cast<py::str>(pair[0])), value_from(pair[1], depth + 1));
  }
  return object;
}

ChatValue value_from(const py::handle& object, int depth) {
  if (depth > max_depth) throw py::value_error("the value is nested too deeply");
  if (object.is_none()) return {};
  if (py::isinstance<py::bool_>(object)) return ChatValue(py::cast<bool>(object));
  if (py::isinstance<py::int_>(object)) return integer_from(object);
  if (py::isinstance<py::float_>(object)) return ChatValue(py::cast<double>(object));
  if (py::isinstance<py::str>(object)) {
    return ChatValue(to_bytes(py::reinterpret_borrow<py::str>(object)));
  }
  if (py::hasattr(object, "items")) return object_from(object, depth);
  ChatValue list = ChatValue::list();
  for (const py::handle& element : object) list.add(value_from(element, depth + 1));
  return list;
}

/// Raises ingot.ChatError.
[[noreturn]] void raise(const Error& error) {
  const py::object exception =
      error_object(error, py::module_::import("ingot._errors").attr("ChatError"));
  PyErr_SetObject(py::type::handle_of(exception).ptr(), exception.ptr());
  throw py::error_already_set();
}

template <class T>
T take_chat(Result<T>&& result) {
  if (!result.has_value()) raise(result.error());
  return *std::move(result);
}

std::unique_ptr<ChatTemplate> make_template(const std::shared_ptr<OpenModel>& model,
                                            const std::optional<py::str>& source,
                                            const py::str& name) {
  const std::string template_name = to_bytes(name);
  if (!model)
    return std::make_unique<ChatTemplate>(
        take_chat(ChatTemplate::make(to_bytes(*source), template_name)));
  if (!source) {
    return std::make_unique<ChatTemplate>(
        take_chat(ChatTemplate::make(model->model(), std::string_view(template_name))));
  }
  return std::make_unique<ChatTemplate>(
      take_chat(ChatTemplate::make(model->model(), to_bytes(*source), template_name)));
}

ChatOptions chat_options_from(bool add_generation_prompt, const py::object& variables,
                              const std::optional<std::string>& now, bool is_lenient) {
  ChatOptions options;
  options.add_generation_prompt = add_generation_prompt;
  options.variables = value_from(variables);
  if (now) options.now = take(parse_chat_time(*now));
  options.is_lenient = is_lenient;
  return options;
}

/// The text, and its runs: offset, bytes, is_input, is_generated.
py::tuple render(const ChatTemplate& self, const py::object& messages, const py::object& tools,
                 bool add_generation_prompt, const py::object& variables,
                 const std::optional<std::string>& now, bool is_lenient) {
  const ChatValue message_values = value_from(messages);
  const ChatValue tool_values = value_from(tools);
  const ChatOptions options = chat_options_from(add_generation_prompt, variables, now, is_lenient);
  std::optional<Result<ChatText>> text;
  run_job(py::none(),
          [&](const Report&) { text.emplace(self.render(message_values, tool_values, options)); });
  const ChatText rendered = take_chat(*std::move(text));
  const py::list runs = list_of(rendered.runs, [](const ChatRun& run) {
    return py::make_tuple(run.offset_bytes, run.size_bytes, run.is_input, run.is_generated);
  });
  return py::make_tuple(to_str(rendered.text), runs);
}

/// Ids, whether each was generated, and the text.
py::tuple encode_messages(const ChatTemplate& self, const Tokenizer& tokenizer,
                          const py::object& messages, const py::object& tools,
                          bool add_generation_prompt, const py::object& variables,
                          const std::string& inputs) {
  const ChatValue message_values = value_from(messages);
  const ChatValue tool_values = value_from(tools);
  const ChatOptions options =
      chat_options_from(add_generation_prompt, variables, std::nullopt, false);
  EncodeChatOptions encode_options;
  if (inputs == "apart") encode_options.inputs = InputTokens::apart;
  if (inputs == "trusted") encode_options.inputs = InputTokens::trusted;
  std::optional<Result<ChatTokens>> outcome;
  run_job(py::none(), [&](const Report&) {
    outcome.emplace(
        encode_chat(tokenizer, self, message_values, tool_values, options, encode_options));
  });
  const ChatTokens tokens = take_chat(*std::move(outcome));
  const py::array_t<TokenId> ids(static_cast<py::ssize_t>(tokens.ids.size()), tokens.ids.data());
  return py::make_tuple(ids, tokens.is_generated, to_str(tokens.text.text));
}

py::dict profile(const ChatTemplate& self) {
  const ChatProfile found = profile_chat(self);
  py::dict facts;
  for (std::size_t i = 0; i < chat_feature_count; ++i) {
    facts[py::str(std::string(name_of(static_cast<ChatFeature>(i))))] =
        py::bool_(found.features[i]);
  }
  return facts;
}

}  // namespace

void add_template(py::module_& module) {
  py::class_<ChatTemplate>(module, "ChatTemplate")
      .def(py::init(&make_template))
      .def("name", [](const ChatTemplate& self) { return to_str(self.name()); })
      .def("source", [](const ChatTemplate& self) { return to_str(self.source()); })
      .def("variables", &ChatTemplate::variables)
      .def("render", &render)
      .def("encode", &encode_messages)
      .def("profile", &profile)
      .def("prompt_format",
           [](const ChatTemplate& self) { return to_str(profile_chat(self).format); })
      .def("lint", [](const ChatTemplate& self) {
        return list_of(lint_chat(self), [](const ChatRemark& remark) {
          return py::make_tuple(remark.line, remark.column, to_str(remark.text));
        });
      });
  module.def("chat_template_names", [](const OpenModel& model) {
    return list_of(chat_template_names(model.model()), &to_str);
  });
}

}  // namespace ingot::python
