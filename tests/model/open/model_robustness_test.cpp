// SPDX-License-Identifier: MIT
// Every prefix and every change of one byte of a file: an ordinary error, or a consistent model.

#include <gtest/gtest.h>

#include <string>

#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "support/expect_error.hpp"
#include "support/guarded_bytes.hpp"
#include "support/model_checks.hpp"
#include "support/random.hpp"
#include "support/sample_files.hpp"

namespace ingot::test {
namespace {

/// Opens bytes, which are anything, leniently too if that could help. Returns what is wrong with
/// the answer; empty if nothing is.
std::string judge(std::span<const std::byte> bytes, bool is_lenient = false) {
  const Result<Model> model = Model::open_memory(bytes, {.is_lenient = is_lenient});
  if (model) return find_inconsistency(*model);
  const ErrorCategory category = category_of(model.error().code);
  if (category == ErrorCategory::input) return {};
  if (category == ErrorCategory::lenient && !is_lenient) return judge(bytes, true);
  return model.error().message();
}

class EveryFormat : public testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(, EveryFormat, testing::ValuesIn(all_formats), [](const auto& suite) {
  return "v" + std::to_string(suite.param.version) +
         (suite.param.byte_order == Endian::big ? "_big" : "");
});

TEST_P(EveryFormat, PrefixesAreRefusedOrConsistent) {
  for (const Bytes& file : {file_of_everything(GetParam()), file_of_600_bytes(GetParam())}) {
    GuardedBytes memory(file.size());
    const auto whole = Model::open_memory(file);
    ASSERT_THAT(whole, Succeeds());
    std::uint64_t data_end = whole->files()[0].header_bytes;
    for (const TensorInfo& tensor : whole->tensors()) {
      data_end = std::max(data_end, whole->file_offset(tensor) + tensor.size_bytes);
    }
    for (std::size_t size = 0; size <= file.size(); ++size) {
      const auto prefix = memory.hold(std::span(file).first(size));
      EXPECT_EQ(judge(prefix), "") << size;
      EXPECT_EQ(Model::open_memory(prefix).has_value(), size >= data_end) << size;
    }
  }
}

TEST_P(EveryFormat, ChangesOfOneByteAreRefusedOrConsistent) {
  const Bytes file = file_of_600_bytes(GetParam());
  GuardedBytes memory(file.size());
  const std::span<std::byte> bytes = memory.hold(file);
  constexpr unsigned step = INGOT_INSTRUMENTED ? 3 : 1;  // sanitizers are slow
  for (std::byte& changed : bytes) {
    const std::byte original = changed;
    for (unsigned value = 0; value < 256; value += step) {
      changed = static_cast<std::byte>(value);
      ASSERT_EQ(judge(bytes), "") << "byte " << &changed - bytes.data() << " is " << value;
    }
    changed = original;
  }
}

TEST_P(EveryFormat, RandomChangesAreRefusedOrConsistent) {
  Random random;
  const Bytes file = file_of_everything(GetParam());
  GuardedBytes memory(file.size());
  for (int run = 0; run < 2000; ++run) {
    const std::span<std::byte> bytes = memory.hold(file);
    for (std::uint64_t change = 1 + random.below(4); change != 0; --change) {
      // Small numbers are what counts and types are.
      const std::uint64_t value = random.below(2) == 0 ? random.below(14) : random();
      bytes[random.below(bytes.size())] = static_cast<std::byte>(value);
    }
    ASSERT_EQ(judge(bytes), "") << run;
  }
}

TEST(OneByte, DoesNotChangeWhatIsWritten) {
  // Whatever opens and has no quirk is written as it was.
  Bytes bytes = file_of_600_bytes(v3);
  for (std::byte& changed : bytes) {
    const std::byte original = changed;
    for (const unsigned value : {0u, 1u, 2u, 9u, 0x41u, 0x80u, 0xFFu}) {
      changed = static_cast<std::byte>(value);
      const auto model = Model::open_memory(bytes, {.is_lenient = true});
      if (!model || model->files()[0].has_old_magic) continue;
      if (model->files()[0].alignment > 4096) continue;  // much padding, nothing new
      const auto header = serialise_header(*model);
      ASSERT_THAT(header, Succeeds());
      const std::uint64_t header_bytes = model->files()[0].header_bytes;
      EXPECT_TRUE(model->notices().size() == 1 ||
                  std::equal(bytes.data(), bytes.data() + header_bytes, header->data()))
          << "byte " << &changed - bytes.data() << " is " << value;
    }
    changed = original;
  }
}

}  // namespace
}  // namespace ingot::test
