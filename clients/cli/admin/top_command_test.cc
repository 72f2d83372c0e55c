// `skerry top` as a process, beside a broker that comes and goes.
#include "clients/cli/testing/command.h"
#include "clients/cpp/testing/processes.h"

namespace skerry::cli {
namespace {

class Top : public testing::Command {
 protected:
  /// The last object that it has printed in full.
  testing::json Last() {
    const std::string text = Text("stdout");
    const std::size_t end = text.rfind('\n');
    if (end == std::string::npos || end == 0) return {};
    const std::size_t begin = text.rfind('\n', end - 1) + 1;
    return testing::json::parse(text.substr(begin, end - begin), nullptr, false);
  }
  bool BrokersAway(std::size_t count) {
    return Eventually([&] {
      const auto last = Last();
      return last.is_object() && last.at("away").size() == count && last.at("brokers").size() == 1 - count;
    });
  }
  const std::string admin_ = "ipc://" + folder_ / "admin";
  testing::Processes pool_;
};

TEST_F(Top, WaitsForTheOnlyBrokerToComeBackAndSaysBySignalThatOneEndedIt) {
  pool_.StartBroker({"--admin", admin_});
  ASSERT_TRUE(Eventually([&] { return Run({"top", "--once", "--admin", admin_}) == 0; })) << Text("stderr");
  const pid_t top = Start({"top", "--json", "--admin", admin_});
  EXPECT_TRUE(BrokersAway(0)) << Text("stdout");
  pool_.KillBroker();
  EXPECT_TRUE(BrokersAway(1)) << Text("stdout");
  EXPECT_EQ(Last().at("away").at(0).at("broker"), admin_);
  pool_.StartBroker({"--admin", admin_});
  EXPECT_TRUE(BrokersAway(0)) << Text("stdout");
  kill(top, SIGINT);
  EXPECT_EQ(Wait(top), 130);
}

TEST_F(Top, EndsAtOnceWhereNobodyAnswersAtItsFirstLook) {
  EXPECT_EQ(Run({"top", "--json", "--admin", admin_}), 69);
  EXPECT_EQ(Text("stdout"), "");
}

}  // namespace
}  // namespace skerry::cli
