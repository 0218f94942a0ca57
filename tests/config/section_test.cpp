// One list of keys, in three directions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelsmith/config/provider.hpp>

namespace kernelsmith {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum class Shape { round, square };

struct Item {
  std::string name;
  unsigned count = 1;
};

struct Values {
  bool loud = false;
  unsigned workers = 2;
  std::chrono::milliseconds pause{1500};
  Shape shape = Shape::round;
  std::optional<double> limit;
  std::string folder, note;
  std::vector<Item> items;

  void list(Section& io) {
    io("loud", loud, "whether it speaks");
    io("workers", workers, {1, 9}, "at a time");
    io.by_default("the cores");
    io.map("times", [this](Section& times) { times("pause_s", pause, {0, 60}, "between two"); });
    io("shape", shape, Choices<Shape>{{"round", Shape::round}, {"square", Shape::square}}, "of it");
    io.maybe("limit", limit, {0, 1}, "the most");
    io.kept_path("folder", folder, "where it lies");
    io.unless_empty("note", note, "in words");
    io.maps("items", items, "none", "what it holds", [](Section& one, Item& item) {
      one.needed("name", item.name, "of the item");
      one("count", item.count, {0, 5}, "how many");
    });
  }
};

Status read(std::string_view yaml, Values& values) {
  return read_yaml(yaml, "f", [&](YamlMap& in) {
    Section io(in);
    values.list(io);
  });
}

std::string written(Values values) {
  YamlWriter out;
  Section io(out);
  values.list(io);
  return out.finish();
}

TEST(Section, WritesWhatItReads) {
  const std::string yaml =
      "loud: true\nworkers: 3\ntimes:\n  pause_s: 0.25\nshape: square\nlimit: 0.5\nfolder: /a/b\nnote: n\n"
      "items:\n  - name: x\n    count: 0\n  - name: y\n    count: 5\n";
  Values values;
  ASSERT_TRUE(read(yaml, values));
  EXPECT_EQ(values.pause, std::chrono::milliseconds(250));
  EXPECT_EQ(written(values), yaml);
  const std::string usual = written({});
  EXPECT_EQ(usual.find("limit"), usual.npos) << "absent";
  EXPECT_EQ(usual.find("note"), usual.npos) << "empty";
  ASSERT_TRUE(read("items: [{name: z}]", values));
  EXPECT_EQ(values.items.size(), 1u) << "a list replaces the one before";
  EXPECT_TRUE(values.loud) << "what is absent keeps its value";
}

TEST(Section, RefusesAsItsListSays) {
  const auto refusal = [](const char* yaml) {
    Values values;
    const Status status = read(yaml, values);
    return status ? "" : describe(status.error());
  };
  EXPECT_THAT(refusal("workers: 10"), HasSubstr("from 1 to 9, found '10'"));
  EXPECT_THAT(refusal("times: {pause_s: 61}"), HasSubstr("'times.pause_s' must be a number from 0 to 60"));
  EXPECT_THAT(refusal("shape: rond"), HasSubstr("did you mean round?"));
  EXPECT_THAT(refusal("items: [{count: 1}]"), HasSubstr("key 'items[0].name' is missing"));
  EXPECT_THAT(refusal("items: [{name: ''}]"), HasSubstr("'items[0].name' is empty"));
  EXPECT_THAT(refusal("worker: 1"), HasSubstr("did you mean workers?"));
}

TEST(Section, TellsWhatItsKeysAre) {
  std::vector<SettingText> texts;
  Section io(texts);
  Values().list(io);
  std::vector<std::string> told;
  for (const SettingText& text : texts)
    told.push_back(text.key + " = " + text.usual + " (" + text.takes + ")");
  EXPECT_THAT(told,
              ElementsAre("loud = false (true or false)", "workers = the cores (a whole number from 1 to 9)",
                          "times.pause_s = 1.5 (a number from 0 to 60)", "shape = round (`round`, `square`)",
                          "limit =  (a number from 0 to 1)", "folder =  (a path)", "note =  (a text)",
                          "items = none (a list of mappings)", "items[].name = needed (a text)",
                          "items[].count = 1 (a whole number from 0 to 5)"));
}

TEST(Provider, KnowsWhatOnlyARunFolderSays) {
  struct Fleet final : Provider<int> {
    Result<std::shared_ptr<int>> make(const Task&, const std::stop_token&) const override { return nullptr; }
    void list(Section& io) override {
      io("sandbox", sandbox, "");
      io.map("fleet", [this](Section& fleet) { fleet("server", server, ""); });
    }
    bool is_stored(const char* key) const { return is_only_stored(key); }
    std::string sandbox, server;
  };
  Fleet fleet;
  const auto lay = [&](const char* yaml) {
    ASSERT_TRUE(read_yaml(yaml, "f", [&](YamlMap& in) {
      Section io(in);
      io.map("evaluator", [&](Section& section) { fleet.settings(section); });
    }));
  };
  lay("evaluator: {sandbox: none, fleet: {server: s}}");
  EXPECT_FALSE(fleet.is_stored("sandbox"));
  fleet.mark_untrusted();
  EXPECT_TRUE(fleet.is_stored("sandbox"));
  EXPECT_TRUE(fleet.is_stored("fleet.server"));
  lay("evaluator: {fleet: {server: t}}");
  EXPECT_FALSE(fleet.is_stored("fleet.server")) << "the user's word";
  EXPECT_TRUE(fleet.is_stored("sandbox"));
}

}  // namespace
}  // namespace kernelsmith
