"""The tool's commands, one module each: `main(arguments) -> int`, and its exit code.

0 is done, 1 a bad finding, 2 refused (`kit.command_line`). A new one gets its row in
`deploy.tech.__main__`.
"""
