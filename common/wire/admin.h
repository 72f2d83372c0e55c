// What operators' tools and a broker say to each other on its admin socket; schemas/admin.md is the prose.
//
// One ASK, one TOLD or DENIED: nothing is kept of who asks. Answers are pages: a TOLD's payload is at most
// kMaxAdminRows rows, one map after another, each of the struct that the question is about, and `next` is
// where the next page begins. These messages never travel on the sockets of clients and workers, nor theirs
// here.
//
// Threads: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/wire/messages.h"

namespace skerry::wire {

/// The version of these tables, apart from the wire's own.
inline constexpr std::uint32_t kAdminVersion = 1;
inline constexpr std::uint32_t kOldestAdminVersion = 1;
/// Rows of one page, which costs the broker some hundred microseconds.
inline constexpr std::uint64_t kMaxAdminRows = 256;

namespace question {
inline constexpr std::string_view kBroker = "broker";    ///< one BrokerRow
inline constexpr std::string_view kWorkers = "workers";  ///< WorkerRows by id
inline constexpr std::string_view kTenants = "tenants";  ///< TenantRows by name
inline constexpr std::string_view kDrain = "drain";      ///< the WorkerRow of `id`, which gets no more jobs
inline constexpr std::string_view kUndrain = "undrain";  ///< the WorkerRow of `id`, which gets jobs again
}  // namespace question

/// Tool to broker.
struct Ask {
  static constexpr std::string_view kType = "ask";
  std::uint32_t version = kAdminVersion;  ///< newest version spoken
  std::uint32_t oldest_version = kOldestAdminVersion;
  std::uint64_t number = 0;  ///< the answer's
  std::string what;          ///< text, so that one that is not known here is told from a broken message
  std::string id;            ///< of one worker, or the name of one tenant: that row alone; empty: all
  std::string after;         ///< the page begins behind this id or name
  std::uint64_t rows = 0;    ///< at most so many; 0: kMaxAdminRows

  template <class V>
  void Visit(V& v) {
    v.Required("v", version);
    v.Optional("vOldest", oldest_version);
    v.Optional("n", number);
    v.Required("what", what, UpTo(32));
    v.Optional("id", id, UpTo(kMaxIdBytes));
    v.Optional("after", after, UpTo(kMaxIdBytes));
    v.Optional("rows", rows, UpTo(kMaxAdminRows));
  }
};

/// Broker to tool. Payload: `rows` maps.
struct Told {
  static constexpr std::string_view kType = "told";
  std::uint32_t version = kAdminVersion;  ///< the version that is spoken
  std::uint64_t number = 0;               ///< the question's
  std::uint64_t rows = 0;
  std::string next;  ///< ask for what is after this; empty: that was all

  template <class V>
  void Visit(V& v) {
    v.Required("v", version);
    v.Optional("n", number);
    v.Optional("rows", rows, UpTo(kMaxAdminRows));
    v.Optional("next", next, UpTo(kMaxIdBytes));
  }
};

/// Broker to tool: no answer, and why.
struct Denied {
  static constexpr std::string_view kType = "denied";
  std::uint64_t number = 0;
  std::string reason;

  template <class V>
  void Visit(V& v) {
    v.Optional("n", number);
    v.Required("reason", reason, UpTo(1024));
  }
};

/// A broker now, and what it has counted since it began.
struct BrokerRow {
  static constexpr std::string_view kType = "brokerRow";
  std::string software;
  std::string instance;  ///< drawn when it began: two addresses that say the same lead to one broker
  std::uint64_t up_ms = 0;
  std::uint64_t clients = 0;
  std::uint64_t clients_away = 0;
  std::uint64_t queued = 0;
  std::uint64_t queued_bytes = 0;
  std::uint64_t parked = 0;
  std::uint64_t held_bytes = 0;
  std::uint64_t workers = 0;
  std::uint64_t accepting = 0;
  std::uint64_t slots_used = 0;
  std::uint64_t slots_free = 0;
  std::uint64_t memory_promised_mb = 0;
  std::uint64_t memory_free_mb = 0;
  std::uint64_t spares = 0;
  std::uint64_t cells = 0;
  std::uint64_t submitted = 0;
  std::uint64_t accepted = 0;
  std::uint64_t dispatched = 0;
  std::uint64_t redispatched = 0;
  std::uint64_t ok = 0;
  NamedCounts errors;   ///< finals that are not ok, refusals included, by code
  NamedCounts refused;  ///< submissions that were not taken, by reason
  NamedCounts trips;    ///< of limits of jobs and of the pool, by name
  std::uint64_t workers_cut_off = 0;
  std::uint64_t tenants = 0;  ///< with a row of their own

