// keys::ParseKeyFile and broker::AuthorizedKeys: the files of keys.
#include "common/keys/key_file.h"

#include "broker/door/authorized_keys.h"
#include "tests/fuzz/targets/target.h"

namespace {

using skerry::fuzz::Demand;

const std::string& Secret() {
  static const std::string secret = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs";
  return secret;
}

/// Of the seeds, as lists have it.
const std::string& Listed() {
  static const std::string key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";
  return key;
}

void ReadOwn(const std::string& text) {
  const auto file = skerry::keys::ParseKeyFile(text, "f.key");
  if (!file) {
    Demand(file.error().message.starts_with("f.key"), "a fault names its file");
    Demand(file.error().message.find('\n') == std::string::npos, "a fault is one line");
    Demand(file.error().message.find(Secret()) == std::string::npos, "a fault shows no secret");
    return;
  }
  const auto again = skerry::keys::ParseKeyFile(skerry::keys::KeyFileText(*file), "again");
  Demand(again.has_value(), "what was read can be written and read again");
  Demand(again->role == file->role && again->tenant == file->tenant &&
             again->secret.text() == file->secret.text(),
         "and is the same then");
}

void ReadList(const std::string& text) {
  const auto list = skerry::broker::AuthorizedKeys::Parse(text, "f.toml");
  if (!list) return Demand(list.error().message.starts_with("f.toml"), "a fault names its file");
  Demand(list->size() + list->revoked() <= skerry::broker::AuthorizedKeys::kMaxKeys, "keys are bounded");
  const auto owner = list->Find(Listed());
  Demand(owner == nullptr || owner->name != "revoked", "no list of the revoked lets anybody in");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ReadOwn(text);
  ReadList(text);
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  const std::string key = "\"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"";
  return {
      "# A key.\nrole = \"client\"\ntenant = \"acme\"\npublic = " + key + "\nsecret = \"" + Secret() + "\"\n",
      "role = \"broker\"\npublic = " + key + "\nsecret = \"" + Secret() + "\"",
      "role = \"worker\"\nsecret = \"" + Secret() + "\n",
      "revoked = [" + key + "]\n[clients]\nacme = [" + key + "]\n\"b c\" = []\n[workers]\nrack = " + key +
          "\n",
      "[clients]\na = [" + key + ", " + key + "]\n[other]\n",
      "[admins]\nada = []\nrevoked = [" + key + "]\n"};
}
