// SPDX-License-Identifier: MIT
#include "remote/http/retry.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "support/expect_error.hpp"

namespace ingot::remote::test {
namespace {

using ingot::test::FailsWith;
using ingot::test::Succeeds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

const Error& failure() {
  static const Error error{Errc::remote_failed, Error::no_offset, "http://h/", "status 503"};
  return error;
}

/// Milliseconds to wait after each of `count` failures without progress.
std::vector<std::int64_t> waits(int count, double jitter) {
  Retries retries(count, milliseconds(500), 0);
  std::vector<std::int64_t> waits;
  for (int i = 0; i < count; ++i) {
    EXPECT_THAT(retries.count(failure(), 0), Succeeds());
    waits.push_back(retries.wait_after(failure(), {}, jitter)->count());
  }
  return waits;
}

TEST(IsBusy, TakesStatusesThatPass) {
  for (const int status : {408, 425, 429, 500, 502, 503, 504}) EXPECT_TRUE(is_busy(status));
  for (const int status : {0, 200, 206, 301, 304, 400, 401, 403, 404, 410, 416, 501, 505}) {
    EXPECT_FALSE(is_busy(status)) << status;
  }
}

TEST(Retries, WaitTwiceAsLongEachTime) {
  EXPECT_THAT(waits(8, 1.0), ElementsAre(500, 1000, 2000, 4000, 8000, 16'000, 30'000, 30'000));
  EXPECT_THAT(waits(2, 0.75), ElementsAre(375, 750));
  EXPECT_EQ(waits(80, 1.25).back(), 30'000);
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(retry_jitter(), testing::AllOf(testing::Ge(0.75), testing::Le(1.25)));
  }
}

TEST(Retries, EndAfterSoManyInARow) {
  Retries retries(2, milliseconds(1), 0);
  EXPECT_THAT(retries.count(failure(), 0), Succeeds());
  EXPECT_THAT(retries.count(failure(), 0), Succeeds());
  const Result<void> last = retries.count(failure(), 0);
  ASSERT_THAT(last, FailsWith(Errc::remote_failed));
  EXPECT_EQ(last.error().detail, "status 503; tried 3 times");
  Retries none(0, milliseconds(1), 0);
  EXPECT_EQ(none.count(failure(), 0).error().detail, "status 503");
}

TEST(Retries, BeginAgainAfterProgress) {
  Retries retries(1, milliseconds(500), 10);
  EXPECT_THAT(retries.count(failure(), 10), Succeeds());
  EXPECT_THAT(retries.count(failure(), 11), Succeeds());
  EXPECT_EQ(retries.wait_after(failure(), {}, 1.0), milliseconds(500));
  EXPECT_THAT(retries.count(failure(), 11), FailsWith(Errc::remote_failed));
}

TEST(Retries, WaitAsLongAsTheServerWantsInBounds) {
  Retries retries(5, milliseconds(500), 0);
  EXPECT_THAT(retries.count(failure(), 0), Succeeds());
  EXPECT_EQ(retries.wait_after(failure(), seconds(0), 1.0), milliseconds(500));
  EXPECT_EQ(retries.wait_after(failure(), seconds(120), 1.0), seconds(120));
  const auto late = retries.wait_after(failure(), seconds(121), 1.0);
  ASSERT_THAT(late, FailsWith(Errc::remote_failed));
  EXPECT_THAT(late.error().detail, HasSubstr("it wants no request for 121 s"));
}

TEST(RetryAfter, IsANumberOrADate) {
  EXPECT_EQ(parse_retry_after("7", 0), seconds(7));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784111770), seconds(7));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 1'000'000'000), seconds(0));
  EXPECT_FALSE(parse_retry_after("soon", 0));
  EXPECT_FALSE(parse_retry_after("-1", 0));
  EXPECT_FALSE(parse_retry_after("Sun, 06 Xxx 1994 08:49:37 GMT", 0));
}

}  // namespace
}  // namespace ingot::remote::test
