// The proposer `chat` of run.yaml: which server, which models, which prompts.
#include <algorithm>
#include <iterator>

#include <kernelsmith/llm/chat_model.hpp>
#include <kernelsmith/llm/chat_proposer.hpp>
#include <kernelsmith/prompts/tokens.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "model_support.hpp"
#include "model_yaml.hpp"
#include "providers.hpp"
#include "seconds.hpp"
#include "server_exam.hpp"

namespace kernelsmith {
namespace {

using std::chrono::milliseconds;

const Choices<Protocol> kProtocols =
    choices({Protocol::chat_completions, Protocol::responses, Protocol::messages});

void write_seconds(YamlWriter& out, std::string_view key, milliseconds value) {
  out.put(key, std::chrono::duration<double>(value).count());
}

class ChatProvider final : public ProposerProvider {
 public:
  void read(YamlMap& in) override {
    in.optional("protocol", protocol_, kProtocols);
    in.optional("base_url", base_url_);
    if (in.kind("base_url") != YamlKind::absent) stored_url_ = false;
    read_key(in);
    if (in.kind("key") != YamlKind::absent) stored_key_ = false;
    in.optional("ca_file", ca_file_);
    in.optional("price_file", price_file_);
    if (in.kind("models") != YamlKind::absent) models_.clear();
    in.optional_maps("models", [&](YamlMap& model) { read_model(model, protocol_, models_.emplace_back()); });
    prompts_.read(in);
    in.optional_map("keep", [&](YamlMap& map) {
      map.optional("text", keep_.text);
      map.optional("logprobs", keep_.logprobs);
      map.optional("token_ids", keep_.token_ids);
      map.optional("bytes", keep_.bytes, {1024, std::size_t{1} << 30});
    });
    std::uint64_t concurrency = client_.pacing.concurrency, attempts = client_.retry.attempts;
    in.optional("concurrency", concurrency, {1, 10'000});
    in.optional("attempts", attempts, {1, 1000});
    client_.pacing.concurrency = static_cast<unsigned>(concurrency);
    client_.retry.attempts = static_cast<unsigned>(attempts);
    read_some<double>(in, "requests_per_minute", client_.pacing.requests_per_minute, {0.01, 1e9});
    read_some<double>(in, "tokens_per_minute", client_.pacing.tokens_per_minute, {1, 1e12});
    in.optional_map("limits", [&](YamlMap& map) {
      read_seconds(map, "connect_s", 0.001, client_.limits.connect);
      read_seconds(map, "first_token_s", 0.001, client_.limits.first_token);
      read_seconds(map, "silence_s", 0.001, client_.limits.silence);
      read_seconds(map, "total_s", 0.001, client_.limits.total);
      map.optional("reply_bytes", client_.limits.reply_bytes, {1024, std::size_t{1} << 30});
    });
  }

  void write(YamlWriter& out) const override {
    out.put("protocol", name_of(protocol_));
    // As it is used: in another shell the environment would name another server, or none.
    out.put("base_url", with_environment({protocol_, base_url_, {}, ""}).base_url);
    out.put("key", key_);
    out.put("ca_file", kept_path(ca_file_));
    out.put("price_file", kept_path(price_file_));
    out.maps("models", models_, write_model);
    prompts_.write(out);
    out.map("keep", [&](YamlWriter& map) {
      map.put("text", keep_.text);
      map.put("logprobs", keep_.logprobs);
      map.put("token_ids", keep_.token_ids);
      map.put("bytes", keep_.bytes);
    });
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

  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token&) const override {
    auto proposer = assemble(task);
    if (!proposer) return proposer;
    if (const Status key = check_key(*endpoint()); !key) return key.error();
    return proposer;
  }

  Result<std::shared_ptr<ChatModel>> chat_model() const override {
    if (models_.size() != 1)
      return fail(ErrorCode::invalid_argument,
                  "a conversation is with one model, and " + std::to_string(models_.size()) + " are named",
                  place() + ".models", "name one: --model NAME");
    auto client = connect();
    if (!client) return client.error();
    if (const Status key = check_key(*endpoint()); !key) return key.error();
    const auto table = prices();
    if (!table) return table.error();
    return make_chat_model(std::move(*client), models_.front(), table->price_of(models_.front().name), keep_);
  }

  Result<CallPlanner> planner(const Task& task) const override {
    auto prompts = prompts_.builder(task);
    if (!prompts) return prompts.error();
    const auto table = prices();
    if (!table) return table.error();
    std::vector<CallTerms> terms;
    for (const ModelSettings& model : models_) terms.push_back(terms_of(model, *table));
    return CallPlanner([prompts = std::move(*prompts), terms = std::move(terms)](
                           const ProposalRequest& request) { return plan(prompts, terms, request); });
  }

  ProposerExam examine(const Task& task, const std::stop_token& stop) const override {
    ProposerExam exam;
    exam.prompts = prompts_.options();
    if (const auto made = assemble(task); !made) {
      exam.checks.push_back({"proposer", DryCheck::Verdict::failed, "", made.error()});
      return exam;
    }
    exam.checks.push_back({"proposer", DryCheck::Verdict::ok, "prompts, prices and models can be read", {}});
    const Endpoint server = *endpoint();
    if (const Status key = check_key(server); !key)
      exam.checks.push_back({"key", DryCheck::Verdict::failed, "", key.error()});
    else
      std::ranges::move(examine_server(server, client_.limits, models(), stop),
                        std::back_inserter(exam.checks));
    const PriceTable table = *prices();
    for (const ModelSettings& model : models_) exam.calls.push_back(terms_of(model, table));
    return exam;
  }

  Status check_prices() const override {
    const auto table = prices();
    if (!table) return table.error();
    for (const ModelSettings& model : models_) {
      if (!table->price_of(model.name))
        return fail(ErrorCode::invalid_argument,
                    "the model \"" + model.name + "\" has no price, so a budget of money cannot be kept",
                    price_file_.empty() ? "--max-usd (budgets.usd)" : price_file_,
                    price_file_.empty()
                        ? "name a file that says what its tokens cost: " +
                              std::string(is_arm() ? "" : "run --price-file FILE, or resume ") + "--set " +
                              place() + ".price_file=FILE (docs/llm.md)"
                        : "add an entry for it (docs/llm.md)");
    }
    if (!is_free()) return {};
    return fail(ErrorCode::invalid_argument, "every price is zero, so a budget of money would never end",
                price_file_, "leave --max-usd out");
  }

  bool is_free() const override {
    const auto table = prices();
    return table && !models_.empty() && std::ranges::all_of(models_, [&](const ModelSettings& model) {
             const auto price = table->price_of(model.name);
             return price && price->input <= 0 && price->output <= 0;
           });
  }

  void observe(const std::shared_ptr<Observer>& observer) override { observer_ = observer; }

  void mark_untrusted() override { stored_url_ = stored_key_ = true; }

  std::vector<std::string> settings_to_reconfirm() const override {
    if (key_.empty() || is_named_as_key()) return {};
    return {"key=" + key_};
  }

  std::vector<std::string> models() const override {
    std::vector<std::string> names;
    for (const ModelSettings& model : models_) names.push_back(model.name);
    return names;
  }

  void describe_backend(const BackendDescription& backend) override { prompts_.backend = backend; }
  void show_notes(const std::vector<PromptNote>& notes) override { prompts_.notes = notes; }

  std::optional<PromptOptions> prompts(const std::string&) const override { return prompts_.options(); }

  std::string destination() const override {
    const auto server = endpoint();
    if (!server) return {};
    const std::string key = server->key.empty() ? "without a key" : "with the key in $" + key_variable();
    return "models are asked at " + server->base_url + ", " + key;
  }

  std::string server_to_reconfirm() const override {
    const auto server = unchecked_endpoint();
    return server && is_for_its_user_to_say(*server) ? server->base_url : std::string();
  }

  /// Edits are shorter, rewrites bolder; a crossover needs two good parents.
  std::vector<OperatorChoice> operators() const override {
    return {{Operator::rewrite, ""}, {Operator::edit, ""}, {Operator::crossover, ""}};
  }

  std::optional<unsigned> proposals_in_flight() const override { return client_.pacing.concurrency; }

 private:
  Result<std::shared_ptr<Proposer>> assemble(const Task& task) const {
    auto client = connect();
    if (!client) return client.error();
    auto price_table = prices();
    if (!price_table) return price_table.error();
    auto prompts = prompts_.builder(task);
    if (!prompts) return prompts.error();
    auto proposer =
        make_chat_proposer(std::move(*client), std::move(*prompts), models_, std::move(*price_table), keep_);
    if (!proposer) return proposer;
    return with_tuner(std::move(*proposer));
  }

  Result<std::shared_ptr<ModelClient>> connect() const {
    auto server = endpoint();
    if (!server) return server.error();
    for (const ModelSettings& model : models_)
      if (server->key.stands_in(model.extra_body) || server->key.stands_in(model.name))
        return fail(ErrorCode::invalid_argument,
                    "a model's settings hold the key, and they are kept in a file", place() + ".models",
                    "the key goes into $" + key_variable() + " alone");
    ClientOptions options = client_;
    if (observer_) options.notice = bounded_notices(observer_);
    auto client = ModelClient::create(std::move(*server), std::move(options));
    if (client) return client;
    Error error = client.error();
    if (error.where == "base URL" && base_url_.empty())
      error.where = protocol_ == Protocol::messages ? "$ANTHROPIC_BASE_URL" : "$OPENAI_BASE_URL";
    return error;
  }

  /// Fails for a server that is known to answer nothing without a key; else the first call would fail, after
  /// all seeds.
  Status check_key(const Endpoint& server) const {
    if (!server.key.empty() || !wants_key(server.base_url)) return {};
    const std::string variable = key_variable();
    return fail(ErrorCode::not_found,
                "no key is set, and " + server.base_url + " answers nothing without one", "$" + variable,
                "export " + variable + "=..., or name another variable: --set '" + place() + ".key=${NAME}'");
  }

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

  static std::uint64_t tokens_of(const Source& source) {
    std::uint64_t tokens = 0;
    for (const SourceFile& file : source.files()) tokens += estimate_tokens(file.text);
    return tokens;
  }

  static std::optional<PlannedCall> plan(const PromptBuilder& prompts, const std::vector<CallTerms>& models,
                                         const ProposalRequest& request) {
    if (request.op == Operator::tune) return std::nullopt;
    const auto prompt = prompts.build(request);
    if (!prompt) return std::nullopt;
    PlannedCall call{prompt->digest(), std::nullopt};
    const auto own = std::ranges::find_if(models, [&](const CallTerms& terms) {
      return request.model.empty() || terms.model == request.model;
    });
    if (own == models.end() || !own->input_usd || !own->output_usd) return call;
    const std::uint64_t reply = own->most_reply_tokens.value_or(
        request.selection.parent ? tokens_of(request.selection.parent->program->source) : 0);
    call.usd =
        static_cast<double>(prompt->tokens) * *own->input_usd + static_cast<double>(reply) * *own->output_usd;
    return call;
  }

  CallTerms terms_of(const ModelSettings& model, const PriceTable& table) const {
    constexpr double kPer = 1e-6;
    CallTerms terms;
    terms.model = model.name;
    terms.most_prompt_tokens = prompts_.budget_tokens;
    const std::uint64_t default_limit = traits_of(protocol_, model.name).default_token_limit;
    terms.most_reply_tokens = model.max_output_tokens;
    if (!terms.most_reply_tokens && default_limit > 0) terms.most_reply_tokens = default_limit;
    if (const auto price = table.price_of(model.name)) {
      terms.input_usd = kPer * price->input;
      terms.output_usd = kPer * price->output;
    }
    return terms;
  }

  /// The command's own options are those of a run's one proposer.
  bool is_arm() const { return place() != "proposer"; }

  std::string key_variable() const {
    if (!key_.empty()) return key_.substr(2, key_.size() - 3);
    return protocol_ == Protocol::messages ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
  }

  bool is_named_as_key() const { return key_variable().ends_with("API_KEY"); }

  /// Whether a key would leave for a server that neither the environment names nor the protocol's provider
  /// runs.
  bool is_for_its_user_to_say(const Endpoint& server) const {
    return !server.key.empty() && !is_loopback(server.base_url) &&
           server.base_url != provider_url(protocol_) &&
           server.base_url != with_environment({protocol_, "", {}, ""}).base_url;
  }

  /// Run folders are handed on: what stands in one does not decide where this machine's secrets go.
  Result<Endpoint> endpoint() const {
    auto server = unchecked_endpoint();
    if (!server) return server;
    const std::string variable = key_variable();
    if (stored_key_ && !key_.empty() && !is_named_as_key())
      return fail(ErrorCode::invalid_argument,
                  "this run takes $" + variable + " for the key, which is not named as an API key is",
                  place() + ".key",
                  "if it is one, say so: kernelsmith resume RUN --set '" + place() + ".key=${" + variable +
                      "}'; or put it into a variable whose name ends in API_KEY, and name that in run.yaml");
    if (stored_url_ && is_for_its_user_to_say(*server))
      return fail(ErrorCode::invalid_argument, "this run would send $" + variable + " to " + server->base_url,
                  place() + ".base_url",
                  "if you trust that server, name it: kernelsmith resume RUN " +
                      (is_arm() ? "--set " + place() + ".base_url=URL" : "--base-url URL") + ", or " +
                      std::string(protocol_ == Protocol::messages ? "ANTHROPIC" : "OPENAI") + "_BASE_URL");
    return server;
  }

  Result<Endpoint> unchecked_endpoint() const {
    Endpoint server{protocol_, base_url_, {}, ca_file_};
    if (!key_.empty()) {
      auto key = expand_variables(key_);
      if (!key) return key.error();
      server.key = std::move(*key);
    }
    return with_environment(std::move(server));
  }

  /// Many calls that are tried again say the same.
  static std::function<void(const Notice&)> bounded_notices(std::shared_ptr<Observer> observer) {
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kBetween{10};
    return [observer = std::move(observer), next = Clock::time_point()](const Notice& notice) mutable {
      if (notice.level == Notice::Level::info && Clock::now() < next) return;
      next = Clock::now() + kBetween;
      observer->on_notice(notice);
    };
  }

  Result<PriceTable> prices() const {
    if (price_file_.empty()) return PriceTable{};
    std::error_code ignored;
    const auto kind = std::filesystem::status(price_file_, ignored).type();
    if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found)
      return fail(ErrorCode::bad_input, "this is no regular file", price_file_,
                  "the run reads its prices again when it is resumed: name a file that stays");
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
  bool stored_url_ = false, stored_key_ = false;  ///< see mark_untrusted()
  std::vector<ModelSettings> models_;
  PromptSettings prompts_;
  KeepOptions keep_;
  ClientOptions client_ = few_at_once();
  std::shared_ptr<Observer> observer_;
};

}  // namespace

std::unique_ptr<ProposerProvider> chat_provider() { return std::make_unique<ChatProvider>(); }

}  // namespace kernelsmith
