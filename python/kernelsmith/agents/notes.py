"""Short pages for agents, served as resources and written into workspaces."""

FITNESS = """\
The score of a program is its fitness; higher is better. For a kernel it is the speedup over the baseline. It is written as the
median of all the program's measurements with a 95 % interval, 1.83 (1.80 to 1.86). Programs are ranked by the low end of
the interval: a program that is sometimes fast and sometimes slow loses to a steady one, and measuring again (`confirm`) can raise
or lower a program. Differences within the interval are noise. When the run has ended, the fitness of its best is that of one more
measurement on fresh inputs, without the earlier ones.
"""

RULES = """\
You improve one program. kernelsmith judges it: it compiles your program, checks its outputs against a reference on secret
inputs, times it in a sandbox, and keeps good programs in an archive.

- `evaluate` is the only way to learn whether a program is right and fast; your own measurements do not count.
- Every evaluation uses up the budget (`budget`). A program that the run has seen before costs nothing.
- If the program has the markers EVOLVE-BLOCK-START and EVOLVE-BLOCK-END, change only the text between them.
- Inputs are drawn anew for every call from a secret key, and every output is compared in full. You gain nothing by guessing
  inputs, by caching results between calls, or by touching the clock.
- Every program that you have evaluated is kept; the best of them is the run's result. The run ends when its evaluations are used
  up, or when you call `finish`: do so when you have nothing more to try. Then the best is measured again on fresh inputs.

""" + FITNESS

SCORING = """\
# How programs are judged

1. The program is compiled in a sandbox without network. The compiler's messages are shown.
2. Its outputs are compared with the reference's at timed and other shapes. The error that an output may have depends on the
   error that the reference itself has in its precision.
3. It is timed in turns with a trusted program. The fitness is the median of their ratio, scaled to the baseline, with a 95 %
   interval; programs are ranked by its low end.
4. A rejection names its stage and a code, such as `compile_failed`, `wrong_output` or `timeout`, with the tools' messages.
5. At the end the best is measured again on fresh inputs, and that measurement alone is the run's result. `confirm` measures
   a program in the same way at once, and its measurement counts together with the earlier ones.
"""

NOTES = {"rules": RULES, "scoring": SCORING}
