#include "clients/cli/admin/admin_places.h"

#include <gtest/gtest.h>

#include <map>

namespace skerry::cli {
namespace {

using Words = std::vector<std::string>;

Result<std::vector<std::string>> Resolved(const std::string& host) {
  static const std::map<std::string, Words> kHosts = {
      {"brokers.lan", {"10.0.0.1", "10.0.0.2", "fd00::1"}}, {"one.lan", {"10.0.0.1"}}, {"empty.lan", {}}};
  const auto found = kHosts.find(host);
  if (found == kHosts.end()) return Fail(ErrorKind::kUnavailable, "no such host");
  return found->second;
}

Words Endpoints(const Words& places) {
  const auto addresses = AddressesOf(places, &Resolved);
  EXPECT_TRUE(addresses) << addresses.error().message;
  Words endpoints;
  for (const auto& address : addresses->known) endpoints.push_back(address.endpoint);
  return endpoints;
}

TEST(AdminPlace, IsAnEndpointWithOrWithoutItsBrokersKey) {
  for (const char* good : {"ipc:///run/skerry/admin", "tcp://127.0.0.1:7003", "tcp://broker.lan:7003",
                           "tcp://broker.lan:7003 rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"})
    EXPECT_TRUE(CheckAdminPlace(good)) << good;
  for (const char* bad : {"", "nonsense", "file:/etc/brokers", "tcp://broker.lan", "ipc://"})
    EXPECT_FALSE(CheckAdminPlace(bad)) << bad;
}

TEST(AdminAddresses, OfANameAreAllThatItHasEachOnce) {
  EXPECT_EQ(Endpoints({"tcp://brokers.lan:7"}),
            (Words{"tcp://10.0.0.1:7", "tcp://10.0.0.2:7", "tcp://[fd00::1]:7"}));
  EXPECT_EQ(Endpoints({"ipc:///a", "tcp://one.lan:7", "tcp://10.0.0.1:7", "ipc:///a"}),
            (Words{"ipc:///a", "tcp://10.0.0.1:7"}));
  EXPECT_EQ(AddressesOf({"tcp://brokers.lan:7"}, &Resolved)->lead, AdminAddresses::Lead::kMaybeToOne);
  EXPECT_EQ(AddressesOf({"tcp://one.lan:7"}, &Resolved)->lead, AdminAddresses::Lead::kApart);
}

TEST(AdminAddresses, OfThisMachineAreOneAsWritten) {
  EXPECT_EQ(Endpoints({"tcp://localhost:7"}), Words{"tcp://localhost:7"});
}

TEST(AdminAddresses, ANameThatHasNoneIsABrokerThatIsAway) {
  const auto addresses = AddressesOf({"tcp://gone.lan:7", "tcp://empty.lan:7", "ipc:///a"}, &Resolved);
  ASSERT_TRUE(addresses);
  EXPECT_EQ(addresses->known.size(), 1u);
  ASSERT_EQ(addresses->unknown.size(), 2u);
  EXPECT_EQ(addresses->unknown[0].why.message, "tcp://gone.lan:7: no such host");
  EXPECT_EQ(addresses->unknown[1].why.message, "tcp://empty.lan:7: the name has no address");
}

TEST(AdminAddresses, AreNoMoreThanThereMayBeBrokers) {
  Words places;
  for (std::size_t i = 0; i <= kMaxBrokers; ++i) places.push_back("ipc:///" + std::to_string(i));
  EXPECT_EQ(Endpoints(places).size(), kMaxBrokers);
  places.pop_back();
  EXPECT_EQ(Endpoints(places).size(), kMaxBrokers);
}

}  // namespace
}  // namespace skerry::cli
