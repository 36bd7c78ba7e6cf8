// SPDX-License-Identifier: MIT
// Bump files of the golden models against digests of what the original converters write.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ingot/convert.hpp"
#include "ingot/digest.hpp"
#include "ingot/interop.hpp"
#include "support/expect_error.hpp"
#include "support/shared_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

struct Golden {
  const char* model;
  std::uint32_t version;
  BumpCodes codes;
  const char* digest;
};

constexpr Golden goldens[] = {
    {"kq", 3, BumpCodes::doc, "1a56b791bb7a86b9084c35bb393edf28d9f384112670e85ef6288bb42002aa48"},
    {"kq", 3, BumpCodes::engine,
     "0ac5d8a9d293bd6f1dacd10801f2069331fdd88987e2393e263d9e1ba71cacc1"},
    {"kq", 4, BumpCodes::engine,
     "2ecfcdb15e51014b5c0d6527befddbe7e657da62b55ecb87000f4f406491eda5"},
    {"pad24", 3, BumpCodes::doc,
     "dbc57b2cba23187ee6ee2633d32a649e1a9f5fe9e6ed87f75b91b55b44428a86"},
    {"pad24", 3, BumpCodes::engine,
     "dbc57b2cba23187ee6ee2633d32a649e1a9f5fe9e6ed87f75b91b55b44428a86"},
    {"pad24", 4, BumpCodes::engine,
     "cfdd46e582999b6ca25d6da8fd64081c2fcb72ce92033c4b9420cfff38bcdf3a"},
    {"sq", 3, BumpCodes::engine,
     "b4f6acf6a73fe357a6edeb69394a2fe943682d0e36188ee3810371bfc84304e3"},
    {"sq", 4, BumpCodes::engine,
     "4ff8d4b1c48aabdc15be56713732a879351ff75d5a023b49cb4d569831512ad2"},
    {"head8", 3, BumpCodes::doc,
     "3188f6968264324166c070974383d02393339fad927bc87f3bb2df9ad631d070"},
    {"head8", 3, BumpCodes::engine,
     "c35dfc62c9bbd0875d7bd3e0662c79b89465b53aca709c635d606b49e40555a4"},
    {"head8", 4, BumpCodes::engine,
     "c8b7951eaa3dcb25ca2a0d569f23e3e7510e68b4b243e6242aa09a0020b5adf2"},
    {"f32", 3, BumpCodes::doc, "f91c34cc69a2dc914269e0a2178ceced2a27073deaa1bfbd29c0afec7fae5f44"},
    {"f32", 3, BumpCodes::engine,
     "f91c34cc69a2dc914269e0a2178ceced2a27073deaa1bfbd29c0afec7fae5f44"},
    {"f32", 4, BumpCodes::engine,
     "e9205fa2ae3f8cecb152d17472d136ccb35b3580da9ad771bc9293a146967a45"},
};

constexpr std::pair<const char*, const char*> config_digests[] = {
    {"kq", "b2ce719d29719fa347983b764ba22916520221bf958c013f11f828952661c4a7"},
    {"pad24", "7b0a49e3253ee30b9a2f91a5339382560a8913afc5bea40951c5a5c4351c6c19"},
    {"sq", "0f5f075788c6fbca632a7aacc8535606aa296accb95115f1e864ba65d2c00493"},
    {"head8", "d26b249c310a606251c5367615a790269b6de470b8aa945385171b8cece0ec02"},
    {"f32", "d2413ca1d79ea63fdb78d2043f4b964871ae8287dfb91278f897d7977feea936"},
};

constexpr std::pair<const char*, const char*> manifest_digests[] = {
    {"kq", "3da8fac1367ba8bdc691a26ae193b2c8f75b4522ec502cd85cff9aefbc0ef89a"},
    {"sq", "8f60bc2936a27b4170896e5cff6947ac4794a7e33d0a7bd7bb6a124684d62420"},
};

std::string digest_of_file(const std::string& path) {
  return digest_of(DigestAlgorithm::sha256, read_whole(path));
}

