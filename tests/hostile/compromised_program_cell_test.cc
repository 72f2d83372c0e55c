// Program cells whose program has taken them over (skerry-compromised-cell): what isolates attempt, attempted
// by the cell itself, and what only a cell can try: to clone more than it was asked to, and to lie on its
// control socket. Here the test is the worker.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <variant>

#include "common/testing/proc_fs.h"
#include "common/wire/codec.h"
#include "common/wire/stream.h"
#include "tests/hostile/compromised/ends.h"
#include "tests/support/places.h"
#include "worker/cell/cell_process.h"
#include "worker/cell/forbidden_calls.h"

namespace skerry::testing {
namespace {

using cell::CellProcess;
using cell::IsolateProcess;
using compromised::kKilled;
using compromised::Row;

constexpr int kPatienceMs = 5'000;

std::string HowItDied(const CellProcess& cell) {
  pollfd ended{cell.pidfd(), POLLIN, 0};
  siginfo_t info{};
  if (poll(&ended, 1, kPatienceMs) != 1 ||
      waitid(P_PIDFD, static_cast<id_t>(cell.pidfd()), &info, WEXITED | WNOWAIT) != 0)
    return "it lives on";
  return info.si_code == CLD_EXITED ? "exited" : info.si_status == SIGSYS ? kKilled : "another signal";
}

class CompromisedProgramCell : public ::testing::Test {
 protected:
  void SetUp() override {
    cell::CellOptions options;
    options.program = Binary("skerry-compromised-cell");
    auto base = CellProcess::Start(options);
    ASSERT_TRUE(base) << base.error().message;
    base_ = std::move(*base);
    listener_ = base_->TakeForbiddenCalls();
    if (!CanHoldPrograms(base_->sandbox())) GTEST_SKIP() << "this machine's sandbox keeps no programs";
  }

  std::unique_ptr<CellProcess> Make(const std::string& code) {
    cell::CellRecipe recipe;
    recipe.program.emplace();
    recipe.program->code = code;
    EXPECT_TRUE(base_->RequestCell(recipe));
    pollfd ready{base_->control_fd(), POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, kPatienceMs), 1);
    auto forked = base_->OnReadable();
    EXPECT_TRUE(forked && *forked);
    if (!forked || !*forked) return nullptr;
    auto made = std::move(std::get<std::unique_ptr<CellProcess>>(**forked));
    EXPECT_TRUE(made->SendRecipe());
    return made;
  }

