#include "broker/settings.h"

#include "common/endpoint.h"

namespace skerry::broker {
namespace {

constexpr std::uint64_t kHourMs = 3'600'000;
constexpr std::uint64_t kMany = 100'000'000;
constexpr std::uint64_t kTebibyteMib = 1u << 20;

}  // namespace

void Describe(config::Settings& s, BrokerOptions& options) {
  ServerOptions& server = options.server;
  BrokerConfig& config = server.config;
  s.List("clients", server.client_endpoints, "endpoints for clients").Needed().Check(&CheckEndpoint);
  s.List("workers", server.worker_endpoints, "endpoints for workers").Needed().Check(&CheckEndpoint);
  s.Text("key", server.door.key_file, config::kAnyText,
         "file of the broker's secret key (skerry keygen --role broker)")
      .File()
      .DefaultText("none: only ipc:// endpoints")
      .TradeOff("TCP endpoints are encrypted, and need it");
  s.Text("authorized", server.door.authorized_file, config::kAnyText,
         "file of who may connect by TCP: public keys, their tenants, workers and operators; read"
         " again on SIGHUP")
      .File()
      .DefaultText("none");
  s.Switch("plain_loopback", server.door.plain_loopback, "whether tcp:// on loopback may do without keys")
      .Guarded()
      .TradeOff("every user and program of this machine can connect then, as any tenant, worker or operator");
  s.Number("max_handshakes", server.door.max_handshakes, {1, 65'536},
           "connections of clients, and of workers, whose handshake is not finished")
      .TradeOff("past it the oldest is closed; each costs a descriptor and some memory for 5 s at the most");
  s.Text("metrics", server.metrics, config::kAnyText,
         "HOST:PORT on loopback for /metrics, /livez and /readyz; none: no HTTP at all");
  s.List(
       "admin", server.admin_endpoints,
       "endpoints for `skerry workers`, `skerry tenants` and `skerry top`; tcp:// for keys of [admins] alone")
      .DefaultText("none: nobody asks")
      .Check(&CheckEndpoint)
      .TradeOff(
          "who may open an ipc:// file, mode 0600, or has such a key may drain workers and see every tenant");
  s.Text("tenants", server.tenants, config::kAnyText,
         "path of tenants.toml: weights, rates and limits of tenants; SIGHUP reads it again; none: all are "
         "alike")
      .File();
  s.Text("redis", server.redis.address, config::kAnyText,
         "Redis through which brokers share tenants' rates: /PATH of its socket, HOST:PORT or HOST:PORT/DB; "
         "none: rates are each broker's own")
      .Check(&CheckAddress)
      .Guarded()
      .TradeOff("a job of a tenant with a rate waits for a round trip to it");
  s.Text("redis_user", server.redis.user, {0, 256}, "its ACL's user; none: the default user");
  s.Text("redis_password_file", server.redis.password_file, config::kAnyText,
         "path of a file with its password, which its owner alone may read; none: the variable "
         "SKERRY_REDIS_PASSWORD, or no password")
      .File()
      .Guarded();
  s.Text("redis_prefix", server.redis.prefix, {1, 64}, "what all keys in it begin with").Check(&CheckPrefix);
  s.Duration("redis_timeout_ms", server.redis.timeout, {1, 10'000},
             "how long a job waits for it before this broker's share decides, ms")
      .TradeOff("shorter takes a Redis that was busy for lost; longer holds jobs up when it is");
  s.Number("redis_brokers", server.redis.brokers, {1, 1'024},
           "brokers that there are as long as Redis has not said how many")
      .TradeOff("one divided by it is this broker's share where it is started without Redis");
  s.Number("max_queued", config.max_queued, {1, kMany}, "jobs that may wait for a worker")
      .TradeOff("past it a job is OVERLOADED; more hides a lack of workers for longer");
  s.Size("max_queued_mib", config.max_queued_bytes, {1, kTebibyteMib}, "their code and input together, MiB")
      .TradeOff("the broker's memory is bounded by this plus what runs");
  s.Number("client_credit", config.client_credit, {1, kMany}, "unfinished jobs a client is told it may have")
      .TradeOff("twice as many are borne before jobs are refused; fewer starve clients far away");
  s.Number("max_peers", config.max_peers, {1, 65'536}, "clients and workers connected at once, each")
      .TradeOff("each peer costs a descriptor");
  s.Duration("heartbeat_ms", config.heartbeat, {10, 60'000}, "a PING goes to every peer this often, ms");
  s.Duration("peer_timeout_ms", config.peer_timeout, {30, kHourMs}, "a peer silent this long is gone, ms")
      .TradeOff(
          "at least three heartbeats; shorter finds dead workers sooner and calls a machine dead that "
          "merely swapped");
  s.Duration("session_ttl_ms", config.session_ttl, {0, 24 * kHourMs},
             "how long jobs and unacknowledged finals outlive a client's connection, ms")
      .TradeOff("longer bears longer outages of a client and keeps the jobs of dead ones longer");
  s.Duration("lease_grace_ms", config.lease_grace, {0, kHourMs},
             "how long past its wall clock limit a job may be with a worker that still answers, ms")
      .TradeOff("then the worker has lost it, and it is run again where retry allows");
  s.Duration("retry_after_ms", config.retry_after, {1, kHourMs},
             "what OVERLOADED tells a client to wait, ms");
  s.Number("max_redispatches", config.max_redispatches, {0, 1'000},
           "re-dispatches of a job with retry \"always\" whose workers keep dying")
      .TradeOff("a job that kills machines must end some day");
  s.Number("max_unacked_finals", config.max_unacked_finals, {1, kMany},
           "finals kept for a client until it acknowledges them")
      .TradeOff("at it the client's queued jobs wait and new ones are OVERLOADED until it acknowledges");
  s.Size("max_unacked_mib", config.max_unacked_bytes, {1, kTebibyteMib}, "their bytes together, MiB");
  s.Size("max_backlog_mib", config.max_backlog_bytes, {1, kTebibyteMib},
         "events and host calls kept for a client that is away or reads slowly, MiB")
      .TradeOff("past it events are dropped and counted");
  s.Size("client_window_mib", config.client_window, {1, kTebibyteMib},
         "bytes on their way to a client that it has not said to have read, MiB")
      .TradeOff("less than a link carries in a round trip slows a fast reader; a slow one costs this much");
  s.Size("max_held_mib", config.max_held_bytes, {1, kTebibyteMib},
         "finals, events and calls kept for all clients together, MiB")
      .TradeOff("past it those that keep more than an equal share are held back");
  s.Size("max_program_mib", config.max_program_bytes, {1, kTebibyteMib},
         "code of programs kept for jobs that name it by its hash, MiB")
      .TradeOff("what does not fit is asked for again: less costs clients' links, more the broker's memory");
  s.Duration("max_overtaken_ms", config.max_overtaken, {0, kHourMs},
             "how long a job whose memory is nowhere free may be passed by smaller ones, ms")
      .TradeOff("more keeps workers busier; large jobs wait longer");
  s.Duration("priority_ageing_ms", config.priority_ageing, {1, kHourMs},
             "how much longer a job may wait before it goes before one of the next higher priority, ms")
      .TradeOff("less makes priorities matter less; more lets low ones wait longer");
  s.Duration("worker_return_ms", config.worker_return, {0, kHourMs},
             "how long an unreachable worker keeps its leases, ms")
      .TradeOff("less than two heartbeats loses the jobs of workers whose link only broke");
  s.Duration("cut_off_time_ms", config.cut_off_time, {0, kHourMs},
             "how long a worker that lied is refused, ms");
  s.Number("program_crashes", config.crashes.program_crashes, {0, CrashWatch::kMaxThreshold},
           "crashes of a program within crash_window_ms that have it refused; 0: never")
      .TradeOff(
          "each crash of hostile code is a probe of memory that other jobs share; fewer also stop "
          "sooner what merely runs into a bug of V8");
  s.Number("tenant_crashes", config.crashes.tenant_crashes, {0, CrashWatch::kMaxThreshold},
           "crashes of all jobs of a tenant within crash_window_ms that have them refused; 0: never")
      .TradeOff("catches programs that change a little each time, and refuses the tenant's good ones too");
  s.Duration("crash_window_ms", config.crashes.window, {1, 24 * kHourMs}, "how long a crash counts, ms");
  s.Duration("crash_refusal_ms", config.crashes.refusal, {1, kHourMs},
             "how long who keeps crashing is refused, with RATE_LIMITED, ms");
  s.Switch("allow_wasm", config.allow_wasm, "whether jobs may ask for WebAssembly")
      .TradeOff("compilers of its own are more of V8 to attack");
  s.Choice("log_level", options.log_level, {"trace", "debug", "info", "warn", "error", "off"},
           "least severe line that is logged");
  s.Choice("log_format", options.log_format, {"text", "json"}, "how a line is logged, to stderr")
      .TradeOff("json: one object a line with every id as a field, for machines");
  s.CeilingsOf(config.ceilings);
}

}  // namespace skerry::broker
