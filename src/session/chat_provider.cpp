// The proposer `chat` of run.yaml: its server, models and prompts.
#include <algorithm>
#include <iterator>

#include <kernelsmith/llm/chat_model.hpp>
#include <kernelsmith/llm/chat_proposer.hpp>
#include <kernelsmith/llm/protocol.hpp>
#include <kernelsmith/prompts/tokens.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "model_support.hpp"
#include "providers.hpp"

namespace kernelsmith {
namespace {

const Choices<Protocol> kProtocols =
    choices({Protocol::chat_completions, Protocol::responses, Protocol::messages});

class ChatProvider final : public ProposerProvider {
 public:
  Result<std::shared_ptr<Proposer>> make(const Task& task, const std::stop_token&) const override {
    auto proposer = assemble(task);
    if (!proposer) return proposer;
    if (const Status key = check_key(*endpoint()); !key) return key.error();
    return proposer;
  }

  Result<std::shared_ptr<ChatModel>> chat_model() const override {
    if (models_.size() != 1)
      return fail(ErrorCode::invalid_argument,
                  "a conversation has one model, but " + std::to_string(models_.size()) + " are named",
                  context.place + ".models", "name one: --model NAME");
    auto client = connect();
    if (!client) return client.error();
    if (const Status key = check_key(*endpoint()); !key) return key.error();
    const auto table = prices();
    if (!table) return table.error();
    return make_chat_model(std::move(*client), models_.front(), table->price_of(models_.front().name), keep_);
  }

  Result<CallPlanner> planner(const Task& task) const override {
    auto prompts = prompts_.builder(task, context);
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
    exam.prompts = prompts_.options(context);
    if (const auto made = assemble(task); !made) {
      exam.checks.push_back({"proposer", DryCheck::Verdict::failed, "", made.error()});
      return exam;
    }
    exam.checks.push_back({"proposer", DryCheck::Verdict::ok, "prompts, prices and models can be read", {}});
    const Endpoint server = *endpoint();
    if (const Status key = check_key(server); !key)
      exam.checks.push_back({"key", DryCheck::Verdict::failed, "", key.error()});
    else
      std::ranges::move(examine_server(server, client_.limits, names(), stop),
                        std::back_inserter(exam.checks));
    const PriceTable table = *prices();
    for (const ModelSettings& model : models_) exam.calls.push_back(terms_of(model, table));
    return exam;
  }

  std::vector<std::string> settings_to_reconfirm() const override {
    std::vector<std::string> settings;
    if (const auto server = unchecked_endpoint(); server && is_for_its_user_to_say(*server))
      settings.push_back("base_url=" + server->base_url);
    if (!key_.empty() && !is_named_as_key()) settings.push_back("key=" + key_);
    return settings;
  }

  /// The default operators. Edits cost few tokens, rewrites change more; a crossover needs two good parents.
  ProposerTraits traits() const override {
    return {.operators = {{Operator::rewrite, ""}, {Operator::edit, ""}, {Operator::crossover, ""}},
            .models = names(),
            .in_flight = client_.pacing.concurrency};
  }

  ProposerOutlook outlook() const override {
    ProposerOutlook outlook;
    const auto table = prices();
    for (const ModelSettings& model : models_) {
      AskedModel& asked = outlook.models.emplace_back(AskedModel{model.name, prompts_.options(context)});
      const auto price = table ? table->price_of(model.name) : std::nullopt;
      asked.is_free = price && price->input <= 0 && price->output <= 0;
      if (!table)
        asked.unpriced = table.error();
      else if (!price)
        asked.unpriced = no_price(model.name);
      else if (asked.is_free)
        asked.unpriced =
            fail(ErrorCode::invalid_argument, "every price is zero, so a budget of money would never end",
                 price_file_, "leave --max-usd out");
    }
    if (const auto server = endpoint())
      outlook.destination = "models are asked at " + server->base_url + ", " +
                            (server->key.empty() ? "without a key" : "with the key in $" + key_variable());
    return outlook;
  }

