// That the network of these tests does what it says: else what is shown on it would be worth nothing.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "tests/netns/namespaces.h"
#include "tests/support/child.h"
#include "tests/support/places.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

class NetworkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = Network::Missing()) GTEST_SKIP() << *why;
    network_ = std::make_unique<Network>(std::vector<std::string>{"here", "there"});
    for (const char* node : {"here", "there"}) {
      const Network::Visit visit(*network_, node);
      Fd& fd = std::strcmp(node, "here") == 0 ? here_ : there_;
      fd = Fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      const sockaddr_in address = AddressOf(node);
      ASSERT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    }
  }
  sockaddr_in AddressOf(const std::string& node) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(7);
    inet_pton(AF_INET, network_->AddressOf(node).c_str(), &address.sin_addr);
    return address;
  }
  /// Datagrams sent from here that come there within the patience, and how long the first took.
  int Send(int count, milliseconds patience, milliseconds* took = nullptr) {
    const sockaddr_in to = AddressOf("there");
    const auto begin = steady_clock::now();
    for (int i = 0; i < count; ++i)
      (void)sendto(here_.get(), "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof(to));
    int came = 0;
    while (came < count) {
      const auto left = std::chrono::ceil<milliseconds>(begin + patience - steady_clock::now());
      pollfd ready{there_.get(), POLLIN, 0};
      if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) break;
      char byte = 0;
      if (recv(there_.get(), &byte, 1, 0) == 1 && came++ == 0 && took != nullptr)
        *took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
    }
    return came;
  }
  /// Until the neighbours know each other, and whatever was under way has come.
  bool Pass() {
    for (int i = 0; i < 50; ++i) {
      if (Send(1, milliseconds(200)) == 1) return true;
    }
    return false;
  }

  std::unique_ptr<Network> network_;
  Fd here_;
  Fd there_;
};

TEST_F(NetworkTest, PassesCutsSilencesAndHeals) {
  ASSERT_TRUE(Pass());
  EXPECT_EQ(Send(10, milliseconds(2'000)), 10);
  network_->Cut("there");
  EXPECT_EQ(Send(3, milliseconds(200)), 0);
  network_->Heal("there");
  EXPECT_TRUE(Pass());
  network_->Silence("here");
  EXPECT_EQ(Send(3, milliseconds(200)), 0);
  network_->Heal("here");
  EXPECT_TRUE(Pass());
}

TEST_F(NetworkTest, DelaysAndLosesWhatItIsToldTo) {
  ASSERT_TRUE(Pass());
  network_->Degrade("there", milliseconds(200), 0);
  ASSERT_TRUE(Pass() || Pass());
  std::this_thread::sleep_for(milliseconds(500));  // what the patience of Pass was too short for
  while (Send(0, milliseconds(0)) > 0) {
  }
  char byte = 0;
  while (recv(there_.get(), &byte, 1, MSG_DONTWAIT) == 1) {
  }
  milliseconds took{0};
  EXPECT_EQ(Send(20, milliseconds(5'000), &took), 20);
  EXPECT_GE(took.count(), 195);
  network_->Heal("there");
  network_->Degrade("here", milliseconds(0), 300);
  const int came = Send(300, milliseconds(1'000));
  EXPECT_GT(came, 100);
  EXPECT_LT(came, 290);
  network_->Heal("here");
  ASSERT_TRUE(Pass());
  EXPECT_EQ(Send(10, milliseconds(2'000)), 10);
}

TEST_F(NetworkTest, IsApartFromTheMachinesOwn) {
  const TempDir dir;
  const auto links = [&](const std::vector<std::string>& argv) {
    const auto out = dir / "links";
    std::filesystem::remove(out);
    Child child(argv, {.stdout_path = out});
    EXPECT_EQ(child.Wait(milliseconds(10'000)), 0);
    return ReadFile(out);
  };
  const std::vector<std::string> show = {"/usr/bin/env", "ip", "-o", "link"};
  const std::string inside = links(network_->Inside("here", show));
  EXPECT_EQ(std::count(inside.begin(), inside.end(), '\n'), 2) << "lo and eth0: " << inside;
  const std::string outside = links(show);
  EXPECT_EQ(outside.find("br0"), std::string::npos) << outside;
}

TEST_F(NetworkTest, WhatADeadTestLeftIsRemovedAndWhatALivingOneHasIsNot) {
  const pid_t pid = fork();
  if (pid == 0) {
    const Network left({"orphan"});
    _exit(0);  // without its destructor
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  const std::filesystem::path orphan = "/run/netns/skerry-" + std::to_string(pid) + "-orphan";
  ASSERT_TRUE(std::filesystem::exists(orphan));
  EXPECT_EQ(Network::RemoveStale(), 2) << "it and its hub";
  EXPECT_FALSE(std::filesystem::exists(orphan));
  EXPECT_TRUE(std::filesystem::exists("/run/netns/skerry-" + std::to_string(getpid()) + "-here"));
}

}  // namespace
}  // namespace skerry::testing
