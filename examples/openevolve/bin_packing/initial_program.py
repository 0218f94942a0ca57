"""Packs items of sizes up to 1 into bins of size 1 as they come: no item may be moved later."""


# EVOLVE-BLOCK-START
def choose(item, room):
    """The index of the bin that gets the item, given the room left in each open bin, or None to open another."""
    for index, left in enumerate(room):
        if item <= left:
            return index
    return None
# EVOLVE-BLOCK-END


def pack(items):
    room = []
    for item in items:
        index = choose(item, list(room))
        if index is None:
            room.append(1.0 - item)
        else:
            room[index] -= item
    return room