 private:
  Result<std::shared_ptr<Proposer>> assemble(const Task& task) const {
    auto client = connect();
    if (!client) return client.error();
    auto price_table = prices();
    if (!price_table) return price_table.error();
    auto prompts = prompts_.builder(task, context);
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
                    "a model's settings hold the key, and they are kept in a file", context.place + ".models",
                    "put the key only into $" + key_variable());
    ClientOptions options = client_;
    if (context.observer) options.notice = bounded_notices(context.observer);
    auto client = ModelClient::create(std::move(*server), std::move(options));
    if (client) return client;
    Error error = client.error();
    if (error.where == "base URL" && base_url_.empty())
      error.where = protocol_ == Protocol::messages ? "$ANTHROPIC_BASE_URL" : "$OPENAI_BASE_URL";
    return error;
  }

  /// Fails if no key is set and the server is known to require one. Otherwise only the first call would fail,
  /// after the seed was evaluated.
  Status check_key(const Endpoint& server) const {
    if (!server.key.empty() || !wants_key(server.base_url)) return {};
    const std::string variable = key_variable();
    return fail(
        ErrorCode::not_found, "no key is set, and " + server.base_url + " answers nothing without one",
        "$" + variable,
        "export " + variable + "=..., or name another variable: --set '" + context.place + ".key=${NAME}'");
  }

