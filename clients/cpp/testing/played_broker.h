// A broker's admin socket as a test plays it: workers that it is given, drained when asked.
//
// Threads: answers on one of its own; the test calls Drained from its own. Ownership: the socket's file is
// gone with it.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "common/wire/admin.h"
#include "common/wire/admin_codec.h"

namespace skerry::testing {

class PlayedBroker {
 public:
  PlayedBroker(const std::string& endpoint, std::vector<wire::WorkerRow> workers)
      : workers_(std::move(workers)), socket_(context_, zmq::socket_type::router) {
    broker_.instance = endpoint;
    socket_.bind(endpoint);
    thread_ = std::thread([this] { Serve(); });
  }
  ~PlayedBroker() {
    stop_ = true;
    thread_.join();
  }
  PlayedBroker(const PlayedBroker&) = delete;
  PlayedBroker& operator=(const PlayedBroker&) = delete;

  std::set<std::string> Drained() const {
    const std::lock_guard lock(mutex_);
    return drained_;
  }

 private:
  void Serve() {
    socket_.set(zmq::sockopt::rcvtimeo, 10);
    socket_.set(zmq::sockopt::linger, 0);
    while (!stop_) {
      zmq::message_t routing;
      zmq::message_t header;
      if (!socket_.recv(routing)) continue;
      (void)socket_.recv(header);
      const auto asked = wire::DecodeAdmin({header.data<char>(), header.size()});
      const auto& ask = std::get<wire::Ask>(*asked);
      std::string rows;
      wire::Told told;
      told.number = ask.number;
      told.rows = Answer(ask, rows);
      (void)socket_.send(routing, zmq::send_flags::sndmore);
      const std::string head = wire::EncodeAdmin(told);
      (void)socket_.send(zmq::buffer(head), rows.empty() ? zmq::send_flags::none : zmq::send_flags::sndmore);
      if (!rows.empty()) (void)socket_.send(zmq::buffer(rows), zmq::send_flags::none);
    }
  }
  std::uint64_t Answer(const wire::Ask& ask, std::string& rows) {
    if (ask.what == wire::question::kTenants) return 0;
    if (ask.what == wire::question::kBroker) {
      wire::AppendRow(rows, broker_);
      return 1;
    }
    std::uint64_t told = 0;
    for (wire::WorkerRow& worker : workers_) {
      if (!ask.id.empty() && ask.id != worker.id.str()) continue;
      if (ask.what == wire::question::kDrain) {
        worker.state = "drained";
        const std::lock_guard lock(mutex_);
        drained_.insert(ask.id);
      }
      wire::AppendRow(rows, worker);
      ++told;
    }
    return told;
  }

  std::vector<wire::WorkerRow> workers_;
  wire::BrokerRow broker_;
  mutable std::mutex mutex_;
  std::set<std::string> drained_;
  std::atomic<bool> stop_ = false;
  zmq::context_t context_;
  zmq::socket_t socket_;
  std::thread thread_;
};

}  // namespace skerry::testing
