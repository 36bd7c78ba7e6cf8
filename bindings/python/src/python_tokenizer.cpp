// SPDX-License-Identifier: MIT
// Texts to tokens and back.
#include <ingot/tokenizer.hpp>
#include <ingot/tokenizer_export.hpp>
#include <ingot/vocabulary_statistics.hpp>

#include "python_facts.hpp"

namespace ingot::python {
namespace {

using Ids = py::array_t<TokenId, py::array::c_style | py::array::forcecast>;

std::unique_ptr<Tokenizer> make_tokenizer(const OpenModel& model,
                                          const std::string& pre_tokenizer) {
  std::optional<Result<Tokenizer>> tokenizer;
  {
    const py::gil_scoped_release release;
    tokenizer.emplace(Tokenizer::make(model.model(), {pre_tokenizer}));
  }
  return std::make_unique<Tokenizer>(take(*std::move(tokenizer)));
}

EncodeOptions encode_options_from(bool add_special, bool parse_special) {
  EncodeOptions options;
  options.add_special = add_special;
  options.parse_special = parse_special;
  return options;
}

Ids id_array(const std::vector<TokenId>& ids) {
  return Ids(static_cast<py::ssize_t>(ids.size()), ids.data());
}

Ids encode_text(const Tokenizer& self, const py::object& text, bool add_special,
                bool parse_special) {
  const std::string bytes = text_from(text);
  std::optional<Result<std::vector<TokenId>>> ids;
  {
    const py::gil_scoped_release release;
    ids.emplace(self.encode(bytes, encode_options_from(add_special, parse_special)));
  }
  return id_array(take(*std::move(ids)));
}

py::tuple encode_with_offsets(const Tokenizer& self, const py::object& text, bool add_special,
                              bool parse_special) {
  const std::string bytes = text_from(text);
  const TokenizedText tokens =
      take(self.encode_with_offsets(bytes, encode_options_from(add_special, parse_special)));
  py::array_t<std::uint64_t> ranges(
      {static_cast<py::ssize_t>(tokens.ranges.size()), py::ssize_t{2}});
  std::uint64_t* next = ranges.mutable_data();
  for (const ByteRange& range : tokens.ranges) {
    *next++ = range.begin;
    *next++ = range.end;
  }
  return py::make_tuple(id_array(tokens.ids), ranges);
}

py::list encode_batch(const Tokenizer& self, const py::list& texts, bool add_special,
                      bool parse_special, unsigned threads) {
  std::vector<std::string> bytes;
  for (const py::handle& text : texts) bytes.push_back(text_from(text));
  const std::vector<std::string_view> views(bytes.begin(), bytes.end());
  const EncodeOptions options = encode_options_from(add_special, parse_special);
  std::optional<Result<std::vector<std::vector<TokenId>>>> outcome;
  {
    const py::gil_scoped_release release;
    outcome.emplace(self.encode_batch(views, options, threads));
  }
  return list_of(take(*std::move(outcome)), &id_array);
}

py::bytes decode_ids(const Tokenizer& self, const Ids& ids, bool remove_special,
                     bool show_special) {
  DecodeOptions options;
  options.remove_special = remove_special;
  options.show_special = show_special;
  return take(self.decode(std::span(ids.data(), static_cast<std::size_t>(ids.size())), options));
}

/// The warnings.
std::vector<std::string> write_tokenizer(const OpenModel& model, const py::str& path,
                                         const std::string& pre_tokenizer, bool may_replace) {
  const std::string target = to_bytes(path);
  return run(py::none(), [&](const Report&) -> Result<std::vector<std::string>> {
    INGOT_TRY(const Tokenizer tokenizer, Tokenizer::make(model.model(), {pre_tokenizer}));
    INGOT_TRY(TokenizerExport files, export_tokenizer(model.model(), tokenizer));
    INGOT_TRY_VOID(files.write(target, may_replace));
    return std::move(files.warnings);
  });
}

py::dict special_tokens(const Tokenizer& self) {
  py::dict tokens;
  for (std::size_t i = 0; i < special_token_count; ++i) {
    const auto special = static_cast<SpecialToken>(i);
    if (self.special(special) != no_token) {
      tokens[py::str(std::string(name_of(special)))] = self.special(special);
    }
  }
  return tokens;
}

}  // namespace

void add_tokenizer(py::module_& module) {
  py::class_<Tokenizer>(module, "Tokenizer")
      .def(py::init(&make_tokenizer))
      .def("__len__", [](const Tokenizer& self) { return self.size(); })
      .def("family", [](const Tokenizer& self) { return std::string(name_of(self.family())); })
      .def("model_name", [](const Tokenizer& self) { return to_str(self.model_name()); })
      .def("pre_tokenizer", [](const Tokenizer& self) { return to_str(self.pre_tokenizer()); })
      .def("encode", &encode_text)
      .def("encode_with_offsets", &encode_with_offsets)
      .def("encode_batch", &encode_batch)
      .def("decode", &decode_ids)
      .def("statistics", [](const Tokenizer& self) { return facts_of(compute_statistics(self)); })
      .def("text", [](const Tokenizer& self, TokenId id) { return to_str(self.text(id)); })
      .def("piece", [](const Tokenizer& self, TokenId id,
                       bool show_special) { return py::bytes(self.piece(id, show_special)); })
      .def("kind",
           [](const Tokenizer& self, TokenId id) { return std::string(name_of(self.kind(id))); })
      .def("score", [](const Tokenizer& self, TokenId id) { return self.score(id); })
      .def("find",
           [](const Tokenizer& self, const py::str& text) { return self.find(to_bytes(text)); })
      .def("special_tokens", &special_tokens)
      .def("end_of_generation", [](const Tokenizer& self) {
        const std::span<const TokenId> ids = self.end_of_generation();
        return std::vector<TokenId>(ids.begin(), ids.end());
      });
  module.def("export_tokenizer", &write_tokenizer);
  py::class_<StreamDecoder>(module, "StreamDecoder")
      .def(py::init<const Tokenizer&, bool>())
      .def("push", [](StreamDecoder& self, TokenId id) { return to_str(take(self.push(id))); })
      .def("finish", [](StreamDecoder& self) { return to_str(self.finish()); });
}

}  // namespace ingot::python
