"""Virtual time: a loop whose clock jumps, and the hardware that follows it."""
