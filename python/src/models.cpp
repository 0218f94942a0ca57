// A model client for proposers in Python: calls that the engine's own client sends, paces and retries.
#include <chrono>

#include <pybind11/stl.h>

#include <kernelsmith/llm/client.hpp>

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
                            "system, user and assistant are"));
}

py::dict reply_dict(const ModelReply& reply) {
  py::dict dict;
  dict["text"] = text_of(reply.text);
  dict["reasoning"] = text_of(reply.reasoning);
  dict["finish"] = std::string(name_of(reply.finish));
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

/// A client whose calls end on a Python function. Any thread may use it.
class Model {
 public:
  Model(const std::string& base_url, const py::str& key, double timeout_s, unsigned attempts,
        unsigned concurrency) {
    using std::chrono::milliseconds;
    const milliseconds limit(static_cast<milliseconds::rep>(timeout_s * 1000));
    ClientOptions options;
    options.limits.connect = std::min(options.limits.connect, limit);
    options.limits.first_token = options.limits.silence = options.limits.total = limit;
    options.retry.attempts = attempts;
    options.pacing.concurrency = concurrency;
    Endpoint endpoint;
    endpoint.base_url = base_url;
    endpoint.key = Secret(utf8_of(key));
    client_ = unwrap(ModelClient::create(with_environment(std::move(endpoint)), std::move(options)));
  }
  ~Model() {
    const Released released;  // the client's thread may want the GIL for its last answers
    client_.reset();
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  py::cpp_function start(const std::string& model, const py::list& messages, const py::function& done,
                         std::optional<std::uint64_t> max_output_tokens, std::optional<double> temperature,
                         std::optional<double> top_p, const std::string& reasoning_effort,
                         const std::string& extra_body) {
    ModelCall call;
    call.model = model;
    for (const py::handle& one : messages)
      call.messages.push_back({role_from(py::cast<std::string>(one["role"])), utf8_of(one["content"])});
    call.max_output_tokens = max_output_tokens;
    call.temperature = temperature;
    call.top_p = top_p;
    call.reasoning_effort = reasoning_effort;
    call.extra_body = extra_body;
    call.stream = false;
    const auto stop = std::make_shared<std::stop_source>();
    const SharedObject told = share(done);
    without_gil([&] {
      client_->start(std::move(call), stop->get_token(), [told](const Result<ModelReply>& reply) {
        with_gil([&] {
          try {
            call_user(*told, reply ? py::object(reply_dict(*reply)) : exception_of(reply.error()));
          } catch (py::error_already_set& raised) {
            raised.discard_as_unraisable("a model's reply");
          }
        });
      });
    });
    return py::cpp_function([stop] { without_gil([&] { stop->request_stop(); }); });
  }

 private:
  std::shared_ptr<ModelClient> client_;
};

}  // namespace

void bind_models(py::module_& module) {
  py::class_<Model>(module, "Model", "A server of language models: what proposers in Python ask it with.")
      .def(
          py::init<const std::string&, const py::str&, double, unsigned, unsigned>(), py::arg("base_url"),
          py::arg("key"), py::arg("timeout_s"), py::arg("attempts"), py::arg("concurrency"),
          "An empty base_url or key is the environment's (docs/llm.md). Raises Error for a server that a key "
          "may not be sent to.")
      .def("start", &Model::start, py::arg("model"), py::arg("messages"), py::arg("done"), py::kw_only(),
           py::arg("max_output_tokens") = py::none(), py::arg("temperature") = py::none(),
           py::arg("top_p") = py::none(), py::arg("reasoning_effort") = "", py::arg("extra_body") = "",
           "Sends {\"role\", \"content\"} messages. `done` is called once, on another thread, with the reply "
           "as a dict (text, reasoning, finish, finish_detail, model, usage) or with an Error. Returns a "
           "function that gives the call up.");
}

}  // namespace kernelsmith::python
