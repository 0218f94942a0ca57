// The server under many clients of an HTTP library at once.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <curl/curl.h>
#include <gmock/gmock.h>

#include <kernelsmith/service/http_server.hpp>

namespace kernelsmith::http {
namespace {

constexpr int kClients = 8;
constexpr int kRequests = 25;

std::size_t append(char* bytes, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(bytes, size * count);
  return size * count;
}

/// Posts over one connection that is kept; returns how often the answer was the body sent.
int post_again_and_again(const std::string& url, int client) {
  CURL* easy = curl_easy_init();
  int right = 0;
  for (int i = 0; i < kRequests; ++i) {
    // Every fourth is so large that libcurl asks first (Expect: 100-continue).
    const std::string body(i % 4 == 0 ? std::size_t{2} << 20 : 1000, static_cast<char>('a' + client));
    std::string answer;
    long status = 0;
    curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &answer);
    if (curl_easy_perform(easy) == CURLE_OK) curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    right += status == 200 && answer == body;
  }
  curl_easy_cleanup(easy);
  return right;
}

TEST(HttpServerUnderCurl, EveryClientGetsItsOwnAnswers) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  Router router;
  std::vector<std::jthread> answering_threads;
  std::mutex mutex;
  router.add("POST", "/echo", [&](Request request, Responder responder) {  // answered on another thread
    const std::lock_guard lock(mutex);
    answering_threads.emplace_back(
        [request = std::move(request), responder = std::move(responder)]() mutable {
          responder.send({.body = std::move(request.body)});
        });
  });
  ServerOptions options;
  options.max_body_bytes = std::size_t{4} << 20;
  auto server = Server::start(router, options).value();

  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> clients;
    for (int client = 0; client < kClients; ++client)
      clients.emplace_back([&, client] { right += post_again_and_again(server->url() + "/echo", client); });
  }
  EXPECT_EQ(right, kClients * kRequests);
}

}  // namespace
}  // namespace kernelsmith::http
