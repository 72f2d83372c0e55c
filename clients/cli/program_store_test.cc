#include "clients/cli/program_store.h"

#include <gtest/gtest.h>

namespace skerry::cli {
namespace {

std::shared_ptr<const Program> Of(std::size_t size, char with) {
  return Program::Of(std::string(size, with));
}

TEST(ProgramStore, WhatALineGaveIsFoundByItsHash) {
  ProgramStore store(Bytes(100));
  const auto program = Of(10, 'a');
  store.Keep(program);
  EXPECT_EQ(store.Find(program->hash()), program);
  EXPECT_EQ(store.Find(Of(10, 'b')->hash()), nullptr);
  store.Keep(Of(10, 'a'));
  EXPECT_EQ(store.Find(program->hash()), program) << "the text is kept once";
  EXPECT_EQ(store.bytes(), Bytes(10));
}

TEST(ProgramStore, TheOneThatWasNamedLongestAgoGoesFirst) {
  ProgramStore store(Bytes(100));
  const auto a = Of(40, 'a');
  const auto b = Of(40, 'b');
  store.Keep(a);
  store.Keep(b);
  store.Keep(Of(20, 'c'));
  EXPECT_NE(store.Find(a->hash()), nullptr) << "100 bytes are within the bound";
  store.Keep(Of(1, 'd'));
  EXPECT_EQ(store.Find(b->hash()), nullptr);
  EXPECT_NE(store.Find(a->hash()), nullptr);
  EXPECT_EQ(store.bytes(), Bytes(61));
}

TEST(ProgramStore, TheNewestIsKeptWhateverItsSize) {
  ProgramStore store(Bytes(100));
  const auto small = Of(1, 'a');
  const auto large = Of(101, 'b');
  store.Keep(small);
  store.Keep(large);
  EXPECT_NE(store.Find(large->hash()), nullptr);
  EXPECT_EQ(store.Find(small->hash()), nullptr);
}

}  // namespace
}  // namespace skerry::cli
