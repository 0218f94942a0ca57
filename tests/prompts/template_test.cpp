// The behaviours of the Mustache specification (without lambdas and escaping), and bounds for hostile
// templates.
#include <map>
#include <string>

#include <gmock/gmock.h>

#include <kernelsmith/prompts/template.hpp>

namespace kernelsmith {
namespace {

using testing::HasSubstr;
using List = Value::List;
using Map = Value::Map;
using Texts = std::map<std::string, std::string, std::less<>>;

// The rendered text, or the error as it is printed.
std::string rendered(const std::string& text, const Value& data = {}, const Texts& partials = {},
                     RenderLimits limits = {}) {
  std::map<std::string, Template, std::less<>> parsed;
  for (const auto& [name, partial] : partials) {
    auto one = Template::parse(partial, name);
    if (!one) return describe(one.error());
    parsed.emplace(name, *one);
  }
  const auto source = Template::parse(text, "prompt");
  if (!source) return describe(source.error());
  const auto find = [&](std::string_view name) -> Result<const Template*> {
    const auto at = parsed.find(name);
    return at == parsed.end() ? nullptr : &at->second;
  };
  const auto result = render(*source, data, find, limits);
  return result ? *result : describe(result.error());
}

TEST(Template, WithoutTagsIsItself) {
  for (const char* text : {"", "x", "a {b} } c\n", "\n\n", "  \n\t", "line\r\nline\r\n", "a\n  "})
    EXPECT_EQ(rendered(text), text);
}

TEST(Template, PutsValuesInWithoutEscaping) {
  const Map data{{"code", "if (a < b && *p) \"{{x}}\""}, {"n", "85"}, {"x", "wrong"}};
  for (const char* tag : {"{{code}}", "{{ code }}", "{{{code}}}", "{{{ code }}}", "{{&code}}", "{{& code }}"})
    EXPECT_EQ(rendered(std::string("<") + tag + ">", data), "<if (a < b && *p) \"{{x}}\">") << tag;
  EXPECT_EQ(rendered("  {{n}}\n| {{{n}}} |", data), "  85\n| 85 |");
  EXPECT_EQ(rendered("({{missing}}{{{missing}}}{{&missing}})", data), "()");
  EXPECT_EQ(rendered("{{#t}}{{t}}{{/t}}", Map{{"t", true}}), "") << "a truth has no text";
}

TEST(Template, ResolvesDottedNames) {
  const Map data{{"a", Map{{"b", Map{{"c", "deep"}}}, {"empty", Map{}}}},
                 {"b", Map{{"c", "outer"}}},
                 {"name", "outer name"},
                 {"shadow", Map{{"b", Map{}}}}};
  EXPECT_EQ(rendered("{{a.b.c}}", data), "deep");
  EXPECT_EQ(rendered("{{#a}}{{b.c}}{{/a}}", data), "deep");
  EXPECT_EQ(rendered("({{a.empty.c}}{{a.b.c.d}})", data), "()");
  EXPECT_EQ(rendered("({{#shadow}}{{b.c}}{{/shadow}})", data), "()")
      << "only the first part is looked for outwards";
  EXPECT_EQ(rendered("({{a.name}})", data), "()") << "a further part never is";
  EXPECT_EQ(rendered("({{#a}}{{.name}}{{/a}})", data), "()") << "a leading dot keeps inside";
}

TEST(Template, RendersSectionsForWhatIsTruthy) {
  const Map data{{"yes", true},        {"no", false},
                 {"nothing", Value()}, {"text", "t"},
                 {"empty", ""},        {"list", List{"1", "2"}},
                 {"none", List{}},     {"map", Map{{"k", "v"}}},
                 {"outer", "o"}};
  for (const char* name : {"yes", "text", "map"}) {
    EXPECT_EQ(rendered(std::string("[{{#") + name + "}}in{{/" + name + "}}]", data), "[in]") << name;
    EXPECT_EQ(rendered(std::string("[{{^") + name + "}}in{{/" + name + "}}]", data), "[]") << name;
  }
  for (const char* name : {"no", "nothing", "empty", "none", "missing", "map.missing"}) {
    EXPECT_EQ(rendered(std::string("[{{#") + name + "}}in{{/" + name + "}}]", data), "[]") << name;
    EXPECT_EQ(rendered(std::string("[{{^") + name + "}}in{{/" + name + "}}]", data), "[in]") << name;
  }
  EXPECT_EQ(rendered("{{#map}}{{k}} {{outer}}{{/map}}", data), "v o");
  EXPECT_EQ(rendered("{{# yes }}={{/ yes }}", data), "=");
  EXPECT_EQ(rendered("{{#text}}{{.}} is {{text}}{{/text}}", data), "t is t");
  EXPECT_EQ(rendered("{{^list}}none{{/list}}", data), "");
  EXPECT_EQ(rendered("| A {{#yes}}B {{#yes}}C{{/yes}} D{{/yes}} E |", data), "| A B C D E |");
  EXPECT_EQ(rendered("| A {{#no}}B {{#no}}C{{/no}} D{{/no}} E |", data), "| A  E |");
}

TEST(Template, RepeatsSectionsForLists) {
  const Map data{
      {"list", List{"a", "b"}},
      {"pairs", List{List{"1", "2"}, List{"x"}}},
      {"items", List{Map{{"n", "1"}}, Map{{"n", "2"}, {"sub", List{Map{{"m", "p"}}, Map{{"m", "q"}}}}}}}};
  EXPECT_EQ(rendered("{{#list}}({{.}}){{/list}}", data), "(a)(b)");
  EXPECT_EQ(rendered("{{#pairs}}({{#.}}{{.}}{{/.}}){{/pairs}}", data), "(12)(x)");
  EXPECT_EQ(rendered("{{#items}}{{n}}:{{#sub}}{{n}}{{m}} {{/sub}};{{/items}}", data), "1:;2:2p 2q ;");
}

TEST(Template, RemovesStandaloneLines) {
  const Map data{{"t", true}, {"list", List{"a", "b"}}};
  const Texts partials{{"p", "partial\n"}};
  for (const char* tag : {"{{! a comment }}", "{{!\n over\n lines }}", "{{=<% %>=}}", "{{^t}}{{/t}}"}) {
    const bool one_tag = std::string(tag).find("{{/") == std::string::npos;
    EXPECT_EQ(rendered(std::string("begin\n  ") + tag + "\t\nend\n", data),
              one_tag ? "begin\nend\n" : "begin\n  \t\nend\n")
        << tag;
    EXPECT_EQ(rendered(std::string("|\r\n") + tag + "\r\n|", data), one_tag ? "|\r\n|" : "|\r\n\r\n|") << tag;
    EXPECT_EQ(rendered(std::string("  ") + tag + "\n=", data), one_tag ? "=" : "  \n=") << tag;
    EXPECT_EQ(rendered(std::string("=\n  ") + tag, data), one_tag ? "=\n" : "=\n  ") << tag;
    EXPECT_EQ(rendered(std::string("  12 ") + tag + "\n", data), "  12 \n") << tag;
  }
  EXPECT_EQ(rendered("one\n  {{#t}}\ntwo\n  {{/t}}\nthree\n", data), "one\ntwo\nthree\n");
  EXPECT_EQ(rendered("|\r\n{{#t}}\r\n{{/t}}\r\n|", data), "|\r\n|");
  EXPECT_EQ(rendered("  {{#t}}\n#{{/t}}\n/", data), "#\n/");
  EXPECT_EQ(rendered("#{{#t}}\n/\n  {{/t}}", data), "#\n/\n");
  EXPECT_EQ(rendered("{{#list}}\n* {{.}}\n{{/list}}\n", data), "* a\n* b\n");
  EXPECT_EQ(rendered(" | {{#t}}\t|\t{{/t}} | \n", data), " | \t|\t | \n");
  EXPECT_EQ(rendered(" | {{#t}} {{! kept }}\n {{/t}} | \n", data), " |  \n  | \n");
  EXPECT_EQ(rendered(" {{#t}}yes{{/t}}\n {{#t}}no{{/t}}\n", data), " yes\n no\n");
  EXPECT_EQ(rendered("  {{.}}\n", "v"), "  v\n") << "a variable is never standalone";
  EXPECT_EQ(rendered("{{#t}}{{value}}{{/t}}\nnext\n", Map{{"t", true}, {"value", "   "}}), "   \nnext\n")
      << "what a value holds does not make a line standalone";
  EXPECT_EQ(rendered("a\n{{> p}}\nb\n", data, partials), "a\npartial\nb\n");
}

TEST(Template, IncludesPartials) {
  const Map data{{"text", "content"}, {"lines", "<\n->"}};
  EXPECT_EQ(rendered("\"{{>p}}\"", data, {{"p", "*{{text}}*"}}), "\"*content*\"");
  EXPECT_EQ(rendered("\"{{> missing }}\"", data), "\"\"");
  EXPECT_EQ(rendered("| {{>p}} |", data, {{"p", "\t|\t"}}), "| \t|\t |");
  EXPECT_EQ(rendered("  {{text}}  {{> p}}\n", data, {{"p", ">\n>"}}), "  content  >\n>\n");
  EXPECT_EQ(rendered("  {{>p}}\n>", data, {{"p", ">\n>"}}), "  >\n  >>");
  EXPECT_EQ(rendered(">\n  {{>p}}", data, {{"p", ">\n>"}}), ">\n  >\n  >");
  EXPECT_EQ(rendered("|\r\n{{>p}}\r\n|", data, {{"p", ">"}}), "|\r\n>|");
  EXPECT_EQ(rendered("\\\n {{>p}}\n/\n", data, {{"p", "|\n{{lines}}a\n\n|\n"}}),
            "\\\n |\n <\n->a\n \n |\n/\n")
      << "the template's lines are indented, a value's are not";
  EXPECT_EQ(rendered(" {{>p}}\n", data, {{"p", "a\n  {{>q}}\n"}, {"q", "b\n{{#text}}\nc\n{{/text}}\n"}}),
            " a\n   b\n   c\n");
}

TEST(Template, RecursesWhileThereIsData) {
  const Map data{{"content", "X"}, {"nodes", List{Map{{"content", "Y"}, {"nodes", List{}}}}}};
  EXPECT_EQ(rendered("{{>node}}", data, {{"node", "{{content}}<{{#nodes}}{{>node}}{{/nodes}}>"}}), "X<Y<>>");
}

TEST(Template, TakesOtherDelimiters) {
  const Map data{{"t", true}, {"v", "value"}};
  EXPECT_EQ(rendered("{{=<% %>=}}(<%v%>{{v}})", data), "(value{{v}})");
  EXPECT_EQ(rendered("({{=[ ]=}}[v])", data), "(value)");
  EXPECT_EQ(rendered("|{{= @   @ =}}|@v@", data), "||value");
  EXPECT_EQ(rendered("{{#t}}\n|v|{{v}}\n{{/t}}\n{{= | | =}}\n|#t|\n|v|{{v}}\n|/t|\n", data),
            "|v|value\nvalue{{v}}\n");
  EXPECT_EQ(rendered("[{{>p}}]{{= | | =}}[|>p|]", data, {{"p", ".{{v}}."}}), "[.value.][.value.]");
  EXPECT_EQ(rendered("[{{>p}}][.{{v}}. .|v|.]", data, {{"p", "{{= | | =}}|v|"}}), "[value][.value. .|v|.]");
}

TEST(Template, NeverReadsAValueAsATemplate) {
  const Map data{{"code", "{{secret}}{{> p}}{{#secret}}x{{/secret}}{{"}, {"secret", "S"}};
  EXPECT_EQ(rendered("{{code}}", data, {{"p", "P"}}), *data.at("code").text());
  EXPECT_EQ(rendered("({{> code}})", data), "()") << "a value is no partial";
}

TEST(Template, RefusesWhatIsMalformed) {
  EXPECT_THAT(rendered("a\nb {{name\n"), HasSubstr("prompt:2: a tag is not closed"));
  EXPECT_THAT(rendered("{{{name}}"), HasSubstr("prompt:1: a tag is not closed"));
  EXPECT_THAT(rendered("\n{{#a}}\n\n"), HasSubstr("prompt:2: the section \"a\" has no end"));
  EXPECT_THAT(rendered("\n\n{{/a}}"), HasSubstr("prompt:3: the end of a section \"a\""));
  EXPECT_THAT(rendered("{{#a}}\n{{#b}}\n{{/a}}{{/b}}"), HasSubstr("prompt:3: the section \"b\" of line 2"));
  EXPECT_THAT(rendered("{{!\n\n}}{{a b}}"), HasSubstr("prompt:3: a name holds white space"));
  EXPECT_THAT(rendered("{{}}"), HasSubstr("a tag has no name"));
  EXPECT_THAT(rendered("{{#}}"), HasSubstr("a tag has no name"));
  for (const char* tag : {"{{=<%=}}", "{{=<%   =}}", "{{=a b c=}}", "{{===}}", "{{= = = =}}"})
    EXPECT_THAT(rendered(tag), HasSubstr("bad_input")) << tag;
  for (const char* tag : {"{{", "{{=", "{{{", "{{!", "x{{"})
    EXPECT_THAT(rendered(tag), HasSubstr("not closed")) << tag;
}

TEST(Template, IsBounded) {
  EXPECT_THAT(rendered("{{>p}}", {}, {{"p", "x\n{{>p}}"}}), HasSubstr("p:2: partials nest deeper than 32"));
  EXPECT_THAT(rendered("{{>p}}", {}, {{"p", "{{>q}}"}, {"q", "{{>p}}"}}), HasSubstr("partials nest deeper"));
  Texts partials;  // 2^30 pieces from 30 short ones
  for (int i = 0; i < 30; ++i)
    partials["p" + std::to_string(i)] =
        "{{>p" + std::to_string(i + 1) + "}}{{>p" + std::to_string(i + 1) + "}}";
  EXPECT_THAT(rendered("{{>p0}}", {}, partials), HasSubstr("without an end in sight"));
  EXPECT_THAT(
      rendered("{{#list}}{{text}}{{/list}}", Map{{"list", List(100, "x")}, {"text", std::string(1000, 'x')}},
               {}, {.bytes = 10'000}),
      HasSubstr("without an end in sight"));
  std::string nested, ends;
  for (int i = 0; i < 100; ++i) nested += "{{#a}}", ends += "{{/a}}";
  EXPECT_THAT(rendered(nested + ends), HasSubstr("sections nest deeper than 64"));
}

}  // namespace
}  // namespace kernelsmith
