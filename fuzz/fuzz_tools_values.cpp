// SPDX-License-Identifier: MIT
// Property: any text, as a value of any type for `ingot edit --set` or as the content of a file for
// `--set-file`, is refused with an ordinary error that can be shown, or gives a value of that type
// which can be read, elements and all.
//
// The first byte is the scalar type, the second how deep arrays are nested, the third how many
// brackets are put around the text; the rest is the text.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingot/text.hpp"
#include "text/value_parser.hpp"

namespace {

using namespace ingot;

void require(bool condition) {
  if (!condition) std::abort();
}

constexpr std::array<std::string_view, 16> scalar_names = {
    "uint8",   "int8",    "uint16", "int16", "uint32", "int32",  "uint64", "int64",
    "float32", "float64", "string", "bool",  "str",    "double", "i64",    "u8"};

/// More elements than a text has room for; a file of brackets may have as many bytes.
constexpr std::uint64_t max_elements = 4096;

/// Reads all of a value; arrays in it as deep as they go, which the parser limits.
void read_all(const Value& value) {
  require(cli::spec_text(cli::spec_of(value)).size() < 256);
  if (!value.is_array()) {
    static_cast<void>(value.get<std::uint64_t>());
    static_cast<void>(value.get<double>());
    const auto text = value.get<std::string_view>();
    require(text.has_value() == (value.type() == ValueType::string));
    return;
  }
  const Array array = value.as_array();
  if (array.size() > max_elements) return;
  std::uint64_t count = 0;
  for (const Value element : array) {
    require(element.type() == array.element_type());
    read_all(element);
    ++count;
  }
  require(count == array.size());
}

void require_good(const cli::ValueSpec& spec, const Result<OwnedValue>& value) {
  if (!value) {
    require(value.error().code != Errc::internal && is_utf8(escape(value.error().detail)));
    return;
  }
  // An array may name a type of its own.
  if (spec.depth == 0) require(value->value().type() == *spec.scalar);
  require(value->value().is_array() == (spec.depth > 0));
  read_all(value->value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  static_cast<void>(cli::parse_value_spec(all));
  if (size < 3) return 0;
  std::string type(scalar_names[data[0] % scalar_names.size()]);
  for (int i = 0; i < data[1] % 4; ++i) type += "[]";
  const auto spec = cli::parse_value_spec(type);
  require(spec.has_value());
  // A few brackets mostly; sometimes more than a stack has room for.
  const std::size_t brackets = data[2] < 250 ? data[2] % 4u : std::size_t{data[2]} * 500;
  const std::string text = std::string(brackets, '[') + all.substr(3) + std::string(brackets, ']');
  require_good(*spec, cli::parse_value(*spec, text));
  require_good(*spec, cli::value_of_content(*spec, text));
  return 0;
}
