#include "broker/sessions/client_pipe.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace skerry::broker {
namespace {

// Half of the ROUTER's high water mark: the other half is for WELCOME, PING, PONG and ACCEPTED.
constexpr std::size_t kMaxInFlight = 2048;
constexpr std::uint64_t kBytesPerMessage = 512;  // the header's strings and our books
// A mark each quarter of the window keeps it from running dry for a round trip.
constexpr std::uint64_t kMarksPerWindow = 4;

}  // namespace

std::uint64_t ClientPipe::BytesOf(const std::vector<Payload>& payloads) {
  return kBytesPerMessage + broker::BytesOf(payloads);
}

void ClientPipe::Push(wire::Header header, std::vector<Payload> payloads, std::uint64_t final_number) {
  Entry entry;
  entry.seq = next_seq_++;
  wire::SetSeq(header, entry.seq);
  entry.bytes = BytesOf(payloads);
  entry.final = std::holds_alternative<wire::Final>(header);
  entry.final_number = final_number;
  if (final_number != 0) finals_.insert(final_number);
  if (!entry.final) own_bytes_ += entry.bytes;
  entry.message = {std::move(header), std::move(payloads)};
  waiting_bytes_ += entry.bytes;
  waiting_.push_back(std::move(entry));
}

std::optional<ClientPipe::Message> ClientPipe::TakeNext(Bytes window) {
  if (waiting_.empty()) return std::nullopt;
  const std::uint64_t bytes = waiting_.front().bytes;
  const bool open = in_flight_.size() < kMaxInFlight && in_flight_bytes_ + bytes <= window.count();
  if (!open && !in_flight_.empty()) return std::nullopt;
  Entry entry = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= bytes;
  in_flight_bytes_ += bytes;
  unmarked_bytes_ += bytes;
  Message message = entry.final ? std::exchange(entry.message, {}) : entry.message;
  // Whoever asks for it again from here on may have been sent it before he wanted it.
  finals_.erase(std::exchange(entry.final_number, 0));
  in_flight_.push_back(std::move(entry));
  return message;
}

bool ClientPipe::WantsMark(Bytes window) const {
  if (!HasUnmarked()) return false;
  const std::uint64_t unmarked = in_flight_.back().seq - std::max(last_marked_, in_flight_.front().seq - 1);
  return unmarked_bytes_ >= window.count() / kMarksPerWindow || unmarked >= kMaxInFlight / kMarksPerWindow;
}

void ClientPipe::Mark(std::uint64_t mark) {
  if (!HasUnmarked()) return;
  last_marked_ = in_flight_.back().seq;
  unmarked_bytes_ = 0;
  marks_.emplace_back(mark, last_marked_);
}

void ClientPipe::Confirm(std::uint64_t mark) {
  const auto found =
      std::find_if(marks_.begin(), marks_.end(), [&](const auto& entry) { return entry.first == mark; });
  if (found == marks_.end()) return;
  const std::uint64_t read = found->second;
  marks_.erase(marks_.begin(), found + 1);
  while (!in_flight_.empty() && in_flight_.front().seq <= read) {
    in_flight_bytes_ -= in_flight_.front().bytes;
    Drop(in_flight_.front());
    in_flight_.pop_front();
  }
}

void ClientPipe::Relink(std::uint64_t seen) {
  std::deque<Entry> all = std::exchange(in_flight_, {});
  for (Entry& entry : waiting_) all.push_back(std::move(entry));
  waiting_.clear();
  marks_.clear();
  waiting_bytes_ = in_flight_bytes_ = unmarked_bytes_ = 0;
  last_marked_ = 0;
  for (Entry& entry : all) {
    if (entry.final || entry.seq <= seen) {
      Drop(entry);
      continue;
    }
    waiting_bytes_ += entry.bytes;
    waiting_.push_back(std::move(entry));
  }
}

void ClientPipe::MarkAnew() {
  marks_.clear();
  last_marked_ = 0;
  unmarked_bytes_ = in_flight_bytes_;
}

void ClientPipe::Clear() {
  waiting_.clear();
  in_flight_.clear();
  marks_.clear();
  finals_.clear();
  waiting_bytes_ = in_flight_bytes_ = unmarked_bytes_ = own_bytes_ = 0;
}

void ClientPipe::Drop(const Entry& entry) {
  if (!entry.final) own_bytes_ -= entry.bytes;
  finals_.erase(entry.final_number);
}

}  // namespace skerry::broker
