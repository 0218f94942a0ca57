#include "roster.hpp"

namespace kernelsmith::fleet {
namespace {

TEST(Roster, OneKindNeedsNoChoice) {
  EXPECT_EQ(choose_hardware({"NVIDIA H100"}, "").value(), "NVIDIA H100");
  EXPECT_EQ(choose_hardware({""}, "").value(), "");
  EXPECT_EQ(choose_hardware({""}, "H100").value(), "");  // scores do not depend on it
}

TEST(Roster, WithoutWorkersThereIsNone) { EXPECT_EQ(choose_hardware({}, "H100").value(), std::nullopt); }

TEST(Roster, SeveralKindsAreNamed) {
  const auto chosen = choose_hardware({"NVIDIA H100", "NVIDIA H200"}, "nvidia");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(chosen.error().message.find("\"NVIDIA H100\", \"NVIDIA H200\""), std::string::npos);
}

TEST(Roster, APartOfTheNameChooses) {
  EXPECT_EQ(choose_hardware({"NVIDIA H100", "NVIDIA H200"}, "h200").value(), "NVIDIA H200");
  EXPECT_EQ(choose_hardware({"H100", "H100 NVL"}, "H100").value(), "H100");
  EXPECT_FALSE(choose_hardware({"H100", "H200"}, "A100"));
}

TEST(Roster, OnlyTheBackendCounts) {
  const std::vector<WorkerEntry> workers = {{"a", "", {{"cuda", "H100", 1}, {"cpu", "x86", 1}}},
                                            {"b", "", {{"cuda", "H200", 1}}}};
  EXPECT_EQ(hardware_of(workers, "cuda"), (std::set<std::string>{"H100", "H200"}));
  EXPECT_EQ(hardware_of(workers, "torch"), std::set<std::string>{});
}

}  // namespace
}  // namespace kernelsmith::fleet
