// Engine::open: begins a run, or continues the one in a folder.
#include <kernelsmith/engine/engine.hpp>
#include <kernelsmith/store/run_store.hpp>

namespace kernelsmith {
namespace {

/// The run.yaml of a run whose options are in the program that began it.
constexpr const char* kConfiguration =
    "# Begun by a program that links kernelsmith; its options stand there.\n";

}  // namespace

Result<Engine> Engine::open(const std::filesystem::path& path, EngineOptions options,
                            std::shared_ptr<Evaluator> evaluator, std::shared_ptr<Proposer> proposer) {
  std::error_code ignored;
  const bool fresh = !std::filesystem::exists(path / "run.db", ignored);
  auto store = fresh ? RunStore::create(path, kConfiguration) : RunStore::open(path);
  if (!store) return store.error();
  options.run = (*store)->run_id();
  return create(std::move(*store), std::move(options), std::move(evaluator), std::move(proposer));
}

}  // namespace kernelsmith