class BumpGolden : public SharedFilesTest {
 protected:
  void SetUp() override { require_files(files_); }

  Result<void> convert(const std::string& name, const BumpOptions& bump) const {
    INGOT_TRY(const Model model, Model::open(files_ / (name + ".gguf")));
    ConvertOptions options;
    options.bump = bump;
    options.replace = true;
    INGOT_TRY(const auto conversion,
              plan_conversion(model, FileFormat::bump, folder_.path("weights.bump"), options));
    return conversion->run();
  }

  std::string config() const {
    const Bytes bytes = read_whole(folder_.path("config.json"));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  std::filesystem::path files_ = shared_folder() / "golden" / "bump";
  TemporaryFolder folder_;
};

constexpr BumpOptions original(std::uint32_t version, BumpCodes codes) {
  BumpOptions options;
  options.version = version;
  options.codes = codes;
  options.allow_loss = true;
  options.is_strictly_original = true;
  return options;
}

TEST_F(BumpGolden, StrictlyOriginalFilesAreThoseOfTheOriginalConverters) {
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(testing::Message() << golden.model << " version " << golden.version << " codes "
                                    << static_cast<int>(golden.codes));
    ASSERT_THAT(convert(golden.model, original(golden.version, golden.codes)), Succeeds());
    EXPECT_EQ(digest_of_file(folder_.path("weights.bump")), golden.digest);
    for (const auto& [model, digest] : config_digests) {
      if (std::string_view(model) == golden.model) {
        EXPECT_EQ(digest_of_file(folder_.path("config.json")), digest) << config();
      }
    }
  }
}

/// A section as the description of the format lists it.
struct ListedSection {
  std::string name;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string digest;
};

/// The table below a heading of the description.
std::vector<ListedSection> listed_sections(const std::filesystem::path& description,
                                           std::string_view heading) {
  std::ifstream file(description);
  std::string line;
  while (std::getline(file, line) && line != heading) {
  }
  std::vector<ListedSection> sections;
  while (std::getline(file, line) && line.rfind("###", 0) != 0) {
    ListedSection section;
    std::istringstream words(line);
    if (words >> section.name >> section.offset >> section.size >> section.digest &&
        section.digest.size() == 64) {
      sections.push_back(section);
    }
  }
  return sections;
}

TEST_F(BumpGolden, EverySectionIsThatOfTheDescription) {
  const std::filesystem::path description = shared_folder() / "spec" / "bump.md";
  require_files(description);
  const std::tuple<const char*, const char*, BumpOptions> tables[] = {
      {"### kq", "kq", original(3, BumpCodes::doc)},
      {"### pad24", "pad24", original(3, BumpCodes::doc)},
      {"### sq, dialect 4 (copied biases, simple quants)", "sq", original(4, BumpCodes::engine)},
  };
  for (const auto& [heading, name, options] : tables) {
    SCOPED_TRACE(heading);
    ASSERT_THAT(convert(name, options), Succeeds());
    const Bytes bytes = read_whole(folder_.path("weights.bump"));
    const auto opened = open_any(folder_.path("weights.bump"));
    ASSERT_THAT(opened, Succeeds());
    const auto sections = listed_sections(description, heading);
    ASSERT_EQ(sections.size(), opened->model.tensors().size() + 2);  // header and table
    std::uint64_t end = 0;
    for (const ListedSection& section : sections) {
      SCOPED_TRACE(section.name);
      ASSERT_EQ(section.offset, end);
      end += section.size;
      ASSERT_LE(end, bytes.size());
      EXPECT_EQ(digest_of(DigestAlgorithm::sha256,
                          std::span(bytes).subspan(section.offset, section.size)),
                section.digest);
      if (section.name == "header" || section.name == "dtype_table") continue;
      const TensorInfo* tensor = opened->model.find_tensor(section.name);
      ASSERT_NE(tensor, nullptr);
      Bytes content(tensor->size_bytes);
      ASSERT_THAT(opened->model.read(*tensor, 0, content), Succeeds());
      EXPECT_EQ(digest_of(DigestAlgorithm::sha256, content), section.digest);
    }
    EXPECT_EQ(end, bytes.size());
  }
}

