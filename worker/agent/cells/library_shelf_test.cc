#include "worker/agent/cells/library_shelf.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/hash.h"
#include "worker/agent/testing/fake_root.h"

namespace skerry::agent {
namespace {

class LibraryShelfTest : public ::testing::Test {
 protected:
  std::string File(const std::string& name, const std::string& text) {
    root_.Write(name, text);
    return root_.path() / name;
  }
  static std::string Faults(const std::vector<LibraryFile>& files) {
    const auto shelf = LibraryShelf::Read(files);
    return shelf ? "" : shelf.error().message;
  }

  FakeRoot root_;
};

TEST_F(LibraryShelfTest, ReadsFilesAndGivesThoseThatAJobNamesInTheOperatorsOrder) {
  const auto shelf = LibraryShelf::Read({{"z/1", File("z.js", "exports.z = 1")},
                                         {"@scope/a.b_c-d", File("a.js", "")},
                                         {"m", File("m.js", "exports.m = 'é'")}});
  ASSERT_TRUE(shelf) << shelf.error().message;
  EXPECT_EQ(shelf->names(), (std::vector<std::string>{"z/1", "@scope/a.b_c-d", "m"}));
  const auto picked = shelf->Pick({"m", "z/1", "m"});
  ASSERT_TRUE(picked);
  ASSERT_EQ(picked->size(), 2u);
  EXPECT_EQ((*picked)[0].library->name, "z/1");
  EXPECT_EQ((*picked)[0].library->code, "exports.z = 1");
  EXPECT_EQ((*picked)[0].sha256, Hex(Sha256("exports.z = 1")));
  EXPECT_EQ((*picked)[1].library->name, "m");
  EXPECT_TRUE(shelf->Pick({})->empty());
  EXPECT_EQ(shelf->Pick({"m", "x\n"}).error().message, "library 'x?' is not known to this worker");
}

TEST_F(LibraryShelfTest, ListsEveryFaultOfEveryFile) {
  const std::string good = File("good.js", "1");
  EXPECT_EQ(Faults({{"", good},
                    {"a b", good},
                    {"a", "/nowhere/at/all"},
                    {"b", good},
                    {"b", good},
                    {"c", File("c", "\xff")},
                    {"d", root_.path()}}),
            "libraries: : a library's name is 1 to 64 of A-Z a-z 0-9 @ / . _ -\n"
            "libraries: a b: a library's name is 1 to 64 of A-Z a-z 0-9 @ / . _ -\n"
            "libraries: a: '/nowhere/at/all' cannot be read: No such file or directory\n"
            "libraries: b: is there twice\n"
            "libraries: c: '" +
                (root_.path() / "c").string() +
                "' is not UTF-8\n"
                "libraries: d: '" +
                root_.path().string() + "' is not a regular file");
}

TEST_F(LibraryShelfTest, TakesExactlyItsBoundsAndNothingPastThem) {
  const std::string good = File("good.js", "1");
  EXPECT_EQ(Faults({{std::string(64, 'x'), good}}), "");
  EXPECT_NE(Faults({{std::string(65, 'x'), good}}), "");
  std::vector<LibraryFile> many;
  for (int i = 0; i < 64; ++i) many.push_back({"l" + std::to_string(i), good});
  EXPECT_EQ(Faults(many), "");
  many.push_back({"l64", good});
  EXPECT_EQ(Faults(many), "libraries: at most 64, not 65");
  EXPECT_EQ(Faults({{"big", File("big.js", std::string(kMaxLibraryBytes, ' '))}}), "");
  const std::string larger = File("larger.js", std::string(kMaxLibraryBytes + 1, ' '));
  EXPECT_EQ(Faults({{"larger", larger}}), "libraries: larger: '" + larger + "' is larger than 8 MiB");
}

TEST_F(LibraryShelfTest, IsNotHeldUpByAFifo) {
  const std::string fifo = root_.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(Faults({{"f", fifo}}), "libraries: f: '" + fifo + "' is not a regular file");
}

}  // namespace
}  // namespace skerry::agent
