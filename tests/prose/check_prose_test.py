"""Plants a phrase in each kind of text and expects check_prose to find it, with its line."""

import tempfile
import unittest
from pathlib import Path

from check_prose import HERE, check, read_allowed, read_phrases

PHRASES = read_phrases("(?:^|[.!?:] )Of (?!course) => begin with the noun\n\\bempty where\\b => if\n")


class Prose(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def wrong(self, path, text, allowed=""):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")
        return check(self.root, PHRASES, read_allowed(allowed))

    def test_a_clean_file_passes(self):
        self.assertEqual(self.wrong("a.cpp", "/// The limit of a call. Of course.\nint empty_where = 'x';\n"), [])

    def test_a_comment_names_its_line_the_phrase_and_what_to_write(self):
        wrong = self.wrong("src/a.cpp", "\nint a;  ///< Of a call.\n")
        self.assertEqual(wrong, ['src/a.cpp:2: "Of": write begin with the noun'])

    def test_a_sentence_goes_on_over_the_end_of_a_line(self):
        for path, text in {"a.hpp": "int a;\n/// It is empty\n/// where nothing is.\n",
                           "a.py": "a = 1\n# It is empty\n# where nothing is.\n",
                           "b.py": '"""A text.\n\nIt is empty\nwhere nothing is."""\n',
                           "a.sh": "a=1\n# It is empty\n# where nothing is.\n",
                           "a.md": "# A page\n- It is empty\n  where nothing is.\n"}.items():
            with self.subTest(path):
                found = self.wrong(path, text)
                self.assertEqual([each.split('"')[1] for each in found if each.startswith(path)], ["empty where"], found)

    def test_a_string_literal_in_pieces(self):
        self.assertEqual(self.wrong("a.cpp", 'say("it is empty "\n    "where");\n'), ['a.cpp:1: "empty where": write if'])
        self.assertEqual(self.wrong("b.py", 'say("it is empty "\n    "where")\n')[1:], ['b.py:1: "empty where": write if'])
        raw = self.wrong("c.cpp", 'say(R"(a\nempty where)", \'"\', "b");\n')
        self.assertEqual(raw[2:], ['c.cpp:1: "empty where": write if'])

    def test_code_is_no_prose(self):
        self.assertEqual(self.wrong("a.py", "Of = 1\nprint(Of, 'x')\n"), [])
        self.assertEqual(self.wrong("a.md", "A page.\n\n```cpp\n// Of a call.\n```\n"), [])

    def test_old_phrases_are_allowed_by_number(self):
        self.assertEqual(self.wrong("a.md", "Of a call.\n", "a.md 1\n"), [])
        self.assertEqual(len(self.wrong("a.md", "Of a call. Of a run.\n", "a.md 1\n")), 2)

    def test_the_number_can_only_go_down(self):
        wrong = self.wrong("a.md", "The limit of a call.\n", "a.md 1\n")
        self.assertEqual(wrong, ["allowed.txt: a.md has 0 old phrases now, not 1: lower the number"])

    def test_the_phrases_themselves_can_be_read(self):
        phrases = read_phrases((HERE / "phrases.txt").read_text(encoding="utf-8"))
        self.assertTrue(all(phrase.better for phrase in phrases))


if __name__ == "__main__":
    unittest.main()
