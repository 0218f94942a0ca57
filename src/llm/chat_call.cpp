#include "chat_call.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <kernelsmith/prompts/tokens.hpp>

namespace kernelsmith::llm {
namespace {

/// The tokens to add to the reported ones. Some servers report the usage before the text, and some count
/// nothing, so the estimate is used if the server reports less than a quarter of it.
std::uint64_t missing(std::uint64_t told, std::uint64_t estimated) {
  return told < estimated / 4 ? estimated - told : 0;
}

}  // namespace

std::string beginning_of(const std::string& text, std::size_t bytes) {
  std::size_t end = std::min(bytes, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

Sampling sampling_of(const ModelCall& call) {
  return {call.temperature, call.top_p, call.max_output_tokens, call.reasoning_effort};
}

ModelCall call_of(const ModelSettings& model, const KeepOptions& keep) {
  ModelCall call;
  call.model = model.name;
  call.max_output_tokens = model.max_output_tokens;
  call.temperature = model.temperature;
  call.top_p = model.top_p;
  call.reasoning_effort = model.reasoning_effort;
  call.stream = model.stream;
  call.extra_body = model.extra_body;
  call.logprobs = keep.logprobs;
  call.token_ids = keep.token_ids;
  return call;
}

void add_tokens(const Usage& usage, Cost& cost) {
  cost.input_tokens += usage.input_tokens;
  cost.output_tokens += usage.output_tokens;
  if (usage.cached_tokens > 0) cost.cached_tokens = cost.cached_tokens.value_or(0) + usage.cached_tokens;
  if (usage.reasoning_tokens > 0)
    cost.reasoning_tokens = cost.reasoning_tokens.value_or(0) + usage.reasoning_tokens;
}

Bill::Bill(const std::string& model, std::optional<Price> price) : price_(price) {
  cost_.model = model;
  cost_.unpriced = !price;
}

void Bill::add(const ModelReply& reply, std::uint64_t prompt_tokens) {
  if (const std::string known_as = cost_.model + "@"; reply.model.starts_with(known_as))
    cost_.revision = beginning_of(reply.model.substr(known_as.size()), kNameBytes);
  add(reply.usage);
  const std::uint64_t output = estimate_tokens(reply.text) + estimate_tokens(reply.reasoning);
  if (!reply.usage) return guess(prompt_tokens, output);
  guess(missing(reply.usage->input_tokens, prompt_tokens), missing(reply.usage->output_tokens, output));
}

void Bill::add(const LostCall& lost, std::uint64_t prompt_tokens) {
  add(lost.usage);
  const std::uint64_t output = estimate_tokens(lost.text);
  if (!lost.usage) return guess(prompt_tokens, output);
  const std::uint64_t told = lost.usage->output_tokens;
  guess(missing(lost.usage->input_tokens, prompt_tokens), output > told ? output - told : 0);
}

void Bill::add(const std::optional<Usage>& usage) {
  ++cost_.calls;
  if (!usage) {
    ++cost_.untold;
    return;
  }
  add_tokens(*usage, cost_);
  if (price_) cost_.usd += cost_of(*usage, *price_);
}

void Bill::guess(std::uint64_t input_tokens, std::uint64_t output_tokens) {
  if (!price_) return;
  cost_.guessed_usd += cost_of(Usage{.input_tokens = input_tokens, .output_tokens = output_tokens}, *price_);
}

namespace {

/// One question while its call is in flight. Used on the client's thread.
class PendingReply {
 public:
  explicit PendingReply(Question question)
      : question_(std::move(question)), bill_(question_.call.model, question_.price) {}

  void lose(const LostCall& lost) {
    if (!question_.request.lost) return bill_.add(lost, question_.prompt.tokens);
    Bill one(question_.call.model, question_.price);
    one.add(lost, question_.prompt.tokens);
    question_.request.lost(one.cost());
  }

  Result<Proposal> answer(const Result<ModelReply>& reply) {
    const Prompt& prompt = question_.prompt;
    if (!reply && bill_.empty()) return reply.error();
    if (!reply) return Proposal{PaidError(reply.error()), bill_.cost(), prompt.digest()};
    bill_.add(*reply, prompt.tokens);
    Proposal proposal = proposal_from(*reply, question_.request, prompt, question_.blank);
    proposal.cost = bill_.cost();
    if (question_.keep.any())
      proposal.reply = kept_of(*reply, prompt, sampling_of(question_.call), question_.keep.bytes);
    return proposal;
  }

 private:
  Question question_;
  Bill bill_;
};

}  // namespace

void ask(ModelClient& client, Question question, std::stop_token stop, Sink<Proposal> done) {
  ModelCall call = question.call;
  question.call.messages.clear();
  const std::stop_token ending = question.request.ending;
  const auto pending = std::make_shared<PendingReply>(std::move(question));
  client.start(
      std::move(call), std::move(stop),
      [pending, done = std::move(done)](const Result<ModelReply>& reply) { done(pending->answer(reply)); },
      [pending](const LostCall& lost) { pending->lose(lost); }, ending);
}

}  // namespace kernelsmith::llm
