// The proposer `chat` of run.yaml: which server, which models, which prompts.
#include <algorithm>

#include <kernelsmith/llm/chat_proposer.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "model_support.hpp"
#include "providers.hpp"

namespace kernelsmith {
namespace {

using std::chrono::milliseconds;

constexpr double kLongestSeconds = 86'400;

const Choices<Protocol> kProtocols =
    choices({Protocol::chat_completions, Protocol::responses, Protocol::messages});

void read_seconds(YamlMap& in, std::string_view key, milliseconds& out) {
  double seconds = std::chrono::duration<double>(out).count();
  in.optional(key, seconds, {0.001, kLongestSeconds});
  out = milliseconds(static_cast<milliseconds::rep>(seconds * 1000));
}

void write_seconds(YamlWriter& out, std::string_view key, milliseconds value) {
  out.put(key, std::chrono::duration<double>(value).count());
}

template <class T>
void read_some(YamlMap& in, std::string_view key, std::optional<T>& out, Range<T> range) {
  if (in.kind(key) == YamlKind::absent) return;
  T value{};
  in.required(key, value, range);
  out = value;
}

template <class T>
void write_some(YamlWriter& out, std::string_view key, const std::optional<T>& value) {
  if (value) out.put(key, *value);
}

void read_model(YamlMap& in, ModelSettings& model) {
  in.required("name", model.name);
  read_some<std::uint64_t>(in, "max_output_tokens", model.max_output_tokens, {1, 100'000'000});
  read_some<double>(in, "temperature", model.temperature, {0, 10});
  read_some<double>(in, "top_p", model.top_p, {0, 1});
  in.optional("reasoning_effort", model.reasoning_effort);
  in.optional("stream", model.stream);
  in.optional("extra_body", model.extra_body);
  if (!in.ok() || model.extra_body.empty()) return;
  ModelCall call;
  call.extra_body = model.extra_body;
  const auto encoded = encode_call(Protocol::chat_completions, call, {});
  if (!encoded) in.refuse("extra_body", encoded.error().message, encoded.error().hint);
}

void write_model(YamlWriter& out, const ModelSettings& model) {
  out.put("name", model.name);
  write_some(out, "max_output_tokens", model.max_output_tokens);
  write_some(out, "temperature", model.temperature);
  write_some(out, "top_p", model.top_p);
  if (!model.reasoning_effort.empty()) out.put("reasoning_effort", model.reasoning_effort);
  out.put("stream", model.stream);
  if (!model.extra_body.empty()) out.put("extra_body", model.extra_body);
}

class ChatProvider final : public ProposerProvider {
 public:
  void read(YamlMap& in) override {
    in.optional("protocol", protocol_, kProtocols);
    in.optional("base_url", base_url_);
    read_key(in);
    in.optional("ca_file", ca_file_);
    in.optional("price_file", price_file_);
    if (in.kind("models") != YamlKind::absent) models_.clear();
    in.optional_maps("models", [&](YamlMap& model) { read_model(model, models_.emplace_back()); });
    prompts_.read(in);
    std::uint64_t concurrency = client_.pacing.concurrency, attempts = client_.retry.attempts;
    in.optional("concurrency", concurrency, {1, 10'000});
    in.optional("attempts", attempts, {1, 1000});
    client_.pacing.concurrency = static_cast<unsigned>(concurrency);
    client_.retry.attempts = static_cast<unsigned>(attempts);
    read_some<double>(in, "requests_per_minute", client_.pacing.requests_per_minute, {0.01, 1e9});
    read_some<double>(in, "tokens_per_minute", client_.pacing.tokens_per_minute, {1, 1e12});
    in.optional_map("limits", [&](YamlMap& map) {
      read_seconds(map, "connect_s", client_.limits.connect);
      read_seconds(map, "first_token_s", client_.limits.first_token);
      read_seconds(map, "silence_s", client_.limits.silence);
      read_seconds(map, "total_s", client_.limits.total);
      map.optional("reply_bytes", client_.limits.reply_bytes, {1024, std::size_t{1} << 30});
    });
  }

  void write(YamlWriter& out) const override {
    out.put("protocol", name_of(protocol_));
    out.put("base_url", base_url_);
    out.put("key", key_);
    out.put("ca_file", ca_file_);
    out.put("price_file", price_file_);
    out.maps("models", models_, write_model);
    prompts_.write(out);
    out.put("concurrency", static_cast<std::uint64_t>(client_.pacing.concurrency));
    out.put("attempts", static_cast<std::uint64_t>(client_.retry.attempts));
    write_some(out, "requests_per_minute", client_.pacing.requests_per_minute);
    write_some(out, "tokens_per_minute", client_.pacing.tokens_per_minute);
    out.map("limits", [&](YamlWriter& map) {
      write_seconds(map, "connect_s", client_.limits.connect);
      write_seconds(map, "first_token_s", client_.limits.first_token);
      write_seconds(map, "silence_s", client_.limits.silence);
      write_seconds(map, "total_s", client_.limits.total);
      map.put("reply_bytes", client_.limits.reply_bytes);
    });
  }

  Result<std::shared_ptr<Proposer>> make(const Task& task) const override {
    auto server = endpoint();
    if (!server) return server.error();
    auto price_table = prices();
    if (!price_table) return price_table.error();
    auto prompts = prompts_.builder(task);
    if (!prompts) return prompts.error();
    auto client = ModelClient::create(std::move(*server), client_);
    if (!client) return client.error();
    auto proposer =
        make_chat_proposer(std::move(*client), std::move(*prompts), task, models_, std::move(*price_table));
    if (!proposer) return proposer;
    return with_tuner(std::move(*proposer));
  }

  /// Edits are shorter, rewrites bolder; a crossover needs two good parents.
  std::vector<Operator> operators() const override {
    return {Operator::rewrite, Operator::edit, Operator::crossover};
  }

  std::optional<unsigned> proposals_in_flight() const override { return client_.pacing.concurrency; }

 private:
  /// A run keeps its configuration in a file: the key itself must not stand there.
  void read_key(YamlMap& in) {
    std::string key = key_;
    in.optional("key", key);
    if (!in.ok()) return;
    const bool is_variable = key.starts_with("${") && key.find('}') == key.size() - 1;
    if (!key.empty() && !is_variable)
      return in.refuse("key", "a key is not written into a file", "name an environment variable: ${NAME}");
    key_ = std::move(key);
  }

  Result<Endpoint> endpoint() const {
    Endpoint server{protocol_, base_url_, {}, ca_file_};
    if (!key_.empty()) {
      auto key = expand_variables(key_);
      if (!key) return key.error();
      server.key = std::move(*key);
    }
    return with_environment(std::move(server));
  }

  Result<PriceTable> prices() const {
    if (price_file_.empty()) return PriceTable{};
    const auto text = read_text_file(price_file_);
    if (!text) return text.error();
    return PriceTable::read(*text, price_file_);
  }

  static ClientOptions few_at_once() {
    ClientOptions options;
    options.pacing.concurrency = 8;  // evaluations are slower than most servers
    return options;
  }

  Protocol protocol_ = Protocol::chat_completions;
  std::string base_url_, key_, ca_file_, price_file_;
  std::vector<ModelSettings> models_;
  PromptSettings prompts_;
  ClientOptions client_ = few_at_once();
};

}  // namespace

std::unique_ptr<ProposerProvider> chat_provider() { return std::make_unique<ChatProvider>(); }

}  // namespace kernelsmith
