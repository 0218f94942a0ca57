B = 128  # @tune 64 128
C: int = -1  # @tune -1 2
