// broker::ReadZapRequest and Judge: what libzmq asks of the door, and in it what a stranger says.
#include "broker/door/zap.h"
#include "common/keys/key.h"
#include "tests/fuzz/targets/target.h"

namespace {

const std::string kKey = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";

const skerry::broker::AuthorizedKeys& Listed() {
  static const auto keys =
      skerry::broker::AuthorizedKeys::Parse("[clients]\nacme = [\"" + kKey + "\"]\n", "list");
  return *keys;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace skerry::broker;
  using skerry::fuzz::Demand;
  skerry::fuzz::Script script(data, size);
  std::vector<std::string> frames;
  while (!script.AtEnd() && frames.size() < 16) frames.push_back(script.Text());
  const auto request = ReadZapRequest(frames);
  if (!request) return 0;
  const ZapVerdict verdict = Judge(*request, Listed());
  const auto reply = ZapReply(*request, verdict);
  Demand(reply.size() == 6 && reply[1] == request->id, "an answer has six frames, and is to its question");
  Demand((reply[2] == "200") == !verdict.refused, "who is refused is told 400");
  if (verdict.refused) return 0;
  const bool plain = request->domain == DomainOf(Door::kClientsPlain) ||
                     request->domain == DomainOf(Door::kWorkersPlain) ||
                     request->domain == DomainOf(Door::kAdminsPlain);
  Demand(verdict.user == (plain ? std::string(kPlainUser) : kKey), "only who is listed comes in by a key");
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  using skerry::broker::DomainOf;
  using skerry::broker::Door;
  skerry::keys::KeyBytes bytes{};
  skerry::keys::FromZ85(kKey, bytes);
  const std::string key(bytes.begin(), bytes.end());
  const auto asked = [](const std::string& domain, const std::string& mechanism,
                        const std::string& credential) {
    std::string text;
    for (const std::string& frame : {std::string("1.0"), std::string("7"), domain, std::string("127.0.0.1"),
                                     std::string(), mechanism, credential})
      text += AsText(frame);
    return text;
  };
  return {asked(DomainOf(Door::kClientsWithKeys), "CURVE", key),
          asked(DomainOf(Door::kWorkersWithKeys), "CURVE", key),
          asked(DomainOf(Door::kAdminsWithKeys), "CURVE", key),
          asked(DomainOf(Door::kClientsPlain), "NULL", ""),
          asked(DomainOf(Door::kAdminsPlain), "NULL", ""),
          asked(DomainOf(Door::kClientsWithKeys), "PLAIN", "admin"),
          asked("nowhere", "CURVE", key)};
}
