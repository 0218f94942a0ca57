"""Short pages for agents, served as resources and written into workspaces."""

FITNESS = """\
The score of a program is its fitness, higher is better: for kernels how many times as fast as the baseline it is. It is written as
the median of all its measurements with a 95 % interval, 1.83 (1.80 to 1.86). Programs are ranked by the low end: one that is fast
at times and slow at others loses to a steady one, and measuring again (`confirm`) can move a program either way. Differences within
the interval are noise. When the run has ended, the number of its best is what measuring it again on fresh inputs said by itself.
"""

RULES = """\
You improve one program. kernelsmith judges it: it compiles your program, checks its outputs against a reference on secret
inputs, times it in a sandbox, and keeps what is good in an archive.

- `evaluate` is the only way to learn whether a program is right and fast; what you measure yourself does not count.
- Every evaluation uses up the budget (`budget`). A program that the run has seen before costs nothing.
- Change only what stands between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END, if the program has such markers.
- Inputs are drawn anew for every call from a secret key, and every output is compared in full. There is nothing to be
  gained by guessing them, by caching results between calls, or by touching the clock.
- Every program that you have evaluated is kept; the best of them is the run's. The run ends when its evaluations are used up, or
  when you call `finish`: do so when you have nothing more to try. Then its best is measured again on fresh inputs.

""" + FITNESS

SCORING = """\
# How programs are judged

1. The program is compiled in a sandbox without network. What the compiler says is shown.
2. Its outputs are compared with the reference's at timed and other shapes. How wrong an output may be follows from what the
   reference itself loses in its precision.
3. It is timed beside a trusted program in turns. The fitness is the median of their ratio, scaled to the baseline, with a 95 %
   interval; programs are ranked by its low end.
4. A rejection names its stage and a code: `compile_failed`, `wrong_output`, `timeout` and so on, with the tools' words.
5. At the end the best is measured again on fresh inputs, and what that measurement says by itself is the run's result.
   `confirm` does the same at once, and its measurement counts for the program with the earlier ones.
"""

NOTES = {"rules": RULES, "scoring": SCORING}
