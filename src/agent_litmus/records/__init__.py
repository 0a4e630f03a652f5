"""Frozen values that the stages hand to each other. No I/O, no imports of other stages."""
