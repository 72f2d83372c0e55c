#include "worker/cell/derived_cell.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "worker/cell/control.h"
#include "worker/cell/fork_start.h"
#include "worker/cell/recipe_codec.h"

namespace skerry::cell {
namespace {

[[noreturn]] void Refuse(engine::Unkeepable reason, std::string_view text = {}) {
  SendControl(kControlFd, ControlByte::kRefused, -1, static_cast<std::uint32_t>(reason), text);
  _exit(0);
}

/// Exactly `size` bytes from its beginning: nobody has read from it before.
std::string ReadMemory(int memfd, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const ssize_t got = read(memfd, bytes.data() + at, size - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) _exit(0);
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

CellRecipe TakeRecipe() {
  ControlPacket packet;
  // Any error means that the worker has gone, or changed its mind.
  if (ReceiveControl(kControlFd, &packet) != 0 || packet.byte != ControlByte::kRecipe || !packet.fd.valid())
    _exit(0);
  if (packet.number > kMaxRecipeBytes) _exit(0);
  auto recipe = DecodeRecipe(ReadMemory(packet.fd.get(), packet.number));
  if (!recipe) Refuse(engine::Unkeepable::kFails, recipe.error().message);
  return std::move(*recipe);
}

}  // namespace

Holds DoRecipe(const TemplateOptions& options, Mechanisms held, int control) {
  BeginFork(control, kControlFd);
  const CellRecipe recipe = TakeRecipe();
  for (const auto& library : recipe.libraries) {
    if (auto loaded = options.recipe.load(*library); !loaded)
      Refuse(engine::Unkeepable::kFails, loaded.error().message);
  }
  if (recipe.program) {
    // From here on for ever: the program may have taken over what runs below.
    if (LockDownProgramCell(held, kControlFd) != 0) _exit(kLockDownFailed);
    if (const auto reason = options.recipe.keep(*recipe.program)) Refuse(*reason);
  }
  options.settle();
  if (SendControl(kControlFd, ControlByte::kReady, -1) != 0) _exit(0);
  return recipe.program ? Holds::kAProgram : Holds::kNoTenantsCode;
}

}  // namespace skerry::cell
