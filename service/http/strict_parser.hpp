// StrictParser: Beast's parser that refuses fields continued on another line (obs-fold, RFC 9112 section
// 5.2), because a proxy may read them differently.
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace kernelsmith::http {

class StrictParser final : public boost::beast::http::request_parser<boost::beast::http::string_body> {
  using View = boost::beast::string_view;

  /// Beast does not report a fold. But after a fold the value is assembled elsewhere, or there is an end of
  /// line between name and value.
  static bool is_folded(View name, View value) {
    constexpr std::uintptr_t kMostBlanks = 1U << 16;
    const char* const colon = name.data() + name.size();
    const auto gap = reinterpret_cast<std::uintptr_t>(value.data()) - reinterpret_cast<std::uintptr_t>(colon);
    return gap > kMostBlanks || std::string_view(colon, gap).find('\n') != std::string_view::npos;
  }

  void on_field_impl(boost::beast::http::field field, View name, View value,
                     boost::system::error_code& error) override {
    if (is_folded(name, value))
      error = boost::beast::http::error::bad_obs_fold;
    else
      get().insert(field, name, value);
  }
};

}  // namespace kernelsmith::http
