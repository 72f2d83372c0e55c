#include "clients/cpp/program.h"

#include <utility>

#include "common/hash.h"

namespace skerry {

std::shared_ptr<const Program> Program::Of(std::string text) {
  return std::shared_ptr<const Program>(new Program(std::move(text)));
}

Program::Program(std::string text) : text_(std::move(text)), hash_(Sha256(text_)) {}

}  // namespace skerry
