// What tests of the client share: a CA, endpoints, and calls that are waited for.
#pragma once

#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <kernelsmith/core/answer_of.hpp>
#include <kernelsmith/llm/client.hpp>

#include "certificates.hpp"
#include "temporary_folder.hpp"
#include "tls_server.hpp"

namespace kernelsmith {

inline constexpr const char* kTestKey = "sk-planted-key-0123456789";

/// A CA whose certificate stands in a file.
struct TestCa {
  explicit TestCa(const std::string& name = "kernelsmith test CA")
      : identity(make_ca(name)), file((folder.path() / "ca.pem").string()) {
    std::ofstream(file) << identity.pem();
  }

  TemporaryFolder folder;
  Identity identity;
  std::string file;
};

/// Notices, for looking at behind the client's back.
class NoticeLog {
 public:
  void operator()(const Notice& notice) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(notice.message);
  }
  std::vector<std::string> messages() const {
    const std::lock_guard lock(mutex_);
    return messages_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
};

inline Endpoint endpoint_of(const TlsServer& server, const std::string& ca_file,
                            Protocol protocol = Protocol::chat_completions) {
  return {protocol, server.url() + "/v1", Secret(kTestKey), ca_file};
}

inline ModelCall a_call(bool stream = true) {
  ModelCall call;
  call.model = "m";
  call.messages = {{Role::user, "hello"}};
  call.stream = stream;
  return call;
}

inline std::future<Result<ModelReply>> begin_call(ModelClient& client, ModelCall call,
                                                  std::stop_token stop = {},
                                                  std::function<void(const LostCall&)> lost = {},
                                                  std::stop_token ending = {}) {
  return answer_of<ModelReply>([&](auto done) {
    client.start(std::move(call), std::move(stop), std::move(done), std::move(lost), std::move(ending));
  });
}

inline Result<ModelReply> ask(ModelClient& client, ModelCall call = a_call()) {
  return begin_call(client, std::move(call)).get();
}

/// A Chat Completions answer, streamed.
inline std::string good_stream(const std::string& text) {
  return stream_head() + chunk(R"(data: {"choices": [{"delta": {"content": ")" + text + "\"}}]}\n\n") +
         chunk("data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\n") +
         chunk("data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 3, \"completion_tokens\": 2}}\n\n") +
         chunk("data: [DONE]\n\n") + last_chunk();
}

/// An answer that says so if its connection closes behind it: the next request on a connection that just
/// closes may be lost.
inline std::string closing(std::string answer) {
  const std::size_t line = answer.starts_with("HTTP/1.1 ") ? answer.find("\r\n") : answer.npos;
  if (line != answer.npos) answer.insert(line + 2, "Connection: close\r\n");
  return answer;
}

inline std::string good_body(const std::string& text) {
  return R"({"choices": [{"message": {"content": ")" + text + R"("}, "finish_reason": "stop"}]})";
}

}  // namespace kernelsmith
