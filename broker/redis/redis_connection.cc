#include "broker/redis/redis_connection.h"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/time.h>

#include <algorithm>
#include <cctype>

#include "common/printable.h"

namespace skerry::broker {
namespace {

// hiredis reads at most 16 KiB at once: this bounds what one answer can make us keep.
constexpr int kMaxPieces = 256;
constexpr std::size_t kShaDigits = 40;
constexpr std::size_t kShownBytes = 200;

timeval ToTimeval(Millis time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {seconds.count(), std::chrono::microseconds(time - seconds).count()};
}

/// hiredis's own ways to make a reply, each with a bound before it: it would allocate whatever the server
/// says. Null is "out of memory" to it, and the connection's end.
class BoundedReplies {
 public:
  static void Install(redisReader& reader) {
    Theirs(reader.fn);
    static redisReplyObjectFunctions bounded = {&String, &Array, reader.fn->createInteger,
                                                reader.fn->createNil, reader.fn->freeObject};
    reader.fn = &bounded;
  }

 private:
  /// The same for every reader: kept the first time.
  static redisReplyObjectFunctions* Theirs(redisReplyObjectFunctions* first = nullptr) {
    static redisReplyObjectFunctions* const theirs = first;
    return theirs;
  }
  static void* String(const redisReadTask* task, char* text, std::size_t size) {
    return size > RedisConnection::kMaxTextBytes ? nullptr : Theirs()->createString(task, text, size);
  }
  static void* Array(const redisReadTask* task, int elements) {
    const bool fits = elements >= 0 && static_cast<std::size_t>(elements) <= RedisConnection::kMaxElements;
    return fits ? Theirs()->createArray(task, elements) : nullptr;
  }
};

bool IsReadable(int fd, Millis patience) {
  pollfd item = {fd, POLLIN, 0};
  return poll(&item, 1, static_cast<int>(patience.count())) > 0;
}

std::string Shown(std::string_view text) {
  return PrintableAscii(std::string(text.substr(0, kShownBytes)));
}

}  // namespace

struct RedisConnection::Reply {
  struct Free {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };
  std::unique_ptr<redisReply, Free> reply;