  template <class V>
  void Visit(V& v) {
    v.Optional("software", software, UpTo(256));
    v.Optional("instance", instance, UpTo(64));
    v.Optional("upMs", up_ms);
    v.Optional("clients", clients);
    v.Optional("clientsAway", clients_away);
    v.Optional("queued", queued);
    v.Optional("queuedBytes", queued_bytes);
    v.Optional("parked", parked);
    v.Optional("heldBytes", held_bytes);
    v.Optional("workers", workers);
    v.Optional("accepting", accepting);
    v.Optional("slotsUsed", slots_used);
    v.Optional("slotsFree", slots_free);
    v.Optional("memoryPromisedMb", memory_promised_mb);
    v.Optional("memoryFreeMb", memory_free_mb);
    v.Optional("spares", spares);
    v.Optional("cells", cells);
    v.Optional("submitted", submitted);
    v.Optional("accepted", accepted);
    v.Optional("dispatched", dispatched);
    v.Optional("redispatched", redispatched);
    v.Optional("ok", ok);
    v.Optional("errors", errors, UpTo(kMaxMapKeys));
    v.Optional("refused", refused, UpTo(kMaxMapKeys));
    v.Optional("trips", trips, UpTo(kMaxMapKeys));
    v.Optional("workersCutOff", workers_cut_off);
    v.Optional("tenants", tenants);
  }
};

/// A worker that is connected, or was cut off a while ago.
struct WorkerRow {
  static constexpr std::string_view kType = "workerRow";
  SessionId id;
  std::string state;   ///< serving, draining (it leaves), drained (by an operator), away, cutOff
  std::string reason;  ///< of one that was cut off
  std::uint64_t slots = 0;
  std::uint64_t used = 0;
  std::uint64_t memory_mb = 0;
  std::uint64_t used_memory_mb = 0;
  std::string host;  ///< this and the next five: as it says itself
  std::uint64_t pid = 0;
  std::string software;
  std::string v8;
  std::string sandbox;
  std::vector<std::string> libraries;
  std::uint64_t since_ms = 0;  ///< connected for so long
  std::uint64_t heard_ms = 0;  ///< last heard of so long ago
  std::uint64_t dispatched = 0;
  NamedCounts exits;  ///< this and the next five: what it has counted itself, as in `stats`
  NamedCounts cell_restarts;
  std::uint64_t reruns = 0;
  std::uint64_t lost_events = 0;
  std::uint64_t spares = 0;
  std::uint64_t cells = 0;

  template <class V>
  void Visit(V& v) {
    v.Required("id", id);
    v.Required("state", state, UpTo(32));
    v.Optional("reason", reason, UpTo(1024));
    v.Optional("slots", slots);
    v.Optional("used", used);
    v.Optional("memoryMb", memory_mb);
    v.Optional("usedMemoryMb", used_memory_mb);
    v.Optional("host", host, UpTo(64));
    v.Optional("pid", pid);
    v.Optional("software", software, UpTo(64));
    v.Optional("v8", v8, UpTo(64));
    v.Optional("sandbox", sandbox, UpTo(64));
    v.Optional("libraries", libraries, UpTo(64));
    v.Optional("sinceMs", since_ms);
    v.Optional("heardMs", heard_ms);
    v.Optional("dispatched", dispatched);
    v.Optional("exits", exits, UpTo(kMaxMapKeys));
    v.Optional("cellRestarts", cell_restarts, UpTo(kMaxMapKeys));
    v.Optional("reruns", reruns);
    v.Optional("lostEvents", lost_events);
    v.Optional("spares", spares);
    v.Optional("cells", cells);
  }
};

/// What a tenant may have, has, and has had since the broker began. A limit of 0 is none.
struct TenantRow {
  static constexpr std::string_view kType = "tenantRow";
  TenantId name;       ///< empty: the sum of those that have no row of their own any more
  bool named = false;  ///< in tenants.toml
  std::uint64_t weight = 0;
  std::uint64_t queued = 0;
  std::uint64_t running = 0;
  std::uint64_t max_queued = 0;
  std::uint64_t max_running = 0;
  std::uint64_t rate = 0;
  std::uint64_t user_rate = 0;
  std::uint64_t turn_executions = 0;
  std::uint64_t accepted = 0;
  NamedCounts refused;  ///< by reason
  std::uint64_t ok = 0;
  NamedCounts errors;  ///< of accepted jobs, by code
  NamedCounts trips;   ///< of limits, by name
  std::uint64_t wall_us = 0;
  std::uint64_t cpu_us = 0;
  std::uint64_t in_bytes = 0;    ///< code and input of accepted jobs
  std::uint64_t out_bytes = 0;   ///< values and error texts
  std::uint64_t data_bytes = 0;  ///< answers to host calls

  template <class V>
  void Visit(V& v) {
    v.Optional("name", name);
    v.Optional("named", named);
    v.Optional("weight", weight);
    v.Optional("queued", queued);
    v.Optional("running", running);
    v.Optional("maxQueued", max_queued);
    v.Optional("maxConcurrent", max_running);
    v.Optional("rate", rate);
    v.Optional("userRate", user_rate);
    v.Optional("turnExecutions", turn_executions);
    v.Optional("accepted", accepted);
    v.Optional("refused", refused, UpTo(kMaxMapKeys));
    v.Optional("ok", ok);
    v.Optional("errors", errors, UpTo(kMaxMapKeys));
    v.Optional("trips", trips, UpTo(kMaxMapKeys));
    v.Optional("wallUs", wall_us);
    v.Optional("cpuUs", cpu_us);
    v.Optional("inBytes", in_bytes);
    v.Optional("outBytes", out_bytes);
    v.Optional("dataBytes", data_bytes);
  }
};

using AdminHeader = std::variant<Ask, Told, Denied>;

}  // namespace skerry::wire
