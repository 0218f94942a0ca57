# Included by benchmarks/CMakeLists.txt; the reader's own test is in tests/tuning.
find_package(nlohmann_json REQUIRED)
kernelsmith_benchmark(tuning_benchmark
  SOURCES search_quality/tuning_benchmark.cpp search_quality/tuning_cache.cpp
  LINK kernelsmith::tuning nlohmann_json::nlohmann_json)
