# EVOLVE-BLOCK-START
def f(a, b=rb'\''):
    """doc # no comment"""
    if a \
       and b: return f"{{ {a:{b}} }}" + f"{a["x#y"]}"
# EVOLVE-BLOCK-END
