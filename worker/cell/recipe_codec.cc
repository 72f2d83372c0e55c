#include "worker/cell/recipe_codec.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "common/library_name.h"
#include "common/wire/codec.h"

namespace skerry::cell {
namespace {

constexpr std::size_t kSizeBytes = 4;

void AppendSize(std::string& bytes, std::size_t size) {
  for (std::size_t i = 0; i < kSizeBytes; ++i) bytes += static_cast<char>(size >> (8 * i));
}

void AppendPair(std::string& bytes, std::string_view first, std::string_view second) {
  AppendSize(bytes, first.size());
  AppendSize(bytes, second.size());
  bytes += first;
  bytes += second;
}

/// Takes bytes off the front of a text; after one that is not there, nothing is any more.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::string_view> Take(std::size_t count) {
    if (count > bytes_.size()) return std::nullopt;
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  /// Two texts behind their sizes.
  std::optional<std::pair<std::string_view, std::string_view>> TakePair() {
    const auto first = TakeSize();
    const auto second = TakeSize();
    if (!first || !second) return std::nullopt;
    const auto one = Take(*first);
    const auto two = one ? Take(*second) : std::nullopt;
    if (!two) return std::nullopt;
    return std::pair(*one, *two);
  }
  bool AtEnd() const { return bytes_.empty(); }

 private:
  std::optional<std::size_t> TakeSize() {
    const auto bytes = Take(kSizeBytes);
    if (!bytes) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t i = 0; i < kSizeBytes; ++i)
      size |= static_cast<std::size_t>(static_cast<unsigned char>((*bytes)[i])) << (8 * i);
    return size;
  }

  std::string_view bytes_;
};

tl::unexpected<Error> Refuse(const std::string& why) {
  return Fail(ErrorKind::kInvalid, "a cell's recipe " + why);
}

Result<CellProgram> ProgramFrom(std::string_view header, std::string_view code) {
  auto decoded = wire::Decode(header);
  if (!decoded) return Refuse("has a bad job: " + decoded.error().message);
  auto* const dispatch = std::get_if<wire::Dispatch>(&*decoded);
  if (dispatch == nullptr) return Refuse("has another message in its job's place");
  return CellProgram{std::move(dispatch->job), std::string(code)};
}

}  // namespace

Result<std::string> EncodeRecipe(const CellRecipe& recipe) {
  if (recipe.libraries.size() > kMaxLibraries) return Refuse("has too many libraries");
  std::size_t total = 0;
  for (const auto& library : recipe.libraries) {
    if (library->name.empty() || library->name.size() > kMaxLibraryNameBytes)
      return Refuse("has a library whose name is empty or too long");
    total += library->name.size() + library->code.size() + 2 * kSizeBytes;
  }
  if (recipe.program) total += recipe.program->code.size() + wire::kMaxHeaderBytes + 2 * kSizeBytes;
  if (total + 3 > kMaxRecipeBytes)
    return Refuse("is larger than " + std::to_string(kMaxRecipeBytes) + " bytes");
  std::string bytes;
  bytes.reserve(total + 3);
  bytes += kRecipeVersion;
  bytes += static_cast<char>(recipe.libraries.size());
  bytes += static_cast<char>(recipe.program.has_value());
  for (const auto& library : recipe.libraries) AppendPair(bytes, library->name, library->code);
  if (recipe.program) {
    wire::Dispatch dispatch;
    dispatch.job = recipe.program->job;
    AppendPair(bytes, wire::Encode(dispatch), recipe.program->code);
  }
  return bytes;
}

Result<CellRecipe> DecodeRecipe(std::string_view bytes) {
  if (bytes.size() > kMaxRecipeBytes) return Refuse("is too large");
  Reader reader(bytes);
  const auto head = reader.Take(3);
  if (!head || (*head)[0] != kRecipeVersion) return Refuse("is of another version, or none");
  const auto count = static_cast<unsigned char>((*head)[1]);
  const char has_program = (*head)[2];
  if (count > kMaxLibraries || has_program < 0 || has_program > 1) return Refuse("is malformed");
  CellRecipe recipe;
  for (int i = 0; i < count; ++i) {
    const auto pair = reader.TakePair();
    if (!pair || pair->first.empty() || pair->first.size() > kMaxLibraryNameBytes)
      return Refuse("has a malformed library");
    recipe.libraries.push_back(
        std::make_shared<const Library>(Library{std::string(pair->first), std::string(pair->second)}));
  }
  if (has_program == 1) {
    const auto pair = reader.TakePair();
    if (!pair || pair->first.size() > wire::kMaxHeaderBytes) return Refuse("has a malformed program");
    auto program = ProgramFrom(pair->first, pair->second);
    if (!program) return Fail(program.error());
    recipe.program = std::move(*program);
  }
  if (!reader.AtEnd()) return Refuse("has more bytes than it says");
  return recipe;
}

}  // namespace skerry::cell
