def value():
    return 1.0
