# Sampling an image at given positions, in two and three spatial dims.
import torch
from harness import Case, T, V, cases_to_tests

F32 = (torch.float32,)
NAN = float("nan")
SHORT = {torch.bfloat16: (5e-2, 5e-2), torch.float16: (1e-2, 1e-2)}
MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


def sampler(rank, image, grid, interpolation, padding, align, **options):
    name = f"{interpolation} {padding} {'corners' if align else 'edges'}"
    arguments = (MODES[interpolation], PADDINGS[padding], align)
    return Case(f"aten::grid_sampler_{rank}d", image, grid, *arguments, name=name, **options)


def all_paddings(rank, image, grid, modes):
    return [
        sampler(rank, image, grid, mode, padding, align, dtypes=(torch.float32, torch.float64))
        for mode in modes
        for padding in PADDINGS
        for align in (True, False)
    ]


IMAGE, GRID = T(2, 3, 5, 6), T(2, 4, 3, 2, low=-1.5, high=1.5)
VOLUME, GRID3 = T(2, 3, 4, 5, 6), T(2, 4, 3, 2, 3, low=-1.5, high=1.5)
LOST = V([[[[NAN, 0.3], [5.0, 0.2], [-0.2, float("inf")]]]], grad=False)


def single(case_name, op, *arguments, **options):
    return Case(op, *arguments, name=case_name, dtypes=F32, **options)


EDGES = [
    single("nan position", "aten::grid_sampler_2d", T(1, 1, 3, 3), LOST, 0, 1, False),
    single("nan nearest", "aten::grid_sampler_2d", T(1, 1, 3, 3), LOST, 1, 0, False),
    single("one pixel", "aten::grid_sampler_2d", T(2, 2, 1, 1), GRID, 0, 2, True),
    single("one element wide", "aten::grid_sampler_2d", T(2, 2, 4, 1), GRID, 0, 2, True),
    single("no positions", "aten::grid_sampler_2d", T(2, 2, 4, 3), T(2, 0, 3, 2), 0, 0, True),
    single("no batch", "aten::grid_sampler_3d", T(0, 2, 4, 3, 2), T(0, 2, 3, 2, 3), 0, 0, True),
    Case("aten::grid_sampler_2d", IMAGE, GRID, 0, 0, False, name="short", tol=SHORT,
         dtypes=(torch.float16, torch.bfloat16), backward=False),
]  # fmt: skip

test_grid_sampler = cases_to_tests(
    all_paddings(2, IMAGE, GRID, MODES)
    + all_paddings(3, VOLUME, GRID3, ("bilinear", "nearest"))
    + EDGES
)
