// Clients and workers around a BrokerCore, honest and lying, on links that break: what random histories are
// played in. Keeps its own books from what the peers see, and states what must hold after every step.
//
// Programs are few, so that code is often left out; workers forget code now and then, as they may, and have
// libraries or not.
//
// Honest peers do what schemas/wire.md asks of them: they answer PINGs, drop what they have seen, submit
// again and send again what a broken link may have lost. A broken link loses all that is on it, both ways.
//
// Threads: the test's. Errors: a broken promise throws std::runtime_error with what was broken.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "broker/broker_core.h"

namespace skerry::broker::testing {

enum class Act : std::uint8_t {
  kPass,
  kSubmit,
  kCancel,
  kRead,
  kBreakClient,
  kAckNothing,
  kDeliver,
  kFinish,
  kEvent,
  kCall,
  kForgetCode,
  kCredit,
  kDrain,
  kBreakWorker,
  kKillWorker,
  kLie,
  kGarbage,
  kSilence,
};
inline constexpr int kActCount = 18;

struct Step {
  Act act = Act::kPass;
  unsigned who = 0;   ///< which client or worker
  unsigned what = 0;  ///< a choice, whatever the act makes of it
};
std::ostream& operator<<(std::ostream& out, const Step& step);

class World {
 public:
  static constexpr unsigned kPeers = 3;  // of each kind

  World();
  void Play(const Step& step);
  /// All come back, read, finish and acknowledge: nothing may be left.
  void Settle();

 private:
  struct Client {
    SessionId session;
    std::string link;
    bool linked = false;
    bool acknowledges = true;
    std::uint64_t epoch = 0;
    std::uint64_t read = 0;  // of the numbers since the WELCOME, the last
    std::uint64_t seen = 0;
    std::deque<Send> inbox;
    std::vector<std::string> to_ack;
    std::map<std::string, JobSpec> unfinished;
    std::set<std::string> submitted;
    std::set<std::string> sent_code;  // on this link
    std::map<std::string, int> finals;
  };
  struct Held {
    std::uint32_t attempt = 1;
    std::uint32_t calls = 0;
    std::string payload;  // names its session and id
    std::uint64_t memory_mb = 0;
  };
  struct Sent {
    wire::Header header;
    std::vector<Payload> payloads;
    std::uint64_t ping = 0;  // the next PING's number
  };
  struct Worker {
    SessionId session;
    std::string link;
    bool welcomed = false;
    std::uint64_t slots = 3;
    std::uint64_t memory_mb = 1024;
    std::vector<std::string> libraries;
    std::set<std::string> code;  // by its hash
    std::uint64_t seq = 0;
    std::uint64_t pings = 0;
    std::map<std::uint64_t, Held> held;
    std::deque<Send> inbox;
    std::deque<Sent> out;          // on its way
    std::deque<Sent> unconfirmed;  // may be lost yet
  };

  static BrokerConfig Config();
  static void Demand(bool holds, const std::string& promise);
  void PlayClient(Client& client, const Step& step);
  void PlayWorker(Worker& worker, const Step& step);
  void Pass(Millis time, bool talking);

  // Clients.
  void HelloFrom(Client& client);
  void Submit(Client& client, const Step& step);
  enum class SendCode : bool { kIfNew, kAlways };
  void SayJob(Client& client, const JobSpec& spec, SendCode code);
  void Read(Client& client);
  void Take(Client& client, Send& send);
  void Say(Client& client, wire::Header header, std::vector<Payload> payloads = {});

  // Workers.
  void StartWorker(Worker& worker);
  void HelloFrom(Worker& worker);
  void Take(Worker& worker, const Send& send);
  void TakeDispatch(Worker& worker, const wire::Dispatch& dispatch, const std::vector<Payload>& payloads);
  void OnWelcome(Worker& worker, const wire::Welcome& welcome);
  void Tell(Worker& worker, wire::Header header, std::vector<Payload> payloads);
  void Deliver(Worker& worker);
  void End(Worker& worker, std::uint64_t lease, unsigned how);
  void Lie(Worker& worker, unsigned how);

  void Collect();
  void Route(Send send);
  void Check() const;
  std::string NewLink(const std::string& of) { return of + "/" + std::to_string(next_link_++); }

  const BrokerConfig config_;
  TimePoint now_;
  BrokerCore core_;  // after what it is made of
  std::array<Client, kPeers> clients_;
  std::array<Worker, kPeers> workers_;
  std::set<Peer> dead_links_;     // broken, and the broker does not know
  std::set<Peer> silent_links_;   // it must send nothing more on these
  std::set<Peer> refused_links_;  // cut off
  int next_link_ = 0;
  int next_id_ = 0;
  int next_worker_ = 0;
};

}  // namespace skerry::broker::testing
