// What doctor says about this machine.
#include <cstdlib>

#include <kernelsmith/sandbox/capabilities.hpp>
#include <kernelsmith/sandbox/cgroup.hpp>

#include "programs.hpp"

namespace kernelsmith {
namespace {

TEST(SandboxCapabilities, EveryItemIsThereOrSaysHowToGetIt) {
  const SandboxCapabilities machine = probe_sandbox();
  for (const char* name : {"bubblewrap", "sandbox", "seccomp", "freezer", "cpu clock", "memory limit"}) {
    const SandboxCapability* item = machine.find(name);
    ASSERT_NE(item, nullptr) << name;
    EXPECT_FALSE(item->detail.empty()) << name;
    EXPECT_EQ(item->available, item->remedy.empty()) << name;
  }
}

TEST(SandboxCapabilities, TheTierFollowsFromWhatIsThere) {
  EXPECT_EQ(probe_sandbox().tier(), Cgroup::create() ? "full" : "weak");
  SandboxCapabilities machine = probe_sandbox();
  for (SandboxCapability& item : machine.items)
    if (item.name == "freezer") item.available = false;
  EXPECT_EQ(machine.tier(), "weak");
}

TEST(SandboxCapabilities, WithoutBubblewrapThereIsNoSandbox) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const SandboxCapabilities machine = probe_sandbox();
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(machine.tier(), "unsandboxed");
  EXPECT_NE(machine.find("bubblewrap")->remedy.find("apt-get install bubblewrap"), std::string::npos);
}

}  // namespace
}  // namespace kernelsmith
