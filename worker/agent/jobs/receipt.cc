#include "worker/agent/jobs/receipt.h"

#include <algorithm>
#include <utility>

#include "common/printable.h"
#include "common/version.h"

namespace skerry::agent {
namespace {

/// Of names and versions of our own, which hold nothing that JSON would escape.
std::string Quoted(std::string_view text) {
  std::string plain = PrintableAscii(std::string(text));
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c == '"' || c == '\\'; }, '?');
  return '"' + plain + '"';
}

/// As a job names them: one without a limit leaves it out.
std::string LimitsObject(const Limits& limits) {
  std::string object;
  for (const LimitSpec& spec : kLimitSpecs) {
    if (limits.Get(spec.id) == kUnlimited) continue;
    object += (object.empty() ? "" : ",") + Quoted(spec.name) + ":" + std::to_string(limits.Get(spec.id));
  }
  return "{" + object + "}";
}

/// What `require` gave, as the key and its value; nothing where the job names none.
std::string LibrariesField(const Libraries& libraries) {
  std::string array;
  for (const ShelvedLibrary& shelved : libraries) {
    array += (array.empty() ? "" : ",") + ("{\"name\":" + Quoted(shelved.library->name)) +
             ",\"sha256\":" + Quoted(shelved.sha256) + "}";
  }
  return array.empty() ? "" : ",\"libraries\":[" + array + "]";
}

}  // namespace

bool ContentHashes::HashSome(std::string_view code, std::string_view input) {
  std::size_t left = kPieceBytes;
  const auto add = [&](std::string_view text, std::size_t from, std::string* digest) {
    const std::string_view piece = text.substr(from, left);
    stream_.Add(piece);
    left -= piece.size();
    done_ += piece.size();
    if (from + piece.size() < text.size()) return false;
    *digest = Hex(std::exchange(stream_, Sha256Stream()).Digest());
    return true;
  };
  if (code_.empty() && !add(code, done_, &code_)) return false;
  return !input_.empty() || add(input, done_ - code.size(), &input_);
}

std::string Receipt(const JobPlan& plan, const ContentHashes& content, std::uint64_t seed,
                    const V8Build& v8) {
  const JobSpec& job = plan.dispatch.job;
  return "{\"codeSha256\":" + Quoted(content.code()) + ",\"inputSha256\":" + Quoted(content.input()) +
         ",\"mode\":" + Quoted(NameOf(job.mode)) + ",\"seed\":" + std::to_string(seed) +
         ",\"clock\":" + (job.clock_ms ? std::to_string(*job.clock_ms) : Quoted("real")) +
         ",\"wasm\":" + (job.wasm ? "true" : "false") + ",\"limits\":" + LimitsObject(plan.limits) +
         LibrariesField(plan.libraries) + ",\"skerry\":" + Quoted(kSkerryVersion) +
         ",\"v8\":" + Quoted(v8.version) + ",\"v8Flags\":" + Quoted(v8.flags) + "}";
}

}  // namespace skerry::agent
