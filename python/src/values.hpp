// The values that C++ and Python share, and their conversion from plain Python objects.
#pragma once

#include <optional>
#include <string>

#include <pybind11/pybind11.h>
#include <pybind11/typing.h>

#include <kernelsmith/core/evaluator.hpp>
#include <kernelsmith/core/individual.hpp>
#include <kernelsmith/core/proposal.hpp>
#include <kernelsmith/core/result.hpp>

namespace kernelsmith::python {

namespace py = pybind11;

/// A program with its evaluation, one object in Python.
struct ProgramView {
  IndividualPtr individual;

  const Program& program() const { return *individual->program; }
  const Evaluation& evaluation() const { return individual->evaluation; }
};

/// The type annotation of JSON objects.
using Row = py::typing::Dict<py::str, py::object>;
using Rows = py::typing::List<Row>;

/// The type annotation of source_of()'s argument.
using SourceLike = py::typing::Union<Source, py::str, py::typing::Dict<py::str, py::str>>;

std::optional<ProgramView> view_of(const IndividualPtr& individual);
py::typing::List<ProgramView> list_of(const std::vector<IndividualPtr>& individuals);

/// Programs by their numbers, and back.
std::vector<std::uint64_t> numbers_of(const std::vector<ProgramId>& programs);
std::vector<ProgramId> programs_of(const std::vector<std::uint64_t>& numbers);

/// The text as a Python str. Bytes that are not UTF-8 become replacement characters: a log may be cut
/// anywhere.
py::str text_of(std::string_view text);

/// The error in words, if there is one.
std::optional<py::str> words_of(const std::optional<Error>& error);

/// The counterpart of text_of(): a Python text as UTF-8, with escapes for characters that UTF-8 lacks. Throws
/// py::error_already_set.
std::string utf8_of(const py::handle& text);

/// A Source from a Source, a text, or a dict of texts by path. A text takes the path of `like`'s only file,
/// else "candidate.txt". Throws ErrorException, and py::type_error for another object.
Source source_of(const py::handle& object, const Source* like = nullptr);

/// Converts an evaluator's result: an Evaluation, a number, a dict with `fitness` and features, or a pair
/// of a number and a dict of features. Throws as source_of does: py::type_error says what was returned.
Evaluation evaluation_of(const py::handle& object);

/// Converts a proposer's result for `request`: a child as source_of takes it, a Refusal, or None
/// (`exhausted`).
Proposal proposal_of(const ProposalRequest& request, const py::handle& object);

/// The JSON text as Python objects.
py::object json_of(const std::string& text);

/// A result for a notebook, made by the function `what` of kernelsmith._tables.
py::str html_of(const char* what, const py::handle& result);

/// The enumerator with this name. Throws ErrorException.
template <class Enum>
Enum named(const std::string& name, std::optional<Enum> (*from)(std::string_view), const char* what) {
  const auto value = from(name);
  if (!value)
    throw ErrorException(fail(ErrorCode::invalid_argument,
                              "there is no " + std::string(what) + " \"" + name + "\"", what,
                              "docs/errors.md lists them"));
  return *value;
}

void bind_values(py::module_& module);

}  // namespace kernelsmith::python
