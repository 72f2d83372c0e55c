#include "common/brokers/broker_directory.h"

#include <gtest/gtest.h>

namespace skerry {
namespace {

using Kind = BrokerPlace::Kind;
using Texts = std::vector<std::string>;

const std::string kKey = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";

std::string FaultOf(std::string_view text) {
  const auto place = ParseBrokerPlace(text);
  return place ? "" : place.error().message;
}

TEST(BrokerPlace, EndpointsNamesAndFilesAreToldApart) {
  EXPECT_EQ(ParseBrokerPlace("ipc:///run/a b").value().kind, Kind::kEndpoint);
  EXPECT_EQ(ParseBrokerPlace("tcp://10.0.0.7:7101").value().kind, Kind::kEndpoint);
  EXPECT_EQ(ParseBrokerPlace("tcp://[fd00::7]:7101").value().kind, Kind::kEndpoint);
  const BrokerPlace name = ParseBrokerPlace(" tcp://brokers.example.org:65535 ").value();
  EXPECT_EQ(name.kind, Kind::kName);
  EXPECT_EQ(name.host, "brokers.example.org");
  EXPECT_EQ(name.port, "65535");
  EXPECT_EQ(ParseBrokerPlace("tcp://localhost:1").value().kind, Kind::kName);
  EXPECT_EQ(ParseBrokerPlace("file:/etc/skerry/brokers").value().path, "/etc/skerry/brokers");
}

TEST(BrokerPlace, AKeyMayFollow) {
  const BrokerPlace place = ParseBrokerPlace("tcp://10.0.0.7:7101  " + kKey).value();
  EXPECT_EQ(place.text, "tcp://10.0.0.7:7101");
  EXPECT_EQ(place.key, kKey);
  for (const std::string& behind : {std::string(" short"), " and " + kKey, " " + kKey.substr(1)}) {
    EXPECT_NE(FaultOf("tcp://10.0.0.7:7101" + behind).find("no broker's public key of 40 characters"),
              std::string::npos)
        << FaultOf("tcp://10.0.0.7:7101" + behind);
  }
}

TEST(BrokerPlace, WhatIsNoneIsSaid) {
  EXPECT_NE(FaultOf(""), "");
  EXPECT_NE(FaultOf("http://x:1").find("is no place"), std::string::npos);
  EXPECT_NE(FaultOf("tcp://host").find("has no port"), std::string::npos);
  EXPECT_NE(FaultOf("tcp://host:0").find("has no port"), std::string::npos);
  EXPECT_NE(FaultOf("tcp://host:65536").find("has no port"), std::string::npos);
  EXPECT_NE(FaultOf("tcp://:7101").find("names no host"), std::string::npos);
  EXPECT_NE(FaultOf("tcp://fd00::7:7101").find("names no host"), std::string::npos);
  EXPECT_NE(FaultOf("tcp://10.0.0.700:7101").find("has an address that is none"), std::string::npos);
  EXPECT_NE(FaultOf("file:").find("names no file"), std::string::npos);
  EXPECT_NE(FaultOf("ipc://").find("1 to 107"), std::string::npos);
  EXPECT_EQ(FaultOf("ipc://" + std::string(107, 'p')), "");
  EXPECT_NE(FaultOf("ipc://" + std::string(108, 'p')).find("1 to 107"), std::string::npos);
  EXPECT_EQ(FaultOf("tcp://" + std::string(253, 'h') + ":1"), "");
  EXPECT_NE(FaultOf("tcp://" + std::string(254, 'h') + ":1"), "");
}

TEST(BrokerPlace, OfAFileEveryFaultIsToldWithItsLine) {
  const auto places = ParseBrokerFile("# ours\n\n tcp://10.0.0.7:1 # the old one\r\nipc:///b " + kKey + "\n");
  ASSERT_TRUE(places) << places.error().message;
  ASSERT_EQ(places->size(), 2u);
  EXPECT_EQ((*places)[0].text, "tcp://10.0.0.7:1");
  EXPECT_EQ((*places)[1].key, kKey);
  const std::string hash = "#" + kKey.substr(1);
  EXPECT_EQ(ParseBrokerFile("ipc:///b " + hash + " # its key").value()[0].key, hash);
  const std::string faults = ParseBrokerFile("ipc:///a\nnonsense\n\nfile:/x\n").error().message;
  EXPECT_NE(faults.find("line 2: "), std::string::npos) << faults;
  EXPECT_NE(faults.find("line 4: "), std::string::npos) << faults;
  EXPECT_NE(faults.find("is a file inside a file"), std::string::npos) << faults;
  EXPECT_EQ(ParseBrokerFile("# nobody\n").error().message, "names no broker");
  std::string large = "ipc:///a\n#";
  large.resize(kMaxBrokerFileBytes, '#');
  EXPECT_TRUE(ParseBrokerFile(large));
  EXPECT_FALSE(ParseBrokerFile(large + "#"));
}

class Directory : public ::testing::Test {
 protected:
  void Open(const Texts& places) {
    directory_.emplace(ParseBrokerPlaces(places).value(), BrokerDirectory::Options(), now_);
  }
  Texts Due() {
    Texts names;
    for (const auto& lookup : directory_->Due(now_)) names.push_back(lookup.name);
    return names;
  }
  void Resolve(const std::string& host, const Texts& addresses) {
    directory_->OnResolved(host, addresses, now_);
  }
  void FailToResolve(const std::string& host) {
    directory_->OnResolved(host, Fail(ErrorKind::kUnavailable, "no answer"), now_);
  }
  Texts Added() {
    change_ = directory_->TakeChange();
    return Names(change_.added);
  }
  Texts Removed() const { return Names(change_.removed); }
  static Texts Names(const std::vector<BrokerAddress>& addresses) {
    Texts names;
    for (const BrokerAddress& address : addresses)
      names.push_back(address.endpoint + (address.key.empty() ? "" : " " + address.key));
    return names;
  }

