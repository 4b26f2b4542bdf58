"""A value of each type that a file of test cases may hold, the awkward ones first."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal

VALUES = [
    ("string", "Ana: 'x' \"y\" # {z} \\ \U0001f600\u0007"),
    ("string", "null"),
    ("string", "007"),
    ("string", ""),
    ("string", "true"),
    ("bigint", -(1 << 63)),
    ("decimal(10,2)", Decimal("-0.50")),
    ("double", 1e-300),
    ("boolean", False),
    ("timestamp", datetime(2026, 1, 5, 10, 0, 0, 123456, tzinfo=timezone.utc)),
    ("timestamp_ntz", datetime(2026, 1, 5)),
    ("array<string>", ["a b", None]),
    ("map<string,int>", {"a b": 1}),
    ("struct<a:int,b:array<string>>", (1, ["x"])),
]
