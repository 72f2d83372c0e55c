#include "broker/redis/broker_count.h"

#include <gtest/gtest.h>

namespace skerry::broker {
namespace {

TEST(BrokerCount, IsWhatRedisSaysAndGoesDownOnlyAWindowAfterItIsBack) {
  TimePoint now(Millis(1'000'000));
  BrokerCount brokers(3);
  EXPECT_EQ(brokers.count(), 3u);
  brokers.OnUp(now);
  brokers.OnTold(1, now);
  EXPECT_EQ(brokers.count(), 3u) << "the others cannot have said that they live";
  brokers.OnTold(4, now + Millis(1));
  EXPECT_EQ(brokers.count(), 4u);
  brokers.OnTold(2, now + kBrokerWindow - Millis(1));
  EXPECT_EQ(brokers.count(), 4u);
  brokers.OnTold(2, now + kBrokerWindow);
  EXPECT_EQ(brokers.count(), 2u);
  brokers.OnUp(now + kBrokerWindow + Millis(5));
  brokers.OnTold(1, now + kBrokerWindow + Millis(6));
  EXPECT_EQ(brokers.count(), 2u) << "last seen";
}

}  // namespace
}  // namespace skerry::broker
