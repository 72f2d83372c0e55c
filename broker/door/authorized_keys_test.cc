#include "broker/door/authorized_keys.h"

#include <gtest/gtest.h>

#include "common/keys/key.h"

namespace skerry::broker {
namespace {

std::string NewKey() {
  return keys::SecretKey::Generate().Public().text();
}
std::string Quoted(const std::string& text) {
  return "\"" + text + "\"";
}

TEST(AuthorizedKeys, NameTenantsWorkersAndOperatorsSeveralKeysEach) {
  const std::string a = NewKey(), b = NewKey(), w = NewKey(), o = NewKey();
  const auto keys = AuthorizedKeys::Parse("[clients]\nacme = [" + Quoted(a) + ", " + Quoted(b) +
                                              "]\n[workers]\n\"rack.1\" = " + Quoted(w) +
                                              "\n[admins]\nada = " + Quoted(o) + "\n",
                                          "f");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(*keys->Find(a), (Identity{Side::kClient, "acme", a}));
  EXPECT_EQ(*keys->Find(b), (Identity{Side::kClient, "acme", b}));
  EXPECT_EQ(*keys->Find(w), (Identity{Side::kWorker, "rack.1", w}));
  EXPECT_EQ(*keys->Find(o), (Identity{Side::kAdmin, "ada", o}));
  EXPECT_EQ(keys->Find(NewKey()), nullptr);
  EXPECT_TRUE(keys->Allows({Side::kClient, "acme", a}));
  EXPECT_FALSE(keys->Allows({Side::kClient, "other", a})) << "the key has another owner now";
}

TEST(AuthorizedKeys, ThatAreRevokedAreNobodysWhereverElseTheyAreListed) {
  const std::string a = NewKey(), b = NewKey();
  const auto keys = AuthorizedKeys::Parse(
      "revoked = [" + Quoted(a) + "]\n[clients]\nacme = [" + Quoted(a) + ", " + Quoted(b) + "]\n", "f");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->Find(a), nullptr);
  EXPECT_TRUE(keys->IsRevoked(a));
  EXPECT_FALSE(keys->Allows({Side::kClient, "acme", a}));
  EXPECT_NE(keys->Find(b), nullptr);
}

TEST(AuthorizedKeys, RevokedBelowATableAreRefusedSinceTomlWouldLetThemIn) {
  for (const char* table : {"clients", "workers", "admins"}) {
    for (const char* name : {"revoked", "\"revoked\""}) {
      const auto keys = AuthorizedKeys::Parse(
          std::string("[") + table + "]\nada = []\n" + name + " = [" + Quoted(NewKey()) + "]\n", "f");
      ASSERT_FALSE(keys) << table;
      EXPECT_EQ(keys.error().message,
                "f:3: revoked must stand above the first table: here it would authorize its keys, for '" +
                    std::string(table) + ".revoked'");
    }
  }
}

TEST(AuthorizedKeys, ThatNameNobodyDoNotFollowOnesThatDo) {
  const std::string a = Quoted(NewKey());
  const auto list = [](const std::string& text) {
    const auto keys = AuthorizedKeys::Parse(text, "f");
    EXPECT_TRUE(keys) << keys.error().message;
    return keys.value_or(AuthorizedKeys());
  };
  const AuthorizedKeys empty = list(""), cut_off = list("revoked = [" + a + "]\n[clients]\n"),
                       all_revoked = list("revoked = [" + a + "]\n[clients]\nacme = " + a);
  for (const char* table : {"clients", "workers", "admins"}) {
    const AuthorizedKeys one = list(std::string("[") + table + "]\nada = " + a);
    EXPECT_FALSE(empty.MayFollow(one)) << table;
    EXPECT_FALSE(cut_off.MayFollow(one)) << table;
    EXPECT_TRUE(all_revoked.MayFollow(one)) << "that is meant: " << table;
    EXPECT_TRUE(one.MayFollow(one)) << table;
    EXPECT_TRUE(one.MayFollow(empty)) << table;
  }
  EXPECT_FALSE(empty.MayFollow(all_revoked));
  EXPECT_TRUE(empty.MayFollow(empty)) << "nobody yet";
}

TEST(AuthorizedKeys, OfAnEmptyFileAreNone) {
  const auto keys = AuthorizedKeys::Parse("# nobody yet\n[clients]\n[workers]\n[admins]\n", "f");
  ASSERT_TRUE(keys) << keys.error().message;
  EXPECT_EQ(keys->size(), 0u);
}

TEST(AuthorizedKeys, ToldWithEveryFaultAtOnceAndItsLine) {
  const std::string a = NewKey();
  const auto keys = AuthorizedKeys::Parse("revoked = [\"short\"]\nnonsense = 1\n[clients]\nacme = [" +
                                              Quoted(a) + "]\n\"a/b\" = []\nnumber = 5\n[workers]\nw = [" +
                                              Quoted(a) + "]\n[workers.more]\n[hosts]\n",
                                          "f");
  ASSERT_FALSE(keys);
  const std::string& faults = keys.error().message;
  for (const char* fault :
       {"f:1: revoked: a public key must be 40 characters", "f:2: unknown name 'nonsense'",
        "f:5: the name 'a/b' must be", "f:6: clients.number must be a list", "is listed before, for 'acme'",
        "f:9: there is no table 'workers.more'", "f:10: there is no table 'hosts'"}) {
    EXPECT_NE(faults.find(fault), std::string::npos) << fault << "\nin\n" << faults;
  }
}

TEST(AuthorizedKeys, AreOfOneRoleOnly) {
  const std::string a = NewKey(), w = NewKey();
  const auto keys =
      AuthorizedKeys::Parse("[clients]\nacme = " + Quoted(a) + "\n[workers]\nrack = " + Quoted(w) +
                                "\n[admins]\nada = [" + Quoted(a) + ", " + Quoted(w) + "]\n",
                            "f");
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().message, "f:6: key " + a + " is listed before, for 'acme'\nf:6: key " + w +
                                      " is listed before, for 'rack'");
}

TEST(AuthorizedKeys, OfAFileThatIsNoTomlSayWhere) {
  const auto keys = AuthorizedKeys::Parse("[clients\n", "f");
  ASSERT_FALSE(keys);
  EXPECT_TRUE(keys.error().message.starts_with("f:1:")) << keys.error().message;
}

}  // namespace
}  // namespace skerry::broker
