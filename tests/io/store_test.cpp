// SPDX-License-Identifier: MIT
#include "ingot/store.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using testing::IsSupersetOf;
using testing::UnorderedElementsAre;

/// The content that a store gives for a name.
std::string content_of(const Store& store, const std::string& name) {
  const auto source = store.open(name);
  if (!source) return std::string(name_of(source.error().code));
  std::string content((*source)->size_bytes(), '\0');
  EXPECT_THAT((*source)->read(0, std::as_writable_bytes(std::span(content))), Succeeds());
  return content;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(FileSystem, OpensAndListsPaths) {
  const TemporaryFolder folder;
  folder.write("a", bytes_of("A"));
  const std::string path = folder.path("a");
  const std::string parent = folder.path(".");
  EXPECT_EQ(content_of(file_system(), path), "A");
  EXPECT_EQ(content_of(file_system(), folder.path("b")), "io_error");
  EXPECT_EQ(content_of(file_system(), parent), "not_a_regular_file");
  EXPECT_EQ(content_of(file_system(), ""), "invalid_argument");
  EXPECT_THAT(file_system().list(parent).value(), IsSupersetOf({parent + "/a"}));
  EXPECT_THAT(file_system().list(parent + "/").value(), IsSupersetOf({parent + "/a"}));
  EXPECT_THAT(file_system().list(path), FailsWith(Errc::io_error));
  EXPECT_EQ(file_system().locate(path), path);
}

TEST(MemoryStore, OpensAndListsNames) {
  MemoryStore store;
  EXPECT_THAT(store.list("").value(), UnorderedElementsAre());
  store.add("top", bytes_of("T"));
  store.add("models/a", bytes_of("old"));
  store.add("models/a", bytes_of("A"));
  store.add("models/b", bytes_of(""));
  store.add("models/deep/c", bytes_of("C"));
  EXPECT_EQ(content_of(store, "models/a"), "A");
  EXPECT_EQ(content_of(store, "models/b"), "");
  EXPECT_EQ(content_of(store, "models"), "not_a_regular_file");
  EXPECT_EQ(content_of(store, "model"), "io_error");
  EXPECT_THAT(store.list("").value(), UnorderedElementsAre("top"));
  EXPECT_THAT(store.list("models").value(), UnorderedElementsAre("models/a", "models/b"));
  EXPECT_THAT(store.list("models/").value(), UnorderedElementsAre("models/a", "models/b"));
  EXPECT_THAT(store.list("models/a"), FailsWith(Errc::io_error));
  EXPECT_EQ(store.locate("models/a"), "models/a");
}

}  // namespace
}  // namespace ingot::test
