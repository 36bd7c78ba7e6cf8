// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "ingot/remote.h"
#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"

namespace ingot {
namespace {

TEST(CapiRemote, OpensWhatIsHere) {
  const test::TemporaryFolder folder;
  const test::Bytes file = test::GgufBuilder().pair("k", "v").bytes();
  folder.write("m.gguf", file);
  ingot_model* model = nullptr;
  ingot_error error = {};
  const std::string path = folder.path("m.gguf");
  ASSERT_EQ(ingot_open_remote(path.c_str(), nullptr, nullptr, &model, &error), INGOT_OK)
      << error.message;
  EXPECT_EQ(ingot_key_count(model), 1u);
  ingot_close(model);
}

TEST(CapiRemote, RefusesWhatMakesNoSense) {
  ingot_model* model = nullptr;
  EXPECT_EQ(ingot_open_remote(nullptr, nullptr, nullptr, &model, nullptr),
            INGOT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_open_remote("x", nullptr, nullptr, nullptr, nullptr),
            INGOT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(ingot_open_remote("hf:../x", nullptr, nullptr, &model, nullptr),
            INGOT_ERROR_REFERENCE_INVALID);
  ingot_remote_options options = {};
  EXPECT_EQ(ingot_open_remote("x", &options, nullptr, &model, nullptr),
            INGOT_ERROR_INVALID_ARGUMENT);
  options.struct_size = sizeof options;
  options.is_offline = 1;
  EXPECT_EQ(ingot_open_remote("hf:org/nowhere", &options, nullptr, &model, nullptr),
            INGOT_ERROR_REMOTE_UNAVAILABLE);
  EXPECT_EQ(model, nullptr);
}

}  // namespace
}  // namespace ingot
