# The search starts here. The text between the markers may change; a constant with @tune is a knob, whose
# listed values are tried.

# EVOLVE-BLOCK-START
X = -3.0  # @tune -4.0 -3.0 -2.0 -1.0 0.0 1.0 2.0 3.0 4.0
Y = 3.0  # @tune -4.0 -3.0 -2.0 -1.0 0.0 1.0 2.0 3.0 4.0
FINE = 0.0  # @tune -0.4 -0.2 0.0 0.2 0.4


def point():
    return X + FINE, Y - FINE


# EVOLVE-BLOCK-END
