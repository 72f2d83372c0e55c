// A tenant that knows another's session, job ids and call numbers, and says all of it: it reaches nothing,
// and each job of the other has its one truthful end.
#include <atomic>
#include <map>
#include <thread>

#include "clients/cpp/client.h"
#include "tests/attack/attack.h"

namespace skerry::testing {
namespace {

using broker::RawPeer;

class ForgedIds : public Attack {
 protected:
  /// A client of the polite tenant under a session name that the thief knows. `asked` counts its host calls.
  std::unique_ptr<Client> Victim(std::atomic<int>& asked, const std::atomic<bool>& may_answer) {
    ClientOptions options = pool().ClientOf(kPolite);
    options.session = SessionId("nightly");
    options.on_call = [&](const JobId&, std::string_view, std::string_view) {
      ++asked;
      while (!may_answer) std::this_thread::sleep_for(Millis(2));
      return HostReply{HostReply::Kind::kValue, "\"true\""};
    };
    auto client = Client::Connect(options);
    EXPECT_TRUE(client) << client.error().message;
    return client ? std::move(*client) : nullptr;
  }
  static void Submit(Client& client, const std::string& id, const std::string& code) {
    JobRequest request;
    request.spec.id = JobId(id);
    request.spec.tenant = TenantId(kPolite);
    request.code = code;
    EXPECT_TRUE(client.Submit(request));
  }
  /// Every final until `count` of them have come, and none after that for a while.
  static std::map<std::string, std::vector<std::string>> Finals(Client& client, std::size_t count) {
    std::map<std::string, std::vector<std::string>> finals;
    std::size_t got = 0;
    for (const TimePoint end = SteadyClock::now() + Millis(30'000); SteadyClock::now() < end;) {
      const auto event = client.Next(Millis(got < count ? 1'000 : 300));
      if (!event && got >= count) break;
      if (const auto* final = event ? std::get_if<JobFinal>(&*event) : nullptr) {
        ++got;
        finals[final->id.str()].push_back(final->outcome.ok() ? final->outcome.value
                                                              : final->outcome.error->message);
      }
    }
    return finals;
  }
};

TEST_F(ForgedIds, CancelAcknowledgeAnswerAndResubmitNothingOfAnothers) {
  std::atomic<int> asked = 0;
  std::atomic<bool> may_answer = false;
  const auto victim = Victim(asked, may_answer);
  ASSERT_NE(victim, nullptr);
  Submit(*victim, "call", "return await dataProxy.request('who', {})");
  while (asked == 0) std::this_thread::sleep_for(Millis(2));
  RawPeer thief = GreetedClient(kEvil, "nightly");
  RawPeer by_name = GreetedClient(kEvil, std::string(kPolite) + "/nightly");
  for (RawPeer* peer : {&thief, &by_name}) {
    for (std::uint32_t number = 0; number < 4; ++number)
      peer->Put(wire::Answer{JobId("call"), LeaseId(), number, 1}, {"\"forged\""});
    peer->Put(wire::Cancel{JobId("call"), LeaseId()});
    peer->Put(wire::Ack{{"call"}});
    peer->Put(JobOf(kEvil, "call"), {"return 'a job of its own'", "null"});
    const auto own = peer->Await<wire::Final>();
    ASSERT_TRUE(own);
    EXPECT_EQ(peer->payloads.at(0), "\"a job of its own\"");
    peer->Put(JobOf(kPolite, "theirs"), {"return 1", "null"});
    const auto refused = peer->Await<wire::Final>();
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code, Code::kUnauthorized);
  }
  may_answer = true;
  const auto finals = Finals(*victim, 1);
  ASSERT_EQ(finals.size(), 1u);
  EXPECT_EQ(finals.at("call"), std::vector<std::string>{"\"true\""});
  EXPECT_EQ(asked, 1);
}

TEST_F(ForgedIds, OfAQueuedJobCancelNothing) {
  std::atomic<int> asked = 0;
  std::atomic<bool> may_answer = false;
  const auto victim = Victim(asked, may_answer);
  ASSERT_NE(victim, nullptr);
  for (int i = 0; i < 8; ++i)
    Submit(*victim, "q" + std::to_string(i), "return await dataProxy.request('w', 1)");
  while (asked < 2) std::this_thread::sleep_for(Millis(2));
  RawPeer thief = GreetedClient(kEvil, "nightly");
  for (int i = 0; i < 8; ++i) thief.Put(wire::Cancel{JobId("q" + std::to_string(i)), LeaseId()});
  thief.Put(wire::Bye{});
  may_answer = true;
  const auto finals = Finals(*victim, 8);
  ASSERT_EQ(finals.size(), 8u);
  for (const auto& [id, ends] : finals) EXPECT_EQ(ends, std::vector<std::string>{"\"true\""}) << id;
}

TEST_F(ForgedIds, OfRoutingTakeNobodysPlace) {
  RawPeer victim(context_, pool().clients_url(), pool().KeyOf(kPolite), "the victim's");
  wire::Hello hello;
  hello.session = SessionId("s");
  victim.Put(hello);
  ASSERT_TRUE(victim.Await<wire::Welcome>());
  RawPeer forger(context_, pool().clients_url(), pool().KeyOf(kEvil), "the victim's");
  forger.Put(hello);
  forger.Put(wire::Bye{});
  EXPECT_TRUE(forger.HearsNothing(Millis(500))) << "libzmq serves the first of a name";
  victim.Put(JobOf(kPolite, "mine"), {"return 7", "null"});
  ASSERT_TRUE(victim.Await<wire::Final>());
  EXPECT_EQ(victim.payloads.at(0), "7");
}

}  // namespace
}  // namespace skerry::testing
