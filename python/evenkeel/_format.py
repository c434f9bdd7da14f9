"""Numbers and tables for people: the repr and HTML repr of results."""

from __future__ import annotations

import math
from html import escape
from typing import Any, Iterable, Optional, Sequence


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def confidence(level: float) -> str:
    """A confidence as a percentage, with as many digits as it takes not to call it certain."""
    digits = next((digits for digits in range(1, 12) if 100 - 100 * level >= 0.5 / 10**digits), 12)
    return f"{100 * level:.{digits}f} %"


def percent_range(ends: Sequence[float]) -> str:
    return f"{percent(ends[0])} to {percent(ends[1])}"


def threshold(value: Optional[float]) -> str:
    return "infinite" if value is None or math.isinf(value) else f"{value:.4f}"


def bound(value: float) -> str:
    """A bound on a share; above 1 it says nothing."""
    return "above 1" if value > 1 else f"{value:.3f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Aligned columns, two blanks apart; those in `left` hold words."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    cells = (
        [cell.ljust(width) if column in left else cell.rjust(width) for column, (cell, width) in enumerate(zip(line, widths))]
        for line in lines
    )
    return "\n".join("  " + "  ".join(line).rstrip() for line in cells)


def html_table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    head = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_page(title: str, paragraphs: Iterable[str], *tables: str, warnings: Sequence[str] = ()) -> str:
    parts = [f"<p><strong>{escape(title)}</strong></p>"]
    parts += [f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs]
    parts += tables
    if warnings:
        parts.append("<ul>" + "".join(f"<li>Warning: {escape(warning)}.</li>" for warning in warnings) + "</ul>")
    return f'<div class="evenkeel">{"".join(parts)}</div>'