  TimePoint now_;
  std::optional<BrokerDirectory> directory_;
  BrokerDirectory::Change change_;
};

TEST_F(Directory, EndpointsAreThereAtOnceAndNothingIsEverDue) {
  Open({"ipc:///a", "tcp://10.0.0.7:1", "ipc:///a"});
  EXPECT_TRUE(directory_->fixed());
  EXPECT_TRUE(directory_->complete());
  EXPECT_EQ(Added(), (Texts{"ipc:///a", "tcp://10.0.0.7:1"}));
  EXPECT_EQ(directory_->NextDue(), TimePoint::max());
  EXPECT_TRUE(directory_->TakeChange().empty());
}

TEST_F(Directory, ANameIsAllItsAddressesAndIsResolvedAgain) {
  Open({"tcp://b:7"});
  EXPECT_FALSE(directory_->complete());
  EXPECT_EQ(Due(), Texts{"b"});
  EXPECT_EQ(Due(), Texts{});  // under way
  Resolve("b", {"fd00::1", "10.0.0.1"});
  EXPECT_TRUE(directory_->complete());
  EXPECT_EQ(Added(), (Texts{"tcp://10.0.0.1:7", "tcp://[fd00::1]:7"}));
  now_ += Millis(29'999);
  EXPECT_EQ(Due(), Texts{});
  now_ += Millis(1);
  EXPECT_EQ(Due(), Texts{"b"});
  Resolve("b", {"10.0.0.2", "fd00::1"});
  EXPECT_EQ(Added(), Texts{"tcp://10.0.0.2:7"});
  EXPECT_EQ(Removed(), Texts{"tcp://10.0.0.1:7"});
}

TEST_F(Directory, AResolverThatFailsTakesNothingAwayAndIsAskedAgainLessAndLessOften) {
  Open({"tcp://b:7"});
  Due();
  Resolve("b", {"10.0.0.1"});
  Added();
  now_ += Millis(30'000);
  for (const int seconds : {1, 2, 4, 8, 16, 30, 30}) {
    EXPECT_EQ(Due(), Texts{"b"});
    FailToResolve("b");
    EXPECT_EQ(directory_->NextDue(), now_ + Millis(seconds * 1'000));
    now_ = directory_->NextDue();
  }
  EXPECT_TRUE(directory_->TakeChange().empty());
  EXPECT_EQ(directory_->TakeFaults(), Texts{"b: no answer"});  // once
  Due();
  Resolve("b", {});
  EXPECT_EQ(directory_->TakeFaults(), Texts{"b: has no address"});
  EXPECT_TRUE(directory_->TakeChange().empty());
}

TEST_F(Directory, AFileIsReadAgainAndItsNamesAreResolved) {
  Open({"file:/f " + kKey});
  EXPECT_EQ(Due(), Texts{"/f"});
  directory_->OnFile("/f", std::string("ipc:///a\ntcp://b:7\n"), now_);
  EXPECT_FALSE(directory_->complete());
  EXPECT_EQ(Added(), Texts{"ipc:///a " + kKey});
  EXPECT_EQ(Due(), Texts{"b"});
  Resolve("b", {"10.0.0.1"});
  EXPECT_EQ(Added(), Texts{"tcp://10.0.0.1:7 " + kKey});
  now_ += Millis(1'000);
  EXPECT_EQ(Due(), Texts{"/f"});
  directory_->OnFile("/f", std::string("tcp://b:7\n"), now_);
  EXPECT_EQ(Added(), Texts{});
  EXPECT_EQ(Removed(), Texts{"ipc:///a " + kKey});
  now_ += Millis(1'000);
  Due();
  directory_->OnFile("/f", std::string("ipc:///c\n"), now_);
  EXPECT_EQ(Added(), Texts{"ipc:///c " + kKey});
  EXPECT_EQ(Removed(), Texts{"tcp://10.0.0.1:7 " + kKey});
  now_ += Millis(60'000);
  EXPECT_EQ(Due(), Texts{"/f"});  // and b no more
}

TEST_F(Directory, AFileThatIsGoneWrongOrEmptyTakesNothingAway) {
  Open({"file:/f"});
  Due();
  directory_->OnFile("/f", std::string("ipc:///a"), now_);
  Added();
  for (const char* text : {"", "# none\n", "nonsense"}) {
    now_ += Millis(1'000);
    Due();
    directory_->OnFile("/f", std::string(text), now_);
    EXPECT_TRUE(directory_->TakeChange().empty());
  }
  now_ += Millis(1'000);
  Due();
  directory_->OnFile("/f", Fail(ErrorKind::kUnavailable, "cannot be read"), now_);
  EXPECT_TRUE(directory_->TakeChange().empty());
  EXPECT_EQ(directory_->TakeFaults().size(), 3u);
}

TEST_F(Directory, AnotherKeyMakesAnotherBroker) {
  Open({"file:/f"});
  Due();
  directory_->OnFile("/f", std::string("ipc:///a\n"), now_);
  Added();
  now_ += Millis(1'000);
  Due();
  directory_->OnFile("/f", std::string("ipc:///a " + kKey + "\n"), now_);
  EXPECT_EQ(Added(), Texts{"ipc:///a " + kKey});
  EXPECT_EQ(Removed(), Texts{"ipc:///a"});
}

TEST_F(Directory, MoreThanSixtyFourBrokersAreLeftOutAndThatIsSaid) {
  Open({"tcp://b:7"});
  Texts many;
  for (int i = 100; i < 164; ++i) many.push_back("10.0.0." + std::to_string(i));
  Due();
  Resolve("b", many);
  EXPECT_EQ(Added().size(), 64u);
  EXPECT_TRUE(directory_->TakeFaults().empty());
  many.push_back("10.0.0.200");
  now_ += Millis(30'000);
  Due();
  Resolve("b", many);
  EXPECT_TRUE(Added().empty());
  EXPECT_EQ(directory_->TakeFaults(), Texts{"more than 64 brokers; 1 are left out"});
  EXPECT_TRUE(ParseBrokerPlaces(Texts(64, "ipc:///a")));
  EXPECT_FALSE(ParseBrokerPlaces(Texts(65, "ipc:///a")));
}

}  // namespace
}  // namespace skerry
