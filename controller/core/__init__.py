"""The portable core: sensing, round rules, payout preview and lights, without any hardware.

Everything here runs unchanged on CPython and on MicroPython; it imports only itself, `hal.aio`,
`protocol.numbers` and `protocol.sensor_id`.
It decides; it never reads a pin, writes a file or sends a frame.
"""