TEST_F(BumpGolden, ABitFlippedInAnySectionIsFound) {
  ASSERT_THAT(convert("f32", original(3, BumpCodes::doc)), Succeeds());
  const Bytes good = read_whole(folder_.path("weights.bump"));
  for (std::size_t at = 128; at < good.size(); at += 997) {
    Bytes flipped = good;
    flipped[at] ^= std::byte{1} << (at % 8);
    folder_.write("weights.bump", flipped);
    // A fault in the count of the table shows in the layout before the checksum.
    const auto opened = open_any(folder_.path("weights.bump"));
    ASSERT_FALSE(opened.has_value()) << at;
    if (at > 132) {
      EXPECT_EQ(opened.error().code, Errc::checksum_mismatch) << at;
    }
  }
}

TEST_F(BumpGolden, ManifestsOfVersion4AreTheOriginals) {
  for (const auto& [model, digest] : manifest_digests) {
    BumpOptions options = original(4, BumpCodes::engine);
    options.manifest_path = folder_.path("manifest.json");
    ASSERT_THAT(convert(model, options), Succeeds());
    EXPECT_EQ(digest_of_file(folder_.path("manifest.json")), digest) << model;
  }
}

TEST_F(BumpGolden, TheDocDialectRefusesWhatItsConverterCannotRead) {
  // Its converter knows the keys of llama alone.
  EXPECT_THAT(convert("sq", original(3, BumpCodes::doc)),
              FailsWith(Errc::bump_cannot_hold, Error::no_offset, "llama.attention.head_count"));
  EXPECT_THAT(convert("sq", BumpOptions{}),
              FailsWith(Errc::type_not_held, Error::no_offset, "token_embd.weight"));
}

TEST_F(BumpGolden, WithoutTheSwitchesAnUntiedOutputIsRefused) {
  BumpOptions options;
  EXPECT_THAT(convert("kq", options),
              FailsWith(Errc::would_be_lost, Error::no_offset, "output.weight"));
  options.allow_loss = true;
  EXPECT_THAT(convert("kq", options), Succeeds());
}

TEST_F(BumpGolden, WithoutTheSwitchesOnlyTheEpsilonDiffers) {
  // The original converter looks for an epsilon of llama under a name that is none, and writes its
  // default; the standard key of these files says 1e-6, stored as a float32.
  for (const char* model : {"kq", "head8", "f32"}) {
    ASSERT_THAT(convert(model, original(3, BumpCodes::doc)), Succeeds());
    std::string expected = config();
    const std::string weights = digest_of_file(folder_.path("weights.bump"));
    BumpOptions options;
    options.allow_loss = true;
    ASSERT_THAT(convert(model, options), Succeeds());
    EXPECT_EQ(digest_of_file(folder_.path("weights.bump")), weights) << model;
    const std::size_t at = expected.find("1e-05");
    ASSERT_NE(at, std::string::npos) << expected;
    EXPECT_EQ(config(), expected.replace(at, 5, "9.999999974752427e-07")) << model;
  }
}

TEST_F(BumpGolden, FilesAreReadBackAndVerified) {
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(golden.digest);
    ASSERT_THAT(convert(golden.model, original(golden.version, golden.codes)), Succeeds());
    const auto opened = open_any(folder_.path("weights.bump"));
    ASSERT_THAT(opened, Succeeds());
    EXPECT_EQ(opened->format, FileFormat::bump);
    EXPECT_NE(opened->model.find_tensor("layer.0.w2"), nullptr);
    // Without the configuration the widths follow from the size.
    std::filesystem::remove(folder_.path("config.json"));
    const auto alone = open_any(folder_.path("weights.bump"));
    ASSERT_THAT(alone, Succeeds());
    EXPECT_NE(alone->model.find_tensor("layer.0.w2"), nullptr);
  }
}

}  // namespace
}  // namespace ingot::test
