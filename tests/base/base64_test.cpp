// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "ingot/text.hpp"

namespace ingot {
namespace {

std::string encode(std::string_view text) { return base64_encode(std::as_bytes(std::span(text))); }

std::optional<std::string> decode(std::string_view text) {
  const auto bytes = base64_decode(text);
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

TEST(Base64, AgreesWithTheStandard) {  // RFC 4648, section 10
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [text, code] : vectors) {
    EXPECT_EQ(encode(text), code);
    EXPECT_EQ(decode(code), text);
  }
  EXPECT_EQ(encode("\xFB\xEF\xFF"), "++//");
}

TEST(Base64, RefusesWhatNoEncoderWrites) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zg==Zg==", "Zm9v\n", "====", "Zh==", "Zm9=", "Z@==", "Zg=g", "=g=="}) {
    EXPECT_EQ(decode(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ingot
