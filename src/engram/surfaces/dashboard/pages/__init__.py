"""The pages: one module each, one function per address; `live_board` and `stream` update Now live."""
