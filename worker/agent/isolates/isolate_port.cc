#include "worker/agent/isolates/isolate_port.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/wire/codec.h"

namespace skerry::agent {
namespace {

constexpr std::size_t kReadChunk = std::size_t{64} * 1024;
// Payloads below this are copied behind their header: one chunk, one write.
constexpr std::size_t kCopyBytes = std::size_t{16} * 1024;
constexpr std::size_t kMaxVectors = 8;

}  // namespace

IsolatePort::ReadEnd IsolatePort::Read(std::size_t budget) {
  static thread_local std::array<char, kReadChunk> chunk;
  while (budget > 0) {
    const ssize_t n = ::recv(socket_, chunk.data(), std::min(budget, chunk.size()), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return ReadEnd::kEmpty;
    if (n <= 0)
      return ReadEnd::kEof;  // ECONNRESET: it died with unread bytes of ours; what it sent has been read
    reader_.Append(std::string_view(chunk.data(), static_cast<std::size_t>(n)));
    budget -= static_cast<std::size_t>(n);
  }
  return ReadEnd::kBudget;
}

void IsolatePort::Send(const wire::Header& header, const std::vector<std::string_view>& payloads) {
  const std::string encoded = wire::Encode(header);
  const auto prefix = wire::StreamPrefix(encoded.size(), payloads);
  Chunk chunk;
  chunk.owned.assign(prefix.data(), prefix.size());
  chunk.owned += encoded;
  for (std::string_view payload : payloads) {
    if (payload.size() < kCopyBytes) {
      chunk.owned += payload;
      continue;
    }
    out_.push_back(std::move(chunk));
    out_.push_back(Chunk{{}, payload});
    chunk = Chunk{};
  }
  if (!chunk.owned.empty()) out_.push_back(std::move(chunk));
}

void IsolatePort::SendOwned(const wire::Header& header, std::string payload) {
  if (payload.size() < kCopyBytes) return Send(header, {payload});
  const std::string encoded = wire::Encode(header);
  const auto prefix = wire::StreamPrefix(encoded.size(), {payload});
  out_.push_back(Chunk{std::string(prefix.data(), prefix.size()) + encoded, {}});
  out_.push_back(Chunk{std::move(payload), {}});
}

IsolatePort::WriteEnd IsolatePort::Flush() {
  while (!out_.empty()) {
    std::array<iovec, kMaxVectors> vectors{};
    std::size_t count = 0;
    for (const Chunk& chunk : out_) {
      if (count == kMaxVectors) break;
      std::string_view bytes = chunk.bytes();
      if (count == 0) bytes.remove_prefix(written_);
      vectors[count++] = {const_cast<char*>(bytes.data()), bytes.size()};
    }
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = count;
    const ssize_t n = ::sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return WriteEnd::kBlocked;
    if (n < 0) {
      out_.clear();
      written_ = 0;
      return WriteEnd::kPeerGone;
    }
    written_ += static_cast<std::size_t>(n);
    while (!out_.empty() && written_ >= out_.front().bytes().size()) {
      written_ -= out_.front().bytes().size();
      out_.pop_front();
    }
  }
  return WriteEnd::kFlushed;
}

}  // namespace skerry::agent
