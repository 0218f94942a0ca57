# redteam: honest
# tries: nothing: the twin of this task's tricks

def value():
    return 0.5
