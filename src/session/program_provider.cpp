// The proposer `python` of run.yaml: an object of the Python program that began the run. What only reads such
// a run needs none; the Python module puts the object itself in this place.
#include "providers.hpp"

namespace kernelsmith {
namespace {

class ProgramProvider final : public ProposerProvider {
 public:
  void read(YamlMap&) override {}
  void write(YamlWriter&) const override {}
  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token&) const override {
    return fail(ErrorCode::unsupported,
                "this run's proposer is an object of the Python program that began it", task.name,
                "go on with it in Python: kernelsmith.run(task, proposer=..., out=RUN)");
  }
  std::vector<OperatorChoice> operators() const override { return {{Operator::rewrite, ""}}; }
};

}  // namespace

std::unique_ptr<ProposerProvider> program_provider() { return std::make_unique<ProgramProvider>(); }

}  // namespace kernelsmith
