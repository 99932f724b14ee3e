"""Amounts in cents and how every page must write them."""

from __future__ import annotations

AMOUNTS = [
    (0, "$0.00"),
    (5, "$0.05"),
    (99, "$0.99"),
    (100, "$1.00"),
    (99999, "$999.99"),
    (800075, "$8,000.75"),
    (123456789, "$1,234,567.89"),
    (-2550, "-$25.50"),
    # Past 2**53 a float would have lost the cents.
    (90071992547409931, "$900,719,925,474,099.31"),
]
