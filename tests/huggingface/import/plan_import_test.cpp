// SPDX-License-Identifier: MIT
// Folders that an import refuses before it reads a tensor.
#include <gmock/gmock.h>

#include "ingot/import.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

using testing::HasSubstr;

std::string refusal_of(const TemporaryFolder& folder, const std::string& name,
                       std::string_view config) {
  std::filesystem::create_directories(folder.path(name));
  folder.write(name + "/config.json", std::as_bytes(std::span(config)));
  const auto import = plan_import(file_system(), folder.path(name), {});
  return import ? std::string() : import.error().message();
}

TEST(PlanImport, RefusesExpertsInSomeLayers) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal_of(folder, "nomic",
                         R"({"architectures": ["NomicBertModel"], "moe_every_n_layers": 2})"),
              HasSubstr("moe_every_n_layers is 2"));
}

}  // namespace
}  // namespace ingot::test
