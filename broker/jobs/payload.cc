#include "broker/jobs/payload.h"

#include <cstring>
#include <new>
#include <stdexcept>

namespace skerry::broker {
namespace {

std::uint32_t Checked(std::size_t size) {
  if (size > Payload::kMaxBytes) throw std::length_error("a payload frame of more than 2 GiB");
  return static_cast<std::uint32_t>(size);
}

}  // namespace

Payload::Payload(std::string_view bytes) {
  const std::uint32_t size = Checked(bytes.size());
  if (size == 0) return;
  auto* block = new (::operator new(sizeof(Block) + size)) Block;
  block->size = size;
  std::memcpy(static_cast<void*>(block + 1), bytes.data(), size);
  block_ = block;
}

void Payload::Elsewhere::SetBytes(std::string_view bytes) {
  size = Checked(bytes.size());
  elsewhere = 1;
  data = bytes.data();
}

std::string_view Payload::bytes() const {
  if (block_ == nullptr) return {};
  if (block_->elsewhere != 0) return {static_cast<const Elsewhere*>(block_)->data, block_->size};
  return {reinterpret_cast<const char*>(block_ + 1), block_->size};
}

void Payload::Free(Block* block) {
  if (block->elsewhere != 0) {
    delete static_cast<Elsewhere*>(block);
    return;
  }
  block->~Block();
  ::operator delete(static_cast<void*>(block));
}

}  // namespace skerry::broker
