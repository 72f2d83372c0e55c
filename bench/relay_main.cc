// skerry-bench-relay: what the broker and the worker are compared with, in processes of their own as they
// are.
//
//   skerry-bench-relay proxy FRONT BACK    libzmq's own zmq_proxy between a ROUTER and a DEALER
//   skerry-bench-relay router FRONT BACK   ROUTER to ROUTER, as the broker's sockets are, to the first peer
//   behind skerry-bench-relay echo BACK           a DEALER behind `router` that sends back whatever comes
//
// They run until they are killed.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>
#include <zmq.hpp>

namespace skerry::bench {
namespace {

using Frames = std::vector<zmq::message_t>;

zmq::socket_t Bound(zmq::context_t& context, zmq::socket_type type, const std::string& endpoint) {
  zmq::socket_t socket(context, type);
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, 0);
  socket.bind(endpoint);
  return socket;
}

/// One whole message; empty: none has come.
Frames Take(zmq::socket_t& socket, zmq::recv_flags flags) {
  Frames frames;
  zmq::message_t frame;
  if (!socket.recv(frame, flags)) return frames;
  frames.push_back(std::move(frame));
  while (frames.back().more()) {
    zmq::message_t next;
    (void)socket.recv(next);
    frames.push_back(std::move(next));
  }
  return frames;
}

void Put(zmq::socket_t& socket, Frames& frames, std::size_t from) {
  for (std::size_t i = from; i < frames.size(); ++i) {
    const auto more = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
    (void)socket.send(frames[i], more);
  }
}

void RunProxy(const std::string& front, const std::string& back) {
  zmq::context_t context;
  auto clients = Bound(context, zmq::socket_type::router, front);
  auto workers = Bound(context, zmq::socket_type::dealer, back);
  zmq::proxy(clients, workers);
}

void RunRouter(const std::string& front, const std::string& back) {
  zmq::context_t context;
  auto workers = Bound(context, zmq::socket_type::router, back);
  auto clients = Bound(context, zmq::socket_type::router, front);
  const Frames greeting = Take(workers, zmq::recv_flags::none);
  const std::string worker = greeting.at(0).to_string();
  zmq_pollitem_t items[] = {{clients.handle(), 0, ZMQ_POLLIN, 0}, {workers.handle(), 0, ZMQ_POLLIN, 0}};
  for (;;) {
    zmq_poll(items, 2, -1);
    for (Frames frames; !(frames = Take(clients, zmq::recv_flags::dontwait)).empty();) {
      (void)workers.send(zmq::buffer(worker), zmq::send_flags::sndmore);
      Put(workers, frames, 0);
    }
    for (Frames frames; !(frames = Take(workers, zmq::recv_flags::dontwait)).empty();)
      Put(clients, frames, 1);
  }
}

void RunEcho(const std::string& back) {
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  socket.connect(back);
  (void)socket.send(zmq::str_buffer("here"));
  for (;;) {
    Frames frames = Take(socket, zmq::recv_flags::none);
    Put(socket, frames, 0);
  }
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  try {
    if (argc == 4 && words[1] == "proxy") skerry::bench::RunProxy(words[2], words[3]);
    if (argc == 4 && words[1] == "router") skerry::bench::RunRouter(words[2], words[3]);
    if (argc == 3 && words[1] == "echo") skerry::bench::RunEcho(words[2]);
  } catch (const zmq::error_t& error) {
    std::fprintf(stderr, "skerry-bench-relay: %s\n", error.what());
    return 1;
  }
  std::fprintf(stderr, "usage: skerry-bench-relay proxy|router FRONT BACK, or echo BACK\n");
  return 2;
}
