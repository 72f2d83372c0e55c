// Keys change while jobs run: a tenant moves to its next key, and nobody else notices.
#include "tests/attack/attack.h"

namespace skerry::testing {
namespace {

class Rotation : public Attack {};

TEST_F(Rotation, OfATenantsKeyLosesNoJobOfItsOwnAndNoneOfAnothers) {
  const MetricsPage before = pool().Page();
  const keys::LinkKeys old_key = pool().KeyOf(kEvil);
  const Job job = Job("", "return 7").Tenant(kEvil);
  EXPECT_TRUE(IsOk(pool().RunWith(old_key, {job.As("old")}).At("old"), 7));

  // Both are listed while clients move over.
  const keys::LinkKeys new_key = pool().keys().Add(keys::Role::kClient, kEvil);
  pool().Reload();
  EXPECT_TRUE(IsOk(pool().RunWith(old_key, {job.As("still")}).At("still"), 7));
  EXPECT_TRUE(IsOk(pool().RunWith(new_key, {job.As("new")}).At("new"), 7));

  // One that is under way by the new key when the old one goes.
  Load moved(pool().ClientWith(new_key), {.window = 4, .every = Millis(20)}, Endless("m", job));
  while (moved.finished() < 5) std::this_thread::sleep_for(Millis(5));
  pool().keys().Drop(old_key);
  pool().Reload();
  const std::size_t then = moved.finished();
  while (moved.finished() < then + 20) std::this_thread::sleep_for(Millis(5));
  moved.Stop();
  for (const auto& [id, finished] : moved.Join()) EXPECT_TRUE(IsOk(finished.result, 7)) << id;

  RunOptions options;
  options.broker = pool().clients_url();
  options.args = pool().keys().FlagsOf(old_key);
  EXPECT_EQ(RunLines(job.As("late").Line() + "\n", options).exit_code, 69);
  EXPECT_TRUE(IsRefused(before, "unknown_key"));
  EXPECT_TRUE(PoliteGoesOn());
}

TEST_F(Rotation, OfTheWorkersKeyLosesNoJob) {
  const keys::LinkKeys second = pool().keys().Add(keys::Role::kWorker, "second");
  pool().Reload();
  const auto flags = pool().keys().FlagsOf(second);
  std::vector<std::string> argv = {Binary("skerry-worker"), "--broker", pool().workers_url(), "--isolates",
                                   "2"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  Child other(argv);
  ASSERT_EQ(pool()
                .Await([](const MetricsPage& page) { return page.Value("skerry_workers_accepting") == 2; })
                .Value("skerry_workers_accepting"),
            2);
  pool().keys().Revoke(pool().WorkersKey());
  pool().Reload();
  EXPECT_EQ(pool()
                .Await([](const MetricsPage& page) { return page.Value("skerry_workers") == 1; })
                .Value("skerry_workers"),
            1);
  EXPECT_TRUE(PoliteGoesOn(50)) << "what the first one had runs on the second";
  PoliteGotAll();  // while `other` is there
}

}  // namespace
}  // namespace skerry::testing
