#include "clients/cpp/host_call_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

namespace skerry::client {
namespace {

HostCall Call(std::uint32_t number, std::string method = "m") {
  return {JobId("j"), 1, number, std::move(method), "null"};
}

// What came of each call, in order; Await blocks until there are so many.
class Ends {
 public:
  HostCallPool::Hooks Hooks(std::function<bool(const HostCall&)> wanted = [](const HostCall&) {
    return true;
  }) {
    return {std::move(wanted), [this](const HostCall& call, HostReply reply) {
              const std::lock_guard lock(mutex_);
              ends_.emplace_back(call.call, std::move(reply));
              changed_.notify_all();
            }};
  }
  std::vector<std::pair<std::uint32_t, HostReply>> Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, Millis(5'000), [&] { return ends_.size() >= count; }));
    return ends_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::uint32_t, HostReply>> ends_;
};

HostReply Value(std::string text) {
  return {HostReply::Kind::kValue, std::move(text), Millis(0)};
}

TEST(HostCallPool, AHandlerThatBlocksHoldsUpItsOwnThreadOnly) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  const HostCallHandler handler = [&](const JobId&, std::string_view method, std::string_view) {
    if (method == "block") released.wait();
    return Value(std::string(method));
  };
  Ends ends;
  HostCallPool pool(2, handler, ends.Hooks());
  pool.Push(Call(1, "block"));
  pool.Push(Call(2));
  pool.Push(Call(3));
  const auto early = ends.Await(2);
  EXPECT_EQ(early[0].first, 2u);
  EXPECT_EQ(early[1].first, 3u);
  release.set_value();
  EXPECT_EQ(ends.Await(3)[2].first, 1u);
}

TEST(HostCallPool, CountsTheBytesOfCallsThatWait) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  const HostCallHandler handler = [&](const JobId&, std::string_view, std::string_view) {
    released.wait();
    return Value("1");
  };
  Ends ends;
  HostCallPool pool(1, handler, ends.Hooks());
  for (std::uint32_t i = 1; i <= 4; ++i) pool.Push(Call(i, std::string(1000, 'm')));
  EXPECT_GE(pool.waiting_bytes(), 3'000u);
  release.set_value();
  ends.Await(4);
  EXPECT_EQ(pool.waiting_bytes(), 0u);
}

TEST(HostCallPool, WhatAHandlerThrowsRejectsTheCall) {
  const HostCallHandler handler = [](const JobId&, std::string_view method, std::string_view) -> HostReply {
    if (method == "odd") throw 7;
    throw std::runtime_error("no database");
  };
  Ends ends;
  HostCallPool pool(1, handler, ends.Hooks());
  pool.Push(Call(1));
  pool.Push(Call(2, "odd"));
  const auto all = ends.Await(2);
  EXPECT_EQ(all[0].second.kind, HostReply::Kind::kError);
  EXPECT_EQ(all[0].second.text, "the host failed: no database");
  EXPECT_EQ(all[1].second.kind, HostReply::Kind::kError);
}

TEST(HostCallPool, ACallThatNobodyAwaitsAnyMoreIsNotRun) {
  int runs = 0;
  const HostCallHandler handler = [&](const JobId&, std::string_view, std::string_view) {
    ++runs;
    return Value("1");
  };
  Ends ends;
  HostCallPool pool(1, handler, ends.Hooks([](const HostCall& call) { return call.call == 2; }));
  pool.Push(Call(1));
  pool.Push(Call(2));
  const auto all = ends.Await(2);
  EXPECT_EQ(all[0].second.kind, HostReply::Kind::kNever);
  EXPECT_EQ(all[1].second.kind, HostReply::Kind::kValue);
  EXPECT_EQ(runs, 1);
}

TEST(HostCallPool, ItsEndWaitsForTheHandlerThatRunsAndForgetsTheCallsThatWait) {
  std::promise<void> begun;
  std::atomic<int> ended{0};
  const HostCallHandler handler = [&](const JobId&, std::string_view, std::string_view) {
    begun.set_value();
    std::this_thread::sleep_for(Millis(50));
    ++ended;
    return Value("1");
  };
  Ends ends;
  {
    HostCallPool pool(1, handler, ends.Hooks());
    pool.Push(Call(1));
    pool.Push(Call(2));
    begun.get_future().wait();
  }
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(ends.Await(1).size(), 1u);
}

TEST(HostCallPool, TakesNoCallOnceItIsStoppedAndStillTellsWhatWaits) {
  std::atomic<int> handled = 0;
  const HostCallHandler handler = [&](const JobId&, std::string_view, std::string_view) {
    ++handled;
    return Value("1");
  };
  Ends ends;
  HostCallPool pool(2, handler, ends.Hooks());
  pool.Stop();
  pool.Push(Call(1));
  EXPECT_EQ(pool.waiting_bytes(), 0u);
  EXPECT_EQ(handled, 0);
}

}  // namespace
}  // namespace skerry::client