  std::string_view text() const { return {reply->str, reply->len}; }
  bool IsError() const { return reply->type == REDIS_REPLY_ERROR; }
  bool IsOk() const { return reply->type == REDIS_REPLY_STATUS && text() == "OK"; }
};

void RedisConnection::Free::operator()(redisContext* context) const {
  redisFree(context);
}

tl::unexpected<Error> RedisConnection::Broken(const std::string& what) const {
  return Fail(ErrorKind::kUnavailable, what + ": " + Shown(context_->errstr));
}

Result<RedisConnection> RedisConnection::Open(const RedisAddress& address, const std::string& user,
                                              const std::string& password, std::string_view script,
                                              Millis timeout) {
  redisContext* context =
      address.path.empty() ? redisConnectWithTimeout(address.host.c_str(), address.port, ToTimeval(timeout))
                           : redisConnectUnixWithTimeout(address.path.c_str(), ToTimeval(timeout));
  if (context == nullptr) return Fail(ErrorKind::kUnavailable, "no memory for a connection");
  RedisConnection connection(context, script);
  if (context->err != 0) return connection.Broken("cannot connect");
  // Of writes: a server that has stopped reading must not stop us.
  if (redisSetTimeout(context, ToTimeval(timeout)) != REDIS_OK)
    return connection.Broken("cannot set a timeout");
  BoundedReplies::Install(*context->reader);
  if (auto greeted = connection.Greet(address, user, password, timeout); !greeted)
    return Fail(greeted.error());
  return connection;
}

Status RedisConnection::Greet(const RedisAddress& address, const std::string& user,
                              const std::string& password, Millis timeout) {
  const auto demand = [&](const std::vector<std::string>& words) -> Status {
    auto reply = Run(words, timeout);
    if (!reply) return Fail(reply.error());
    if (reply->IsOk()) return {};
    return Fail(ErrorKind::kUnavailable,
                words[0] + " is refused: " + (reply->IsError() ? Shown(reply->text()) : "no OK"));
  };
  if (!password.empty()) {
    const auto words = user.empty() ? std::vector<std::string>{"AUTH", password}
                                    : std::vector<std::string>{"AUTH", user, password};
    if (auto known = demand(words); !known) return known;
  }
  if (address.database != 0) {
    if (auto chosen = demand({"SELECT", std::to_string(address.database)}); !chosen) return chosen;
  }
  auto name = Run({"SCRIPT", "LOAD", script_}, timeout);
  if (!name) return Fail(name.error());
  if (name->IsError()) return Fail(ErrorKind::kUnavailable, "SCRIPT LOAD is refused: " + Shown(name->text()));
  const bool string = name->reply->type == REDIS_REPLY_STRING;
  if (!string || name->text().size() != kShaDigits ||
      !std::all_of(name->text().begin(), name->text().end(),
                   [](unsigned char c) { return std::isxdigit(c); })) {
    return Fail(ErrorKind::kUnavailable, "SCRIPT LOAD answers no name of a script");
  }
  script_name_ = name->text();
  return {};
}

Result<std::vector<std::int64_t>> RedisConnection::RunScript(const std::vector<std::string>& arguments,
                                                             Millis timeout) {
  std::vector<std::string> words = {"EVALSHA", script_name_};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto reply = Run(words, timeout);
  if (reply && reply->IsError() && reply->text().starts_with("NOSCRIPT")) {
    words[0] = "EVAL";
    words[1] = script_;
    reply = Run(words, timeout);
  }
  if (!reply) return Fail(reply.error());
  if (reply->IsError()) return Fail(ErrorKind::kUnavailable, "the script failed: " + Shown(reply->text()));
  if (reply->reply->type != REDIS_REPLY_ARRAY)
    return Fail(ErrorKind::kUnavailable, "the script answers no list");
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < reply->reply->elements; ++i) {
    const redisReply* element = reply->reply->element[i];
    if (element->type != REDIS_REPLY_INTEGER)
      return Fail(ErrorKind::kUnavailable, "the script answers what is no number");
    numbers.push_back(element->integer);
  }
  return numbers;
}

Result<RedisConnection::Reply> RedisConnection::Run(const std::vector<std::string>& words, Millis timeout) {
  // Whatever comes before a command cannot be its answer: an end, or a server that talks on its own.
  if (IsReadable(context_->fd, Millis(0)))
    return Fail(ErrorKind::kUnavailable, "it has closed the connection, or says what nobody asked for");
  if (auto written = Write(words); !written) return Fail(written.error());
  return Read(timeout);
}

Status RedisConnection::Write(const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  if (redisAppendCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data()) !=
      REDIS_OK) {
    return Broken("cannot write");
  }
  for (int done = 0; done == 0;) {
    if (redisBufferWrite(context_.get(), &done) != REDIS_OK) return Broken("cannot write");
  }
  return {};
}

Result<RedisConnection::Reply> RedisConnection::Read(Millis timeout) {
  const TimePoint deadline = SteadyClock::now() + timeout;
  for (int pieces = 0; pieces < kMaxPieces; ++pieces) {
    void* reply = nullptr;
    if (redisGetReplyFromReader(context_.get(), &reply) != REDIS_OK) return Broken("no answer of Redis");
    if (reply != nullptr) {
      Reply owned{std::unique_ptr<redisReply, Reply::Free>(static_cast<redisReply*>(reply))};
      if (context_->reader->pos == context_->reader->len) return owned;
      return Fail(ErrorKind::kUnavailable, "it says more than was asked for");
    }
    const auto left = std::chrono::ceil<Millis>(deadline - SteadyClock::now());
    if (left <= Millis(0) || !IsReadable(context_->fd, left))
      return Fail(ErrorKind::kUnavailable, "no answer within " + std::to_string(timeout.count()) + " ms");
    if (redisBufferRead(context_.get()) != REDIS_OK) return Broken("no answer");
  }
  return Fail(ErrorKind::kUnavailable, "an answer that does not end");
}

}  // namespace skerry::broker
