// SPDX-License-Identifier: MIT
#include "ingot/reference.hpp"

#include <gmock/gmock.h>

#include <string>

#include "support/expect_error.hpp"

namespace ingot::test {
namespace {

/// A reference with all its parts, as one line.
std::string parts(std::string_view text) {
  const Result<Reference> parsed = parse_reference(text);
  if (!parsed) return std::string(name_of(parsed.error().code));
  const Reference& r = *parsed;
  switch (r.kind) {
    case ReferenceKind::local:
      return "local " + r.path;
    case ReferenceKind::web:
      return "web " + r.address;
    case ReferenceKind::registry:
      return "registry " + r.host + " " + r.name_space + " " + r.model + " " + r.tag + " " +
             r.digest;
    default:
      return (r.kind == ReferenceKind::hub ? "hub " : "ms ") + r.organisation + " " + r.repository +
             " " + r.revision + " " + r.quantization + " " + r.path;
  }
}

TEST(Reference, TakesNamesOfTheHubApart) {
  EXPECT_EQ(parts("hf:org/repo"), "hub org repo   ");
  EXPECT_EQ(parts("hf:org/repo:Q4_K_M"), "hub org repo  Q4_K_M ");
  EXPECT_EQ(parts("hf:org/repo@v1.0:q8_0"), "hub org repo v1.0 q8_0 ");
  EXPECT_EQ(parts("hf:org/repo/a/b.gguf"), "hub org repo   a/b.gguf");
  EXPECT_EQ(parts("hf://org/repo@main/b.gguf"), "hub org repo main  b.gguf");
  EXPECT_EQ(parts("HF://org/repo/b c.gguf"), "hub org repo   b c.gguf");
  EXPECT_EQ(parts("ms:org/repo:Q4_0"), "ms org repo  Q4_0 ");
}

TEST(Reference, TurnsPagesOfTheHubIntoFiles) {
  EXPECT_EQ(parts("https://huggingface.co/org/repo"), "hub org repo   ");
  EXPECT_EQ(parts("https://huggingface.co/org/repo/"), "hub org repo   ");
  EXPECT_EQ(parts("https://huggingface.co/org/repo/tree/dev"), "hub org repo dev  ");
  EXPECT_EQ(parts("https://hf.co/org/repo/blob/main/x/y.gguf"), "hub org repo main  x/y.gguf");
  EXPECT_EQ(parts("https://huggingface.co/org/repo/resolve/main/y.gguf"),
            "web https://huggingface.co/org/repo/resolve/main/y.gguf");
  EXPECT_EQ(parts("https://example.org/org/repo"), "web https://example.org/org/repo");
}

TEST(Reference, TakesNamesOfTheRegistryApart) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  EXPECT_EQ(parts("ollama:llama3"), "registry  library llama3 latest ");
  EXPECT_EQ(parts("ollama:llama3:8b"), "registry  library llama3 8b ");
  EXPECT_EQ(parts("ollama://me/mine:x"), "registry  me mine x ");
  EXPECT_EQ(parts("ollama://host.org:5000/me/mine"), "registry host.org:5000 me mine latest ");
  EXPECT_EQ(parts("ollama:llama3@" + digest), "registry  library llama3 latest " + digest);
}

TEST(Reference, LeavesPathsAlone) {
  EXPECT_EQ(parts("model.gguf"), "local model.gguf");
  EXPECT_EQ(parts("org/repo:Q4_K_M"), "local org/repo:Q4_K_M");
  EXPECT_EQ(parts("file:///tmp/a%20b.gguf"), "local /tmp/a b.gguf");
  EXPECT_EQ(parts("file://host/x"), "reference_invalid");
  EXPECT_EQ(parts("file:///a%00b"), "reference_invalid");
}

TEST(Reference, RefusesWhatLeadsElsewhere) {
  for (const std::string_view text : {"hf:org",
                                      "hf:org/",
                                      "hf:/repo",
                                      "hf:../repo",
                                      "hf:org/..",
                                      "hf:org/repo/../x",
                                      "hf:org/repo//x",
                                      "hf:org/repo/./x",
                                      "hf:org/repo/a%2fb",
                                      "hf:org/repo/a\\b",
                                      "hf:org/repo/a\nb",
                                      "hf:org/repo:",
                                      "hf:org/repo@",
                                      "hf:org/repo@a/../b",
                                      "hf:o rg/repo",
                                      "ollama:",
                                      "ollama:a:b:c",
                                      "ollama:a/b/c/d",
                                      "ollama:a@sha256:12",
                                      "ollama:../a",
                                      "ollama://ho st/a/b",
                                      "http://",
                                      "http://user@/x",
                                      "http://a b/x",
                                      "https://host:99999/x",
                                      "https://host/a\rb",
                                      "https://ho\xc3\xa4st/x",
                                      "ms:x"}) {
    EXPECT_EQ(parts(text), "reference_invalid") << text;
  }
  EXPECT_EQ(parts("hf:" + std::string(97, 'a') + "/b"), "reference_invalid");
}

TEST(Reference, ShowsNoSecret) {
  EXPECT_EQ(parse_reference("https://me:secret@host/x.gguf?sig=secret")->display(),
            "https://host/x.gguf?...");
  EXPECT_EQ(parse_reference("hf:org/repo@main/x.gguf")->display(), "hf:org/repo@main/x.gguf");
  EXPECT_EQ(parse_reference("ollama:llama3")->display(), "ollama:llama3:latest");
  // A wrong address with a password is not repeated either.
  EXPECT_EQ(parse_reference("https://me:secret@ho st/").error().message().find("secret"),
            std::string::npos);
}

TEST(Reference, KnowsWhatCouldBeAName) {
  EXPECT_TRUE(is_hub_name("org/repo"));
  EXPECT_TRUE(is_hub_name("org/repo:Q4_K_M"));
  EXPECT_FALSE(is_hub_name("org/repo/x"));
  EXPECT_FALSE(is_hub_name("./repo"));
  EXPECT_FALSE(is_hub_name("repo"));
  EXPECT_FALSE(is_hub_name("/repo"));
  EXPECT_TRUE(is_remote_reference("HTTPS://x"));
  EXPECT_FALSE(is_remote_reference("httpx"));
}

}  // namespace
}  // namespace ingot::test
