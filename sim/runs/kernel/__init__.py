"""The IC models behind a real kernel: a stock Debian guest whose I2C and GPIO we emulate.

Outside, on any machine: unpack the kernel (`stock_kernel`), pack Python and our packages into an
initial file system (`guest_files`, `cpio`), boot it in QEMU and hear its verdict (`machine`).
Inside: `guest_entry` is the first process, `emulator` answers the kernel's CP2112 driver on
/dev/uhid (`uhid`, `cp2112`), and the tests act on its world through `far_world`.
"""
