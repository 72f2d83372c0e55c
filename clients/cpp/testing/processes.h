// Broker and fake workers as processes, for tests of what crosses sockets.
//
// Ownership: ends its processes and removes its folder. Threads: the test's main thread.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "clients/cli/child_process.h"
#include "clients/cpp/testing/test_folder.h"

namespace skerry::testing {

class Processes {
 public:
  std::string clients() const { return "ipc://" + folder_ / "c"; }
  std::string workers() const { return "ipc://" + folder_ / "w"; }

  void StartBroker(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"--clients", clients(),     "--workers",
                                          workers(),   "--log-level", "off"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    broker_ = Started(SKERRY_BIN_DIR "/skerry-broker", arguments);
  }
  void KillBroker() { broker_.reset(); }  // SIGKILL
  void SignalBroker(int signal) const {
    if (broker_) ::kill(broker_->pid(), signal);
  }
  void StartWorker(int slots) {
    worker_ = Started(SKERRY_BIN_DIR "/skerry-fake-worker",
                      {"--broker", workers(), "--isolates", std::to_string(slots)});
  }
  void KillWorker() { worker_.reset(); }

 private:
  static std::optional<cli::ChildProcess> Started(const std::string& program,
                                                  const std::vector<std::string>& arguments) {
    auto child = cli::ChildProcess::Start(program, arguments);
    if (!child) {
      ADD_FAILURE() << child.error().message;
      return std::nullopt;
    }
    return std::move(*child);
  }

  TestFolder folder_;
  std::optional<cli::ChildProcess> broker_;
  std::optional<cli::ChildProcess> worker_;
};

}  // namespace skerry::testing