  /// What comes of a cell until it gives an isolate, makes a forbidden call, is in error, or says nothing
  /// more: "isolate", "killed CALL" (or "killed clone unasked"), the error, "silence". Lets it fork as often
  /// as it was asked to.
  std::string Next(CellProcess& cell, int patience_ms = kPatienceMs) {
    for (;;) {
      pollfd fds[] = {{cell.control_fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      if (poll(fds, 2, patience_ms) <= 0) return "silence";
      if ((fds[1].revents & POLLIN) != 0) {
        const auto call = cell::NextForbiddenCall(listener_.get());
        if (!call) continue;
        EXPECT_EQ(call->pid, cell.pid());
        if (!call->is_fork) return "killed " + call->name;
        if (!cell.TakeForkPermit()) return "killed " + call->name + " unasked";
        cell::LetFork(listener_.get(), *call);
        continue;
      }
      const bool was_ready = cell.is_ready();
      auto forked = cell.OnReadable();
      if (!forked) return forked.error().message;
      if (*forked) {
        isolates_.push_back(std::move(std::get<IsolateProcess>(**forked)));
        return "isolate";
      }
      if (!was_ready && cell.is_ready()) return "ready";
    }
  }

  /// How an attempt ends that the cell itself makes.
  std::string EndOf(const std::string& attempt) {
    auto cell = Make(attempt);
    if (!cell) return "no cell";
    const std::string next = Next(*cell);
    if (next.starts_with("killed")) return next;
    if (next != "ready") return HowItDied(*cell);
    EXPECT_TRUE(cell->RequestFork());
    if (const std::string forked = Next(*cell); forked != "isolate") return forked;
    wire::Dispatch dispatch;
    const std::string job = wire::StreamBytes(dispatch, {"of-the-cell", ""});
    EXPECT_EQ(write(isolates_.back().socket.get(), job.data(), job.size()), static_cast<ssize_t>(job.size()));
    return ReadValue(isolates_.back());
  }
  static std::string ReadValue(const IsolateProcess& isolate) {
    wire::FrameReader reader(1u << 20);
    char bytes[4096];
    pollfd ready{isolate.socket.get(), POLLIN, 0};
    while (poll(&ready, 1, kPatienceMs) == 1) {
      const ssize_t got = read(isolate.socket.get(), bytes, sizeof bytes);
      if (got <= 0) break;
      reader.Append({bytes, static_cast<std::size_t>(got)});
      const auto frame = reader.Next();
      if (!frame || !*frame || (*frame)->payloads.empty()) continue;
      const std::string& json = (*frame)->payloads[0];
      return json.size() < 2 ? json : json.substr(1, json.size() - 2);
    }
    return "no value";
  }

  void ReapIsolates() {
    for (const IsolateProcess& isolate : isolates_) {
      EXPECT_GT(isolate.pid, 0);
      kill(isolate.pid, SIGKILL);
      siginfo_t info{};
      EXPECT_EQ(waitid(P_PIDFD, static_cast<id_t>(isolate.pidfd.get()), &info, WEXITED), 0);
    }
    isolates_.clear();
  }
  /// The base cell forks on, and once it is gone nothing of any is left.
  void TearDown() override {
    if (!base_ || IsSkipped()) return;
    EXPECT_TRUE(base_->RequestFork());
    EXPECT_EQ(Next(*base_), "isolate");
    ReapIsolates();
    base_.reset();
    siginfo_t info{};
    EXPECT_LT(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), 0) << "a child is left: " << info.si_pid;
    EXPECT_EQ(errno, ECHILD);
  }

  std::unique_ptr<CellProcess> base_;
  Fd listener_;
  std::vector<IsolateProcess> isolates_;
};

TEST_F(CompromisedProgramCell, GetsNoFurtherThanAnIsolate) {
  // Its control socket it must have; the calls around its forks are narrowed by a filter that kills.
  const std::map<std::string, std::string> others = {
      {"recvmsg", "allowed"}, {"new-filter", "killed seccomp"}, {"outlive-the-worker", kKilled}};
  std::vector<Row> rows(std::begin(compromised::kRows), std::end(compromised::kRows));
  rows.push_back({"descriptors", "EBADF", ""});
  rows.push_back({"environment", "empty", ""});
  for (const Row& row : rows) {
    const auto other = others.find(row.probe);
    if (std::string(row.probe) == "sendmsg") continue;  // an empty packet looks like its end: see the tricks
    EXPECT_EQ(EndOf(row.probe), other == others.end() ? row.strict : other->second) << row.probe;
  }
  ReapIsolates();
}

TEST_F(CompromisedProgramCell, ItsIsolatesGetNoFurtherThanOthers) {
  auto cell = Make("dup");
  ASSERT_TRUE(cell);
  EXPECT_EQ(Next(*cell), "killed dup");
  cell = Make("environment");
  ASSERT_TRUE(cell);
  ASSERT_EQ(Next(*cell), "ready");
  for (const char* probe :
       {"fork-as-the-cell", "vfork", "sendmsg", "recvmsg", "new-filter", "tgkill-sibling"}) {
    ASSERT_TRUE(cell->RequestFork());
    ASSERT_EQ(Next(*cell), "isolate");
    wire::Dispatch dispatch;
    const std::string job = wire::StreamBytes(dispatch, {probe, ""});
    EXPECT_EQ(write(isolates_.back().socket.get(), job.data(), job.size()), static_cast<ssize_t>(job.size()));
    siginfo_t info{};
    EXPECT_EQ(waitid(P_PIDFD, static_cast<id_t>(isolates_.back().pidfd.get()), &info, WEXITED), 0);
    EXPECT_EQ(info.si_status, SIGSYS) << probe;
    isolates_.pop_back();
  }
}

TEST_F(CompromisedProgramCell, CannotCloneUnlessItIsLet) {
  for (const char* trick : {"clone-as-the-base-cell", "clone-with-high-bits", "clone-a-thread"}) {
    auto cell = Make(trick);
    ASSERT_TRUE(cell);
    EXPECT_TRUE(Next(*cell).starts_with("the cell ended before it was ready")) << trick;
    EXPECT_EQ(HowItDied(*cell), kKilled) << trick;
  }
  auto cell = Make("clone-unasked");
  ASSERT_TRUE(cell);
  const std::string first = Next(*cell);  // both wait by now, perhaps
  EXPECT_EQ(first == "ready" ? Next(*cell) : first, "killed clone unasked");
}

TEST_F(CompromisedProgramCell, ThatWasAskedForOneForkCannotMakeTwo) {
  auto cell = Make("clone-twice");
  ASSERT_TRUE(cell);
  ASSERT_EQ(Next(*cell), "ready");
  ASSERT_TRUE(cell->RequestFork());
  // Its second attempt may be heard of before its first fork is.
  const std::set<std::string> heard = {Next(*cell), Next(*cell)};
  EXPECT_EQ(heard, (std::set<std::string>{"isolate", "killed clone unasked"}));
  cell.reset();
  EXPECT_EQ(kill(isolates_.back().pid, 0), 0) << "an isolate that was told of lives on";
  ReapIsolates();
}

TEST_F(CompromisedProgramCell, WhatItClonedAndNeverToldOfEndsWithIt) {
  auto cell = Make("clone-and-never-tell");
  ASSERT_TRUE(cell);
  ASSERT_EQ(Next(*cell), "ready");
  const std::size_t before = ChildrenOf(getpid()).size();
  ASSERT_TRUE(cell->RequestFork());
  EXPECT_EQ(Next(*cell, 300), "silence");
  EXPECT_EQ(ChildrenOf(getpid()).size(), before + 1);
  cell.reset();
  EXPECT_EQ(ChildrenOf(getpid()).size(), before - 1);
}

TEST_F(CompromisedProgramCell, ItsLiesEndItAlone) {
  const std::map<std::string, std::string> tricks = {
      {"tell-of-no-process", "the cell sent what is no new isolate"},
      {"tell-of-nothing", "the cell sent what nobody asked for"},
      {"tell-unasked", "the cell sent what nobody asked for"},
      {"ready-twice", "the cell sent what nobody asked for"},
      {"flood", "the cell sent what is no new isolate"},
  };
  for (const auto& [trick, end] : tricks) {
    auto cell = Make(trick);
    ASSERT_TRUE(cell);
    ASSERT_EQ(Next(*cell), "ready") << trick;
    const bool waits_for_a_request = trick.starts_with("tell-of") || trick == "flood";
    ASSERT_TRUE(!waits_for_a_request || cell->RequestFork());
    EXPECT_EQ(Next(*cell), end) << trick;
  }
}

TEST_F(CompromisedProgramCell, ItsLiesBeforeItIsReadyEndItAlone) {
  const std::string unasked = "the cell sent what nobody asked for before it was ready";
  const std::map<std::string, std::string> tricks = {
      {"tell-before-ready", unasked},
      {"ready-with-a-descriptor", unasked},
      {"many-descriptors", unasked},
      {"garbage", "reading from the cell: Protocol error"},
      {"close-its-socket", "the cell ended before it was ready"},
      {"refuse-in-its-own-words", "the program cannot be kept evaluated: no reason that is known"},
      {"leave-its-group", "killed setpgid"},
  };
  const std::size_t descriptors = DescriptorsOf(getpid());
  for (const auto& [trick, end] : tricks) {
    auto cell = Make(trick);
    ASSERT_TRUE(cell);
    EXPECT_EQ(Next(*cell), end) << trick;
  }
  EXPECT_EQ(DescriptorsOf(getpid()), descriptors);
}

TEST_F(CompromisedProgramCell, CannotTellOfOneIsolateTwice) {
  auto cell = Make("tell-of-the-same-twice");
  ASSERT_TRUE(cell);
  ASSERT_EQ(Next(*cell), "ready");
  ASSERT_TRUE(cell->RequestFork());
  ASSERT_EQ(Next(*cell), "isolate");
  ASSERT_TRUE(cell->RequestFork());
  EXPECT_EQ(Next(*cell), "the cell sent what is no new isolate");
  ReapIsolates();
}

TEST_F(CompromisedProgramCell, DiesOfWhatOnlyACellsFilterLooksAt) {
  for (const char* trick : {"another-socket", "move-a-descriptor", "kill-a-sibling"}) {
    auto cell = Make(trick);
    ASSERT_TRUE(cell);
    EXPECT_TRUE(Next(*cell).starts_with("the cell ended before it was ready")) << trick;
    EXPECT_EQ(HowItDied(*cell), kKilled) << trick;
  }
}

TEST_F(CompromisedProgramCell, ThatSaysNothingIsTheWorkersToEnd) {
  auto cell = Make("nothing");
  ASSERT_TRUE(cell);
  EXPECT_EQ(Next(*cell, 100), "silence");
  const pid_t pid = cell->pid();
  cell.reset();
  EXPECT_TRUE(IsGoneWithin(pid, Millis(2000)));
}

}  // namespace
}  // namespace skerry::testing
