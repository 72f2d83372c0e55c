#include "broker/door/zap.h"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <utility>

#include "common/keys/key.h"

namespace skerry::broker {
namespace {

std::string Raw(const keys::PublicKey& key) {
  keys::KeyBytes bytes{};
  EXPECT_TRUE(keys::FromZ85(key.text(), bytes));
  return {bytes.begin(), bytes.end()};
}

class Zap : public ::testing::Test {
 protected:
  Zap() {
    auto parsed =
        AuthorizedKeys::Parse("revoked = [\"" + stale_.text() + "\"]\n[clients]\nacme = [\"" +
                                  client_.text() + "\", \"" + stale_.text() + "\"]\n[workers]\nw = \"" +
                                  worker_.text() + "\"\n[admins]\nada = \"" + admin_.text() + "\"\n",
                              "f");
    EXPECT_TRUE(parsed);
    keys_ = std::move(*parsed);
  }

  static ZapRequest Asking(Door door, const std::string& mechanism, std::vector<std::string> credentials) {
    return {"7", DomainOf(door), "10.0.0.9", mechanism, std::move(credentials)};
  }
  ZapVerdict OfKey(Door door, const keys::PublicKey& key) {
    return Judge(Asking(door, "CURVE", {Raw(key)}), keys_);
  }
  ZapVerdict Of(Door door, const std::string& mechanism, std::vector<std::string> credentials = {}) {
    return Judge(Asking(door, mechanism, std::move(credentials)), keys_);
  }

  const keys::PublicKey client_ = keys::SecretKey::Generate().Public();
  const keys::PublicKey stale_ = keys::SecretKey::Generate().Public();
  const keys::PublicKey worker_ = keys::SecretKey::Generate().Public();
  const keys::PublicKey admin_ = keys::SecretKey::Generate().Public();
  const keys::PublicKey stranger_ = keys::SecretKey::Generate().Public();
  AuthorizedKeys keys_;
};

TEST_F(Zap, AKeyOpensItsOwnDoorAndNoOther) {
  const std::pair<Door, keys::PublicKey> doors[] = {
      {Door::kClientsWithKeys, client_}, {Door::kWorkersWithKeys, worker_}, {Door::kAdminsWithKeys, admin_}};
  for (const auto& [door, own] : doors) {
    for (const auto& [home, key] : doors) {
      const ZapVerdict verdict = OfKey(door, key);
      EXPECT_EQ(verdict.user, key.text());
      if (door == home) {
        EXPECT_FALSE(verdict.refused) << DomainOf(door);
      } else {
        EXPECT_EQ(verdict.refused, HandshakeRefusal::kWrongDoor)
            << DomainOf(home) << " at " << DomainOf(door);
      }
    }
  }
}

TEST_F(Zap, EachSideHasTwoDoorsOfItsOwn) {
  std::set<std::string> domains;
  for (const Side side : {Side::kClient, Side::kWorker, Side::kAdmin}) {
    domains.insert(DomainOf(DoorWithKeys(side)));
    domains.insert(DomainOf(PlainDoor(side)));
  }
  EXPECT_EQ(domains.size(), std::size(kDoors));
}

TEST_F(Zap, StrangersAndRevokedKeysAreRefused) {
  for (const Door door : {Door::kClientsWithKeys, Door::kWorkersWithKeys, Door::kAdminsWithKeys}) {
    EXPECT_EQ(OfKey(door, stranger_).refused, HandshakeRefusal::kUnknownKey);
    EXPECT_EQ(OfKey(door, stale_).refused, HandshakeRefusal::kRevokedKey);
  }
}

TEST_F(Zap, OtherMechanismsAreRefusedAtEveryDoor) {
  for (const Door door : {Door::kClientsWithKeys, Door::kWorkersWithKeys, Door::kAdminsWithKeys}) {
    EXPECT_EQ(Of(door, "NULL").refused, HandshakeRefusal::kMechanism);
    EXPECT_EQ(Of(door, "PLAIN", {"user", "password"}).refused, HandshakeRefusal::kMechanism);
  }
  for (const Door door : {Door::kClientsPlain, Door::kWorkersPlain, Door::kAdminsPlain}) {
    EXPECT_FALSE(Of(door, "NULL").refused);
    EXPECT_EQ(Of(door, "NULL").user, kPlainUser) << "so that what the peer calls itself is not shown";
    EXPECT_EQ(Of(door, "CURVE", {Raw(client_)}).refused, HandshakeRefusal::kMechanism);
  }
}

TEST_F(Zap, CredentialsThatAreNoKeyAndDoorsThatAreNoneAreRefused) {
  for (const auto& credentials : std::vector<std::vector<std::string>>{
           {}, {""}, {std::string(31, 'x')}, {std::string(33, 'x')}, {Raw(client_), Raw(client_)}}) {
    EXPECT_EQ(Of(Door::kClientsWithKeys, "CURVE", credentials).refused, HandshakeRefusal::kProtocol);
  }
  EXPECT_EQ(Judge({"7", "", "", "NULL", {}}, keys_).refused, HandshakeRefusal::kProtocol);
  EXPECT_EQ(Judge({"7", "cellar", "", "CURVE", {Raw(client_)}}, keys_).refused, HandshakeRefusal::kProtocol);
}

TEST_F(Zap, NoKeyIsTakenForAPlainUser) {
  EXPECT_FALSE(keys::PublicKey::Parse(kPlainUser));
}

TEST_F(Zap, RequestsAreReadAndAnsweredAsTheRfcHasThem) {
  const auto request = ReadZapRequest({"1.0", "42", "clients", "10.0.0.9", "id", "CURVE", "key"});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->id, "42");
  EXPECT_EQ(request->domain, "clients");
  EXPECT_EQ(request->address, "10.0.0.9");
  EXPECT_EQ(request->mechanism, "CURVE");
  EXPECT_EQ(request->credentials, std::vector<std::string>{"key"});
  EXPECT_EQ(ZapReply(*request, {std::nullopt, "me"}),
            (std::vector<std::string>{"1.0", "42", "200", "", "me", ""}));
  EXPECT_EQ(ZapReply(*request, {HandshakeRefusal::kUnknownKey, "me"}),
            (std::vector<std::string>{"1.0", "42", "400", "refused", "", ""}))
      << "a peer that was refused has no name";
  EXPECT_FALSE(ReadZapRequest({"1.0", "42", "clients", "10.0.0.9", "id"}));
  EXPECT_FALSE(ReadZapRequest({"2.0", "42", "clients", "10.0.0.9", "id", "CURVE", "key"}));
  EXPECT_FALSE(ReadZapRequest({}));
}

}  // namespace
}  // namespace skerry::broker
