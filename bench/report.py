"""How every benchmark prints its results: a table, then one line for each target."""

from collections.abc import Sequence

Cell = str | int | float | None


def _text(cell: Cell) -> str:
    if cell is None:
        return "-"
    return f"{cell:.3g}" if isinstance(cell, float) and abs(cell) < 100 else _plain(cell)


def _plain(cell: str | int | float) -> str:
    return f"{cell:.0f}" if isinstance(cell, float) else str(cell)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Prints rows under columns, the first column to the left and numbers to the right."""
    cells = [list(columns), *([_text(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(title)
    for row in cells:
        first, *rest = (
            c.ljust(w) if i == 0 else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *rest]).rstrip())


def target(name: str, value: float, bound: float) -> None:
    """Prints whether `value` is at most `bound`."""
    print(f"target {name} {_text(value)} <= {_text(bound)} {'met' if value <= bound else 'short'}")
