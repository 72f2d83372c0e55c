#include "bench/stub_worker.h"

#include <utility>
#include <variant>
#include <vector>

#include "common/hash.h"

namespace skerry::bench {
namespace {

constexpr long kLookForStopMs = 50;
// What the broker counts for each job of the default memoryMb.
constexpr std::uint64_t kMemoryPerSlotMb = 256;

}  // namespace

StubWorker::StubWorker(const std::string& endpoint, FarSide far_side, std::uint64_t slots, std::string value)
    : far_side_(far_side),
      slots_(slots),
      value_(std::move(value)),
      socket_(context_, zmq::socket_type::dealer) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.set(zmq::sockopt::sndhwm, 0);  // its slots bound it
  socket_.set(zmq::sockopt::rcvhwm, 0);
  socket_.connect(endpoint);
  thread_ = std::thread([this] { Serve(); });
}

StubWorker::~StubWorker() {
  stop_ = true;
  thread_.join();
}

void StubWorker::Serve() {
  if (far_side_ == FarSide::kBroker) SayHello();
  while (!stop_) {
    zmq_pollitem_t item{socket_.handle(), 0, ZMQ_POLLIN, 0};
    zmq_poll(&item, 1, kLookForStopMs);
    for (zmq::message_t first; socket_.recv(first, zmq::recv_flags::dontwait);) AnswerOne(first);
  }
  if (far_side_ == FarSide::kBroker) SendFrames(socket_, {wire::Encode(wire::Bye{})});
}

void StubWorker::SayHello() {
  wire::Hello hello;
  hello.role = wire::Role::kWorker;
  hello.session = SessionId(RandomHex(8));
  hello.slots = slots_;
  hello.memory_mb = slots_ * kMemoryPerSlotMb;
  SendFrames(socket_, {wire::Encode(hello)});
}

void StubWorker::AnswerOne(zmq::message_t& first) {
  std::string route;
  if (far_side_ == FarSide::kRelay) {  // a relay's first frame is the client's routing id
    route = first.to_string();
    (void)socket_.recv(first);
  }
  const auto header = wire::Decode({first.data<char>(), first.size()});
  while (first.more()) (void)socket_.recv(first);
  if (header) AnswerHeader(*header, route);
}

void StubWorker::AnswerHeader(const wire::Header& header, std::string_view route) {
  if (const auto* ping = std::get_if<wire::Ping>(&header))
    return SendFrames(socket_, {wire::Encode(wire::Pong{ping->number})});
  wire::Final final;
  final.ok = true;
  final.started = true;
  final.usage.wall_ms = 0.5;
  final.usage.cpu_ms = 0.5;
  final.usage.result_bytes = value_.size();
  final.seq = ++seq_;
  if (const auto* dispatch = std::get_if<wire::Dispatch>(&header)) {
    final.lease = dispatch->lease;
    final.attempt = dispatch->attempt;
    SendFrames(socket_, {wire::Encode(final), value_});
  } else if (const auto* submit = std::get_if<wire::Submit>(&header)) {
    final.id = submit->job.id;
    SendFrames(socket_, {route, wire::Encode(final), value_});
  }
}

}  // namespace skerry::bench
