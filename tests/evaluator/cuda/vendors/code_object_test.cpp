// Images of clang's offloading compilers, right and damaged: built here byte by byte.
#include "vendors/clang/code_object.hpp"

#include <cstring>
#include <random>

#include "testing.hpp"

namespace kernelsmith::cuda {
namespace {

const CodeObjectFormat kFormat{.machine = 224,
                               .section = ".fatbin",
                               .target = "target--",
                               .note_owner = "MAKER",
                               .note_type = 32,
                               .kernels = "kernels",
                               .offset = ".offset",
                               .size = ".size",
                               .kind = ".kind",
                               .registers = ".registers",
                               .shared = ".shared",
                               .local = ".local",
                               .unknown_stack = ".dynamic"};

using Bytes = std::vector<std::byte>;

template <class T>
void put(Bytes& to, std::size_t at, T value) {
  if (to.size() < at + sizeof value) to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}
void append(Bytes& to, const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

std::string text_of(const std::string& text) {
  return static_cast<char>(0xa0 + text.size()) + text;  // a short string of MessagePack
}
std::string entry(const std::string& key, int value) {
  return text_of(key) + '\xcd' + static_cast<char>(value >> 8) + static_cast<char>(value & 0xff);
}
std::string parameter(int offset, int size, const std::string& kind) {
  return '\x83' + entry(".offset", offset) + entry(".size", size) + text_of(".kind") + text_of(kind);
}
std::string kernel(const std::string& name, const std::vector<std::string>& parameters) {
  std::string list(1, static_cast<char>(0x90 + parameters.size()));
  for (const std::string& one : parameters) list += one;
  return '\x86' + text_of(".name") + text_of(name) + text_of(".args") + list + entry(".registers", 40) +
         entry(".shared", 1024) + entry(".local", 16) + text_of(".dynamic") + '\xc2';
}
std::string note(const std::vector<std::string>& kernels) {
  std::string text = '\x81' + text_of("kernels") + static_cast<char>(0x90 + kernels.size());
  for (const std::string& one : kernels) text += one;
  return text;
}

/// An ELF file with one note.
Bytes elf(const std::string& described, std::uint16_t machine = 224) {
  Bytes file(64);
  append(file, std::string("\x06\0\0\0", 4));
  put(file, file.size(), static_cast<std::uint32_t>(described.size()));
  put(file, file.size(), std::uint32_t{32});
  append(file, std::string("MAKER\0\0\0", 8) + described);
  file.resize((file.size() + 7) / 8 * 8);
  const std::size_t note_end = file.size(), names = file.size();
  append(file, std::string("\0.note\0", 7));
  file.resize((file.size() + 7) / 8 * 8);
  const std::size_t headers = file.size();
  file.resize(headers + 3 * 64);
  std::memcpy(file.data(),
              "\x7f"
              "ELF\x02\x01\x01",
              7);
  put(file, 16, std::uint16_t{3});
  put(file, 18, machine);
  put(file, 40, std::uint64_t{headers});
  put(file, 58, std::uint16_t{64});
  put(file, 60, std::uint16_t{3});
  put(file, 62, std::uint16_t{2});
  put(file, headers + 64, std::uint32_t{1});
  put(file, headers + 64 + 4, std::uint32_t{7});  // SHT_NOTE
  put(file, headers + 64 + 24, std::uint64_t{64});
  put(file, headers + 64 + 32, std::uint64_t{note_end - 64});
  put(file, headers + 128 + 4, std::uint32_t{3});
  put(file, headers + 128 + 24, std::uint64_t{names});
  put(file, headers + 128 + 32, std::uint64_t{7});
  return file;
}

Bytes good() {
  return elf(note({kernel("scale", {parameter(0, 8, "global_buffer"), parameter(8, 4, "by_value"),
                                    parameter(16, 8, "hidden_global_offset_x")})}));
}

TEST(CodeObject, KernelsAreReadFromTheNote) {
  const auto facts = read_code_object(good(), kFormat).value();
  ASSERT_EQ(facts.kernels.size(), 1U);
  const plan::Kernel& kernel = facts.kernels.front().kernel;
  EXPECT_EQ(kernel.name, "scale");
  EXPECT_EQ(kernel.parameters, (std::vector<plan::Parameter>{{0, 8}, {8, 4}}))
      << "hidden ones are the driver's";
  EXPECT_EQ(kernel.registers, 40U);
  EXPECT_EQ(kernel.static_shared, 1024U);
  EXPECT_EQ(kernel.local, 16U);
}

TEST(CodeObject, WhatIsDamagedIsNamed) {
  const auto error_of = [](const Bytes& bytes) { return describe(read_code_object(bytes, kFormat).error()); };
  EXPECT_THAT(error_of(elf(note({kernel("k", {parameter(8, 8, "by_value"), parameter(0, 8, "by_value")})}))),
              HasSubstr("the parameters of kernel k"));
  EXPECT_THAT(error_of(elf(note({kernel("k", {parameter(40000, 8, "by_value")})}))),
              HasSubstr("the parameters"));
  EXPECT_THAT(error_of(elf(note({kernel("", {})}))), HasSubstr("name"));
  EXPECT_THAT(error_of(elf("\xc1")), HasSubstr("the note about its kernels"));
  EXPECT_THAT(error_of(elf(std::string(100'000, '\x91') + '\xc0')), HasSubstr("the note about its kernels"))
      << "nested deeper than a stack is";
  EXPECT_THAT(error_of(elf(note({}), 62)), HasSubstr("another machine"));
  EXPECT_FALSE(read_code_object(std::as_bytes(std::span("\x7f"
                                                        "ELF")),
                                kFormat));
}

/// Nothing outside of the bytes is touched: a sanitizer would say so.
TEST(CodeObject, AnyByteMayBeAnother) {
  const Bytes whole = good();
  for (std::size_t size = 0; size < whole.size(); ++size)
    (void)read_code_object(std::span(whole).first(size), kFormat);
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    Bytes bytes = whole;
    bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    (void)read_code_object(bytes, kFormat);
  }
}

Bytes bundle(const Bytes& image, const std::string& target) {
  Bytes bytes;
  append(bytes, "__CLANG_OFFLOAD_BUNDLE__");
  put(bytes, bytes.size(), std::uint64_t{1});
  put(bytes, bytes.size(), std::uint64_t{32 + 24 + target.size()});
  put(bytes, bytes.size(), std::uint64_t{image.size()});
  put(bytes, bytes.size(), std::uint64_t{target.size()});
  append(bytes, target);
  bytes.insert(bytes.end(), image.begin(), image.end());
  return bytes;
}

TEST(OffloadBundle, TheImageOfTheArchitectureIsTaken) {
  EXPECT_EQ(find_image(bundle(good(), "target--one"), kFormat, "one").value(), good());
  EXPECT_THAT(describe(find_image(bundle(good(), "target--one"), kFormat, "two").error()),
              HasSubstr("none for target--two (there are: target--one)"));
  const Bytes whole = bundle(good(), "target--one");
  for (std::size_t size = 0; size < 100; ++size)
    EXPECT_FALSE(find_image(std::span(whole).first(size), kFormat, "one")) << size;
  Bytes far = whole;
  put(far, 32, ~std::uint64_t{0});
  EXPECT_THAT(describe(find_image(far, kFormat, "one").error()), HasSubstr("past the end"));
}

}  // namespace
}  // namespace kernelsmith::cuda