  void list(Section& io) override {
    io("protocol", protocol_, kProtocols, "how the server is spoken to");
    // Writes the URL in use, because in another shell the environment may name another server or none.
    std::string url = io.writes() ? with_environment({protocol_, base_url_, {}, ""}).base_url : base_url_;
    if (io("base_url", url, "up to and with `/v1`")) base_url_ = url;
    io.by_default("the environment's");
    list_key(io);
    io.kept_path("ca_file", ca_file_, "certificates of a private CA, PEM");
    io.by_default("the system's");
    io.kept_path("price_file", price_file_, "what calls cost");
    io.maps("models", models_, "needed", "the first one serves operators that name no model",
            [this](Section& one, ModelSettings& model) { list_model(one, protocol_, model); });
    prompts_.list(io);
    io.map("keep", [this](Section& keep) {
      keep("text", keep_.text, "prompts and replies are kept for training");
      keep("logprobs", keep_.logprobs, "and the tokens' log-probabilities");
      keep("token_ids", keep_.token_ids, "and the tokens' ids");
      keep("bytes", keep_.bytes, {1024, std::size_t{1} << 30}, "the most bytes of one reply");
    });
    io("concurrency", client_.pacing.concurrency, {1, 10'000}, "calls in flight");
    io("attempts", client_.retry.attempts, {1, 1000}, "attempts at one call, the first included");
    io.maybe("requests_per_minute", client_.pacing.requests_per_minute, {0.01, 1e9}, "a rate that is kept");
    io.maybe("tokens_per_minute", client_.pacing.tokens_per_minute, {1, 1e12}, "a rate that is kept");
    io.map("limits", [this](Section& limits) {
      limits("connect_s", client_.limits.connect, {0.001, kDayS}, "until there is a connection");
      limits("first_token_s", client_.limits.first_token, {0.001, kDayS}, "until a reply begins");
      limits("silence_s", client_.limits.silence, {0.001, kDayS}, "between two parts of a reply");
      limits("total_s", client_.limits.total, {0.001, kDayS}, "seconds of an attempt");
      limits("reply_bytes", client_.limits.reply_bytes, {1024, std::size_t{1} << 30},
             "the most bytes of a reply");
    });
  }

  /// Lists the name of the key's variable. Refuses a key itself, because a run stores its configuration in a
  /// file.
  void list_key(Section& io) {
    std::string key = key_;
    const bool given = io("key", key, "`${NAME}` of a variable; a key itself is refused: the file is kept");
    io.by_default("the environment's");
    if (!given) return;
    const bool is_variable = key.starts_with("${") && key.find('}') == key.size() - 1;
    if (!key.empty() && !is_variable)
      return io.refuse("key", "a key is not written into a file", "name an environment variable: ${NAME}");
    key_ = std::move(key);
  }

  static void list_model(Section& io, Protocol protocol, ModelSettings& model) {
    io.needed("name", model.name, "as the server calls it");
    io.maybe("max_output_tokens", model.max_output_tokens, {1, 100'000'000}, "the most tokens of a reply");
    io.maybe("temperature", model.temperature, {0, 10}, "how random its replies are");
    io.maybe("top_p", model.top_p, {0, 1}, "the share of probability that it draws from");
    io.unless_empty("reasoning_effort", model.reasoning_effort, "such as `low`");
    if (protocol == Protocol::messages && !model.reasoning_effort.empty())
      io.refuse("reasoning_effort", "the protocol messages has none",
                "put the model's own setting into extra_body, such as "
                "'{\"thinking\": {\"type\": \"enabled\", \"budget_tokens\": 4000}}'");
    io("stream", model.stream, "whether replies are asked for in parts");
    io.unless_empty("extra_body", model.extra_body, "JSON text whose keys are laid over the request");
    if (!io.ok() || model.extra_body.empty()) return;
    ModelCall call;
    call.extra_body = model.extra_body;
    const auto encoded = encode_call(Protocol::chat_completions, call, {});
    if (!encoded) io.refuse("extra_body", encoded.error().message, encoded.error().hint);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const ModelSettings& model : models_) names.push_back(model.name);
    return names;
  }

  Error no_price(const std::string& model) const {
    return fail(ErrorCode::invalid_argument,
                "the model \"" + model + "\" has no price, so a budget of money cannot be kept",
                price_file_.empty() ? "--max-usd (budgets.usd)" : price_file_,
                price_file_.empty() ? "name a file that says what its tokens cost: " +
                                          std::string(is_arm() ? "" : "run --price-file FILE, or resume ") +
                                          "--set " + context.place + ".price_file=FILE (docs/llm.md)"
                                    : "add an entry for it (docs/llm.md)");
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
        request.selection.parent ? estimate_tokens(request.selection.parent->program->source) : 0);
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

  /// Whether this proposer is an arm of a mix. The command's own options apply only to a run's sole proposer.
  bool is_arm() const { return context.place != "proposer"; }

  std::string key_variable() const {
    if (!key_.empty()) return key_.substr(2, key_.size() - 3);
    return protocol_ == Protocol::messages ? "ANTHROPIC_API_KEY" : "OPENAI_API_KEY";
  }

  bool is_named_as_key() const { return key_variable().ends_with("API_KEY"); }

  /// Whether a key would be sent to a server that is neither on this machine, nor named by the environment,
  /// nor the protocol's provider.
  bool is_for_its_user_to_say(const Endpoint& server) const {
    return !server.key.empty() && !is_loopback(server.base_url) &&
           server.base_url != provider_url(protocol_) &&
           server.base_url != with_environment({protocol_, "", {}, ""}).base_url;
  }

  /// Run folders are passed on, so their contents must not decide where this machine's secrets are sent.
  Result<Endpoint> endpoint() const {
    auto server = unchecked_endpoint();
    if (!server) return server;
    const std::string variable = key_variable();
    if (is_only_stored("key") && !key_.empty() && !is_named_as_key())
      return fail(ErrorCode::invalid_argument,
                  "this run takes the key from $" + variable + ", which is not named as an API key",
                  context.place + ".key",
                  "if it holds an API key, say so: kernelsmith resume RUN --set '" + context.place +
                      ".key=${" + variable +
                      "}'; or put it into a variable whose name ends in API_KEY, and name that in run.yaml");
    if (is_only_stored("base_url") && is_for_its_user_to_say(*server))
      return fail(ErrorCode::invalid_argument, "this run would send $" + variable + " to " + server->base_url,
                  context.place + ".base_url",
                  "if you trust that server, name it: kernelsmith resume RUN " +
                      (is_arm() ? "--set " + context.place + ".base_url=URL" : "--base-url URL") + ", or " +
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

  /// Drops information that follows earlier information too soon, because many retried calls give the same
  /// notice.
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
      return fail(ErrorCode::bad_input, "this is not a regular file", price_file_,
                  "the run reads its prices again when it is resumed: name a file that stays");
    const auto text = read_text_file(price_file_);
    if (!text) return text.error();
    return PriceTable::read(*text, price_file_);
  }

  static ClientOptions few_at_once() {
    ClientOptions options;
    options.pacing.concurrency = 8;  // more calls gain little: evaluations are slower than most servers
    return options;
  }

  Protocol protocol_ = Protocol::chat_completions;
  std::string base_url_, key_, ca_file_, price_file_;
  std::vector<ModelSettings> models_;
  PromptSettings prompts_;
  KeepOptions keep_;
  ClientOptions client_ = few_at_once();
};

}  // namespace

std::unique_ptr<ProposerProvider> chat_provider() { return std::make_unique<ChatProvider>(); }

}  // namespace kernelsmith
