"""The file that spark-submit runs, in a folder of its own: Python looks there first, and a room may be named as a module of
Python's own is, such as ``types``.
"""

import os
import sys

# The package is not importable yet.
sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3)))

import freshet.__main__  # noqa: F401
