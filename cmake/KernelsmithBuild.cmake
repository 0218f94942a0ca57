# How every target of the project is built. Component CMakeLists use kernelsmith_component, tests
# kernelsmith_test and kernelsmith_fuzz, benchmarks kernelsmith_benchmark; nothing else sets flags.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(CCACHE ccache)
if(CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Sloppy about what it cannot see inside a precompiled header; without this it would not cache its users at all.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)

# kernelsmith_flags is for everything; the programs of tests link kernelsmith_test_flags in its place.
add_library(kernelsmith_common_flags INTERFACE)
add_library(kernelsmith_flags INTERFACE)
add_library(kernelsmith_test_flags INTERFACE)
target_link_libraries(kernelsmith_flags INTERFACE kernelsmith_common_flags)
target_link_libraries(kernelsmith_test_flags INTERFACE kernelsmith_common_flags)
# GoogleTest's macros make much code that runs once: optimising it takes longer than running it.
target_compile_options(kernelsmith_test_flags INTERFACE -O0)
target_compile_options(kernelsmith_common_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 at -O3 sees overlaps in std::string's operator+ that are not there (GCC bug 105651).
  target_compile_options(kernelsmith_common_flags INTERFACE -Wno-restrict)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC takes the sources of a unity build for headers, where a type of an unnamed namespace would be a mistake.
  target_compile_options(kernelsmith_common_flags INTERFACE -Wno-subobject-linkage)
endif()
if(KERNELSMITH_WERROR)
  target_compile_options(kernelsmith_common_flags INTERFACE -Werror)
endif()
if(KERNELSMITH_SANITIZE)
  target_compile_options(kernelsmith_flags INTERFACE
    -fsanitize=${KERNELSMITH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(KERNELSMITH_SANITIZE MATCHES undefined AND NOT KERNELSMITH_BUILD_FUZZERS)
    # A check at every pointer's use takes a fifth of the compile time. AddressSanitizer finds null pointers too, and the
    # fuzzers' build keeps all checks.
    target_compile_options(kernelsmith_flags INTERFACE -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  if(KERNELSMITH_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Clang 14 cannot emit this check for a coroutine ("Cannot represent a difference across sections").
    target_compile_options(kernelsmith_flags INTERFACE -fno-sanitize=function)
  endif()
  # The tests' own code goes without the checks for undefined behaviour, which are there for the library.
  string(REPLACE ",undefined" "" sanitize_tests ${KERNELSMITH_SANITIZE})
  target_compile_options(kernelsmith_test_flags INTERFACE -fsanitize=${sanitize_tests} -fno-omit-frame-pointer)
  target_link_options(kernelsmith_common_flags INTERFACE -fsanitize=${KERNELSMITH_SANITIZE})
  # Candidates and tools started by the tests are built without sanitizers; the tests ask for this.
  target_compile_definitions(kernelsmith_common_flags INTERFACE KERNELSMITH_SANITIZED=1)
endif()
# There are a hundred programs of tests, and the usual linker takes half a second for each.
find_program(MOLD mold)
mark_as_advanced(MOLD)
if(KERNELSMITH_BUILD_TESTS AND MOLD)
  target_link_options(kernelsmith_common_flags INTERFACE -fuse-ld=mold)
endif()
if(KERNELSMITH_BUILD_FUZZERS)
  target_compile_options(kernelsmith_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# kernelsmith_precompile(<target> <header>...)
#
# For a target most of whose sources include a library of templates, which takes longer to read than they do.
function(kernelsmith_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
endfunction()

# kernelsmith_cold(<target>)
#
# For code that waits for processes, people and networks: in a release, optimising it takes a quarter of the time of compiling
# it. What is timed are kernels, which are compiled elsewhere.
function(kernelsmith_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# kernelsmith_hot(<cpp>...)
#
# For sources whose loops go over every byte of every output: optimised in debug builds too. Under sanitizers that would take
# longer to compile than it saves.
function(kernelsmith_hot)
  if(KERNELSMITH_SANITIZE)
    set(options -O1)
  else()
    set(options -O3 -fno-math-errno)
  endif()
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${options}")
endfunction()

# kernelsmith_beside_candidates()
#
# For a folder whose code runs in a sandbox beside a candidate's: it gets no sanitizer, and the options in
# KERNELSMITH_BESIDE_CANDIDATES. These are the same in every preset, so ccache compiles it once for all of them.
macro(kernelsmith_beside_candidates)
  string(REGEX REPLACE "-O[0-3]" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
  set(KERNELSMITH_BESIDE_CANDIDATES -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
  if(KERNELSMITH_BUILD_TESTS)
    list(APPEND KERNELSMITH_BESIDE_CANDIDATES -Werror)
  endif()
endmacro()

# kernelsmith_component(<name> SOURCES <cpp>... [PUBLIC <target>...] [PRIVATE <target>...] [COLD])
#
# Makes the static library kernelsmith_<name>, alias kernelsmith::<name>. Its public headers are those of
# include/kernelsmith/<name>/, or of include/kernelsmith/evaluator/<backend>/ for a backend's evaluator_<backend>. Headers
# for other components alone are in the same folder below internal/ and are not installed. PUBLIC and PRIVATE are link
# dependencies; docs/design.md, section 2, has the table of components that may stand there, and tests/layering checks
# it. COLD: see kernelsmith_cold.
function(kernelsmith_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "SOURCES;PUBLIC;PRIVATE")
  set(target kernelsmith_${name})
  string(REGEX REPLACE "^evaluator_" "evaluator/" folder ${name})
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/kernelsmith/${folder}/*.hpp)
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(kernelsmith::${name} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${headers})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/internal>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:kernelsmith_flags>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(arg_COLD)
    kernelsmith_cold(${target})
  endif()
  set_property(GLOBAL APPEND PROPERTY KERNELSMITH_COMPONENTS ${name})
endfunction()

# kernelsmith_embed_templates(<variable> <namespace>)
#
# Puts the files below the current folder's templates/ into a source file, whose path it sets <variable> to: the table
# that templates.hpp declares in kernelsmith::<namespace>. The files stay the source of truth.
function(kernelsmith_embed_templates variable namespace)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/templates)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/templates.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_templates.cmake)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${output} -DNAMESPACE=kernelsmith::${namespace} -P ${script}
    DEPENDS ${files} ${script}
    VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()

# kernelsmith_embed_task_template(<variable> <namespace>)
#
# Puts the files of the current folder's template/, the task that `kernelsmith init` makes, into a source file, whose path
# it sets <variable> to: the function that task_templates.hpp declares in kernelsmith::<namespace>.
function(kernelsmith_embed_task_template variable namespace)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/template)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/task_template.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_task_template.cmake)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUTPUT=${output} -DNAMESPACE=kernelsmith::${namespace} -P ${script}
    DEPENDS ${files} ${script}
    VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()

# kernelsmith_embed_files(<variable> <namespace> <file>...)
#
# Puts the files, under their names without folders, into a source file, whose path it sets <variable> to: the table that
# page_files.hpp declares in kernelsmith::<namespace>.
function(kernelsmith_embed_files variable namespace)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/page_files.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${ARGN}" -DOUTPUT=${output} -DNAMESPACE=kernelsmith::${namespace} -P ${script}
    DEPENDS ${ARGN} ${script}
    VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()

# What every program of tests is compiled with.
function(kernelsmith_compile_as_test name)
  target_link_libraries(${name} PRIVATE ${ARGN} kernelsmith_test_flags GTest::gmock)
  target_precompile_headers(${name} REUSE_FROM tests_pch)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
  target_compile_definitions(${name} PRIVATE KERNELSMITH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endfunction()

# kernelsmith_test(<name> SOURCES <cpp>... [LINK <target>...] [LABELS <label>...] [TIMEOUT <seconds>])
#
# A GoogleTest program; every TEST in it is one ctest. Under sanitizers, which make processes slow to start, the program is one.
# Labels: `tsan` runs it under ThreadSanitizer in CI too, `full` keeps it out of the fast tier, `serial` keeps other tests away
# while it runs, `clock` lets it be repeated.
function(kernelsmith_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LINK;LABELS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  kernelsmith_compile_as_test(${name} ${arg_LINK} GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if("tsan" IN_LIST arg_LABELS)
    add_dependencies(tsan_tests ${name})
  endif()
  set(serial FALSE)
  if("serial" IN_LIST arg_LABELS)
    set(serial TRUE)
  endif()
  if(KERNELSMITH_SANITIZE)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" RUN_SERIAL ${serial} TIMEOUT 1200)
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX ${name}. TEST_LIST ${name}_tests
    PROPERTIES TIMEOUT ${arg_TIMEOUT})
  if(arg_LABELS)
    # gtest_discover_tests itself takes no property that is a list.
    set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
    file(CONFIGURE OUTPUT ${labels_file} @ONLY CONTENT "if(${name}_tests)
  set_tests_properties(\${${name}_tests} PROPERTIES LABELS \"${arg_LABELS}\" RUN_SERIAL ${serial})\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
  endif()
endfunction()

# kernelsmith_test_objects(<name> SOURCES <cpp>... [LINK <target>...])
#
# Tests that several programs hold: each names $<TARGET_OBJECTS:<name>> among its sources.
function(kernelsmith_test_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_library(${name} OBJECT ${arg_SOURCES})
  # Compiled as a program's sources are: the precompiled header is one of those.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
  kernelsmith_compile_as_test(${name} ${arg_LINK})
endfunction()

# kernelsmith_fuzz(<name> SOURCES <cpp>... [LINK <target>...])
#
# The sources define LLVMFuzzerTestOneInput. With KERNELSMITH_BUILD_FUZZERS this is a libFuzzer program; always, a
# plain program replays every file of tests/regressions/<name>/ as one ctest, so a crash once found stays fixed.
function(kernelsmith_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(KERNELSMITH_BUILD_FUZZERS)
    add_executable(${name} ${arg_SOURCES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    add_executable(${name} ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/tests/support/replay_corpus.cpp)
    add_test(NAME ${name}.regressions COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/regressions/${name})
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LINK} kernelsmith_flags)
  add_dependencies(fuzzers ${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
endfunction()

# kernelsmith_benchmark(<name> SOURCES <cpp>... [LINK <target>...])
function(kernelsmith_benchmark name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} kernelsmith_flags benchmark::benchmark)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/benchmarks)
  add_dependencies(benchmarks ${name})
endfunction()
