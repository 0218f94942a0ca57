// A model client for proposers in Python: calls that the engine's own client sends, paces and retries.
#include <chrono>

#include <pybind11/stl.h>

#include <kernelsmith/llm/client.hpp>
#include <kernelsmith/llm/prices.hpp>
#include <kernelsmith/session/task_folder.hpp>

#include "bindings.hpp"
#include "errors.hpp"
#include "gil.hpp"
#include "values.hpp"

namespace kernelsmith::python {
namespace {

Role role_from(const std::string& name) {
  if (name == "system") return Role::system;
  if (name == "user") return Role::user;
  if (name == "assistant") return Role::assistant;
  throw ErrorException(fail(ErrorCode::invalid_argument, "there is no role \"" + name + "\"", "messages",
                            "the roles are system, user, assistant and tool"));
}

/// A message of Chat Completions: keys other than role and content are passed on unchanged.
Message message_from(const py::handle& one) {
  py::dict extra = py::dict(py::reinterpret_borrow<py::dict>(one).attr("copy")());
  const std::string role = py::cast<std::string>(extra.attr("pop")("role"));
  Message message{Role::user, utf8_of(extra.attr("pop")("content")), {}};
  if (role == "tool")
    extra["role"] = role;
  else
    message.role = role_from(role);
  if (!extra.empty())
    message.extra_body = py::cast<std::string>(py::module_::import("json").attr("dumps")(extra));
  return message;
}

py::dict reply_dict(const ModelReply& reply, const std::optional<Price>& price) {
  py::dict dict;
  dict["usd"] = reply.usage && price ? py::object(py::float_(cost_of(*reply.usage, *price))) : py::none();
  dict["text"] = text_of(reply.text);
  dict["reasoning"] = text_of(reply.reasoning);
  dict["finish"] = std::string(name_of(reply.finish));
  dict["tool_calls"] = reply.tool_calls.empty() ? py::list() : json_of(reply.tool_calls);
  dict["finish_detail"] = text_of(reply.finish_detail);
  dict["model"] = text_of(reply.model);
  if (reply.usage) {
    py::dict usage;
    usage["prompt_tokens"] = reply.usage->input_tokens;
    usage["completion_tokens"] = reply.usage->output_tokens;
    usage["total_tokens"] = reply.usage->input_tokens + reply.usage->output_tokens;
    dict["usage"] = usage;
  } else {
    dict["usage"] = py::none();
  }
  return dict;
}

/// The exception object kernelsmith.Error for an error. Needs the GIL.
py::object exception_of(const Error& error) {
  return py::module_::import("kernelsmith._errors")
      .attr("Error")(text_of(error.message), std::string(name_of(error.code)), text_of(error.where),
                     text_of(error.hint));
}

/// A client that hands each reply to a Python function. Any thread may use it.
class Model {
 public:
  Model(const std::string& base_url, const py::str& key, double timeout_s, unsigned attempts,
        unsigned concurrency, const std::string& price_file, const py::object& tell) {
    if (!price_file.empty())
      prices_ = unwrap(PriceTable::read(unwrap(read_text_file(price_file)), price_file));
    using std::chrono::milliseconds;
    const milliseconds limit(static_cast<milliseconds::rep>(timeout_s * 1000));
    ClientOptions options;
    options.limits.connect = std::min(options.limits.connect, limit);
    options.limits.first_token = options.limits.silence = options.limits.total = limit;
    options.retry.attempts = attempts;
    options.pacing.concurrency = concurrency;
    if (!tell.is_none())
      options.notice = [told = share(tell)](const Notice& notice) {
        with_gil([&] {
          try {
            call_user(*told, text_of(notice.message));
          } catch (py::error_already_set& raised) {
            raised.discard_as_unraisable("a model's notice");
          }
        });
      };
    Endpoint endpoint;
    endpoint.base_url = base_url;
    endpoint.key = Secret(utf8_of(key));
    client_ = unwrap(ModelClient::create(with_environment(std::move(endpoint)), std::move(options)));
  }
  ~Model() {
    const Released released;  // the client's thread may need the GIL for its last answers
    client_.reset();
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  py::typing::Callable<void()> start(const std::string& model, const Rows& messages,
                                     const py::typing::Callable<py::object(py::object)>& done,
                                     std::optional<std::uint64_t> max_output_tokens,
                                     std::optional<double> temperature, std::optional<double> top_p,
                                     const std::string& reasoning_effort, const std::string& extra_body) {
    ModelCall call;
    call.model = model;
    for (const py::handle& one : messages) call.messages.push_back(message_from(one));
    call.max_output_tokens = max_output_tokens;
    call.temperature = temperature;
    call.top_p = top_p;
    call.reasoning_effort = reasoning_effort;
    call.extra_body = extra_body;
    call.stream = false;
    const auto stop = std::make_shared<std::stop_source>();
    const SharedObject told = share(done);
    const auto price = prices_.price_of(model);
    without_gil([&] {
      client_->start(std::move(call), stop->get_token(), [told, price](const Result<ModelReply>& reply) {
        with_gil([&] {
          try {
            call_user(*told, reply ? py::object(reply_dict(*reply, price)) : exception_of(reply.error()));
          } catch (py::error_already_set& raised) {
            raised.discard_as_unraisable("a model's reply");
          }
        });
      });
    });
    return py::cpp_function([stop] { without_gil([&] { stop->request_stop(); }); });
  }

  bool has_price(const std::string& model) const { return prices_.price_of(model).has_value(); }

 private:
  std::shared_ptr<ModelClient> client_;
  PriceTable prices_;
};

}  // namespace

void bind_models(py::module_& module) {
  py::class_<Model>(module, "Model", "A client for a server of language models, for proposers in Python.")
      .def(
          py::init<const std::string&, const py::str&, double, unsigned, unsigned, const std::string&,
                   const py::object&>(),
          py::arg("base_url"), py::arg("key"), py::arg("timeout_s"), py::arg("attempts"),
          py::arg("concurrency"), py::arg("price_file") = "", py::arg("tell") = py::none(),
          "An empty base_url or key is replaced by the environment's (docs/llm.md). `tell` is called on "
          "another thread with messages for the user, such as how long a call waits for the server, and why. "
          "Raises Error for a server to which a key may not be sent, and for a price file that cannot be "
          "read.")
      .def("start", &Model::start, py::arg("model"), py::arg("messages"), py::arg("done"), py::kw_only(),
           py::arg("max_output_tokens") = py::none(), py::arg("temperature") = py::none(),
           py::arg("top_p") = py::none(), py::arg("reasoning_effort") = "", py::arg("extra_body") = "",
           "Sends {\"role\", \"content\"} messages, with `tool_calls` and `tool_call_id` where they belong. "
           "`done` is called once, on another thread, with the reply as a dict (text, tool_calls, reasoning, "
           "finish, finish_detail, model, usage, usd) or with an Error. Returns a function that cancels the "
           "call.")
      .def("has_price", &Model::has_price, py::arg("model"), "Whether price_file has a price for the model.");
}

}  // namespace kernelsmith::python
