// What tensors are drawn from: the key `init`, and the generator.
#include "task_yaml.hpp"

namespace kernelsmith {
namespace {

/// The softmax with an index tensor before the others.
std::string with_tensor(const std::string& tensor) {
  return with("tensors:\n", "tensors:\n  - " + tensor + "\n");
}

std::string with_init(const std::string& init, const std::string& dtype = "i32") {
  return with_tensor("{name: index, role: in, dtype: " + dtype + ", shape: [rows], init: " + init + "}");
}

TEST(TaskInit, ReadsARange) {
  const Task task = good(with_init("{low: -1, high: \"2*cols\"}"));
  const TensorSpec& tensor = task.tensors.front();
  EXPECT_EQ(tensor.init, TensorInit::range);
  EXPECT_EQ(tensor.low, "-1");
  EXPECT_EQ(tensor.high, "2*cols");
  EXPECT_EQ(good(with_init("{high: cols}")).tensors.front().low, "0") << "the default";
}

TEST(TaskInit, ReadsOffsetsAndWords) {
  const Task task =
      good(with_tensor("{name: ends, role: in, dtype: i64, shape: [rows + 1], init: {offsets: "
                       "rows*cols}}"));
  EXPECT_EQ(task.tensors.front().init, TensorInit::offsets);
  EXPECT_EQ(task.tensors.front().high, "rows*cols");
  EXPECT_EQ(good(with_init("permutation")).tensors.front().init, TensorInit::permutation);
  EXPECT_EQ(good(with_init("one_hot")).tensors.front().init, TensorInit::one_hot);
}

TEST(TaskInit, ReadsAGenerator) {
  const auto generated = [](std::string yaml) {
    const std::string from = "seed: seed.cpp";
    return yaml.replace(yaml.find(from), from.size(), "seed: seed.cpp, inputs: inputs.cpp");
  };
  const Task task = good(generated(with_init("generated")));
  EXPECT_EQ(task.tensors.front().init, TensorInit::generated);
  EXPECT_EQ(task.inputs.main_text(), "generator text");
  EXPECT_THAT(error_of(generated(kSoftmax)),
              AllOf(HasSubstr("task.yaml:5"), HasSubstr("there are none"), HasSubstr("init: generated")));
  EXPECT_THAT(error_of(with_init("generated")),
              AllOf(HasSubstr("no generator is named, and tensor 'index'"), HasSubstr("inputs.cpp")));
}

TEST(TaskInit, SaysHowBoundsAreWritten) {
  EXPECT_THAT(error_of(with_init("range")),
              AllOf(HasSubstr("task.yaml:8"), HasSubstr("init: {low: 0, high: cols}")));
  EXPECT_THAT(error_of(with_init("labels")), HasSubstr("init: {low: 0, high: cols}"));
  EXPECT_THAT(error_of(with_init("offsets")), HasSubstr("init: {offsets: nnz}"));
  EXPECT_THAT(error_of(with_init("indptr")), HasSubstr("init: {offsets: nnz}"));
  EXPECT_THAT(error_of(with_init("{min: 0, high: 3}")), HasSubstr("did you mean low?"));
  EXPECT_THAT(error_of(with_init("{low: 0, hihg: 3}")), HasSubstr("did you mean high?"));
  EXPECT_THAT(error_of(with_init("{low: 0}")), HasSubstr("high' is missing"));
  EXPECT_THAT(error_of(with_init("{offsets: 3, high: 3}")), HasSubstr("begin at 0 and end at one number"));
  EXPECT_THAT(error_of(with_init("randperm")), HasSubstr("did you mean permutation?"));
}

TEST(TaskInit, RefusesAnEmptyRangeAtAnyShape) {
  EXPECT_THAT(error_of(with_init("{low: 5, high: 5}")),
              AllOf(HasSubstr("task.yaml:8"), HasSubstr("empty at cols=32 rows=64: from 5 to below 5")));
  EXPECT_THAT(error_of(with_init("{low: 20, high: rows}")),
              AllOf(HasSubstr("task.yaml:11"), HasSubstr("empty at cols=32 rows=10")))
      << "a timed shape";
  EXPECT_THAT(error_of(with_init("{low: 1, high: cols}")),
              AllOf(HasSubstr("task.yaml:12"), HasSubstr("empty at cols=1 rows=3")))
      << "a check shape";
  EXPECT_THAT(error_of(with_init("{low: 0, high: colls}")), HasSubstr("did you mean cols?"));
  EXPECT_THAT(error_of(with_init("{low: 0, high: 1.5}")), HasSubstr("task.yaml:8"));
}

TEST(TaskInit, RefusesValuesThatTheDtypeDoesNotHold) {
  EXPECT_THAT(error_of(with_init("{low: 0, high: 129}", "i8")),
              AllOf(HasSubstr("values from 0 to 128"), HasSubstr("i8 holds whole numbers from -128 to 127")));
  EXPECT_EQ(good(with_init("{low: -128, high: 128}", "i8")).tensors.front().high, "128");
  EXPECT_THAT(error_of(with_init("{low: -1, high: 2}", "u8")), HasSubstr("from 0 to 255"));
  EXPECT_THAT(error_of(with_init("{low: 0, high: 16777218}", "f32")), HasSubstr("to 16777216"));
  EXPECT_EQ(good(with_init("{low: 0, high: 16777217}", "f32")).tensors.front().init, TensorInit::range);
  EXPECT_THAT(error_of(with_init("{low: 0, high: 2147483649}")), HasSubstr("i32 holds"));
  EXPECT_EQ(good(with_init("{low: 0, high: 9223372036854775807}", "i64")).tensors.front().init,
            TensorInit::range);
  EXPECT_THAT(error_of(with_tensor("{name: p, role: in, dtype: u8, shape: [300], init: permutation}")),
              HasSubstr("values from 0 to 299"));
}

TEST(TaskInit, RefusesOffsetsThatCannotBe) {
  EXPECT_THAT(error_of(with_init("{offsets: \"cols - 33\"}")), HasSubstr("end at -1"));
  EXPECT_THAT(error_of(with_tensor("{name: p, role: in, dtype: i32, shape: [1], init: {offsets: cols}}")),
              HasSubstr("room for one offset"));
  EXPECT_THAT(error_of(with_tensor("{name: p, role: in, dtype: u8, shape: [2], init: {offsets: 256}}")),
              HasSubstr("u8 holds"));
}

TEST(TaskInit, RefusesWhatHasNoDimensionNoReaderOrNoPlaceForSpecials) {
  for (const char* init : {"permutation", "one_hot", "{offsets: cols}"})
    EXPECT_THAT(
        error_of(with_tensor(std::string("{name: p, role: in, dtype: i32, shape: [], init: ") + init + "}")),
        HasSubstr("along a dimension"))
        << init;
  EXPECT_THAT(error_of(with_tensor("{name: p, role: out, dtype: i32, shape: [rows], init: permutation}")),
              HasSubstr("written, not drawn"));
  EXPECT_THAT(error_of(with_tensor("{name: p, role: in, dtype: f32, shape: [rows], init: {low: 0, high: 9}, "
                                   "specials: [nan]}")),
              HasSubstr("allows no special values"));
}

/// A search for places: one input as told, and a table.
Task with_places(const std::string& x, const std::string& place_dtype) {
  return good(with("tensors:\n",
                   "tensors:\n  - {name: table, role: in, dtype: f32, shape: [cols], constant: true}\n"
                   "  - {name: counts, role: in, dtype: i32, shape: [cols]}\n"
                   "  - {name: given, role: in, dtype: f32, shape: [rows, cols]" +
                       x + "}\n  - {name: place, role: out, dtype: " + place_dtype + ", shape: [rows]}\n"));
}

TEST(TaskInit, ShowsTiesWhereAnIndexIsAskedFor) {
  for (const char* dtype : {"i32", "i64"}) {
    const Task task = with_places("", dtype);
    EXPECT_EQ(task.tensors[2].init, TensorInit::ties) << dtype;
    EXPECT_EQ(task.tensors[0].init, TensorInit::normal) << "a table";
    EXPECT_EQ(task.tensors[1].init, TensorInit::normal) << "whole numbers";
    EXPECT_EQ(task.tensors[4].init, TensorInit::normal) << "said so";
  }
  EXPECT_EQ(with_places(", init: normal", "i32").tensors[2].init, TensorInit::normal);
  EXPECT_EQ(with_places("", "i8").tensors[2].init, TensorInit::normal) << "a quantised value";
  EXPECT_EQ(with_places(", init: ties, specials: [nan]", "i8").tensors[2].init, TensorInit::ties);
}

}  // namespace
}  // namespace kernelsmith
