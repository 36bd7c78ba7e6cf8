// SPDX-License-Identifier: MIT
#include "ingot/model_digests.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "support/expect_error.hpp"
#include "support/sample_files.hpp"

namespace ingot::test {
namespace {

using enum DigestAlgorithm;
const std::vector<DigestAlgorithm> every_algorithm = {sha256, sha1, xxh64, xxh3_128, xet};

/// Tensors out of order, with a gap, without elements.
Bytes odd_model() { return file_of_everything(v3); }

/// Large enough for several steps.
Bytes large_model() {
  constexpr std::uint64_t elements = std::uint64_t{5} << 20;
  GgufBuilder file;
  file.pair("general.architecture", "llama");
  file.tensor("a", {elements}, TensorType::i8, 0);
  file.tensor("b", {7}, TensorType::i8, elements);
  file.tensor("c", {elements}, TensorType::i8, elements + 32);
  file.pad_to(32).data(elements + 32 + elements);
  return file.bytes();
}

DigestSet digests_of(std::span<const std::byte> bytes) {
  DigestSet set;
  for (const DigestAlgorithm algorithm : every_algorithm) {
    set[algorithm] = digest_of(algorithm, bytes);
  }
  return set;
}

void expect_right(const Bytes& bytes, const Model& model, const ModelDigests& digests) {
  ASSERT_EQ(digests.files.size(), 1u);
  EXPECT_EQ(digests.files[0], digests_of(bytes));
  ASSERT_EQ(digests.tensors.size(), model.tensors().size());
  Bytes weights;
  for (std::size_t i = 0; i < model.tensors().size(); ++i) {
    const TensorInfo& tensor = model.tensors()[i];
    Bytes content(tensor.size_bytes);
    ASSERT_THAT(model.read(tensor, 0, content), Succeeds());
    EXPECT_EQ(digests.tensors[i], digests_of(content)) << tensor.name;
    weights.insert(weights.end(), content.begin(), content.end());
  }
  EXPECT_EQ(digests.weights, digests_of(weights));
  EXPECT_EQ(digests.uuid.size(), 36u);
}

TEST(ModelDigests, AreThoseOfTheBytesForAnySourceAndThreads) {
  for (const Bytes& bytes : {odd_model(), large_model()}) {
    const auto in_memory = Model::open_memory(bytes);
    const auto through_calls = Model::open_source(
        read_through(bytes.size(), [&bytes](std::uint64_t at, std::span<std::byte> destination) {
          std::memcpy(destination.data(), bytes.data() + at, destination.size());
          return true;
        }));
    ASSERT_THAT(in_memory, Succeeds());
    ASSERT_THAT(through_calls, Succeeds());
    for (const Model* model : {&*in_memory, &*through_calls}) {
      for (const unsigned threads : {1u, 2u, 9u}) {
        const auto digests = compute_digests(*model, {.algorithms = every_algorithm,
                                                      .has_weights = true,
                                                      .has_uuid = true,
                                                      .thread_count = threads});
        ASSERT_THAT(digests, Succeeds());
        expect_right(bytes, *model, *digests);
      }
    }
  }
}

TEST(ModelDigests, OfTensorsAloneAreTheSame) {
  const Bytes bytes = large_model();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto all = compute_digests(*model, {.algorithms = every_algorithm});
  ASSERT_THAT(all, Succeeds());
  for (const unsigned threads : {1u, 3u}) {
    const auto alone = compute_digests(
        *model, {.algorithms = every_algorithm, .has_files = false, .thread_count = threads});
    ASSERT_THAT(alone, Succeeds());
    EXPECT_TRUE(alone->files.empty());
    EXPECT_EQ(alone->tensors, all->tensors);
  }
}

TEST(ModelDigests, ComputeOnlyWhatIsAskedFor) {
  const Bytes bytes = odd_model();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto digests = compute_digests(*model, {.algorithms = {xxh64}, .has_tensors = false});
  ASSERT_THAT(digests, Succeeds());
  EXPECT_TRUE(digests->tensors.empty());
  EXPECT_TRUE(digests->uuid.empty());
  EXPECT_EQ(digests->weights, DigestSet());
  ASSERT_EQ(digests->files.size(), 1u);
  EXPECT_TRUE(digests->files[0][sha256].empty());
  EXPECT_EQ(digests->files[0][xxh64], digest_of(xxh64, bytes));
}

TEST(ModelDigests, TellHowFarTheyAreAndStop) {
  const Bytes bytes = large_model();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  for (const bool has_files : {true, false}) {
    const DigestRequest request{.has_files = has_files, .thread_count = 2};
    std::uint64_t last = 0;
    ASSERT_THAT(compute_digests(*model, request,
                                [&](std::uint64_t done) {
                                  EXPECT_GE(done, last);
                                  last = done;
                                  return true;
                                }),
                Succeeds());
    EXPECT_EQ(last, bytes.size());
    const auto stopped = compute_digests(*model, request, [](std::uint64_t) { return false; });
    EXPECT_THAT(stopped, FailsWith(Errc::interrupted));
  }
}

TEST(ModelDigests, FailWhereReadingFails) {
  const Bytes bytes = large_model();
  const auto model = Model::open_source(
      read_through(bytes.size(), [&bytes](std::uint64_t at, std::span<std::byte> destination) {
        if (at + destination.size() > (std::uint64_t{4} << 20)) return false;
        std::memcpy(destination.data(), bytes.data() + at, destination.size());
        return true;
      }));
  ASSERT_THAT(model, Succeeds());
  EXPECT_THAT(compute_digests(*model, {}), FailsWith(Errc::io_error));
  EXPECT_THAT(compute_digests(*model, {.has_files = false}), FailsWith(Errc::io_error));
}

}  // namespace
}  // namespace ingot::test
