# Layer, group, batch and RMS normalisation, vector norms, renorm.
import pytest
import torch
from harness import COMPLEX, FLOATS, Case, T, V, cases_to_tests
from support import DEVICE, assert_same
from torch.nn import functional as F

INF, NAN = float("inf"), float("nan")
F32 = (torch.float32,)
WIDE = (torch.float32, torch.float64)
# CPU keeps statistics of half types in those types; this device in float32.
TOL = {torch.float32: (2e-5, 2e-5)}

LAYERS = [
    Case("aten::native_layer_norm", T(4, 5, 6), [6], T(6), T(6), 1e-5, dtypes=WIDE, tol=TOL),
    Case(
        "aten::native_layer_norm",
        T(4, 5, 6),
        [5, 6],
        None,
        None,
        1e-3,
        name="plain",
        dtypes=WIDE,
        tol=TOL,
    ),
    Case(
        "layer_norm", T(4, 5, 6), T(6), T(6), tol=TOL, fn=lambda x, w, b: F.layer_norm(x, [6], w, b)
    ),
    Case(
        "layer_norm mixed",
        T(4, 6, dtype=torch.bfloat16),
        T(6),
        T(6),
        fn=lambda x, w, b: F.layer_norm(x, [6], w, b),
        dtypes=F32,
        tol=(1.6e-2, 1e-3),
    ),
    Case("layer_norm no rows", T(0, 6), T(6), fn=lambda x, w: F.layer_norm(x, [6], w), dtypes=F32),
    Case("rms_norm", T(4, 5, 6), T(6), fn=lambda x, w: F.rms_norm(x, [6], w), tol=TOL),
    Case("rms_norm eps", T(4, 5, 6), fn=lambda x: F.rms_norm(x, [5, 6], None, 1e-3), tol=TOL),
    Case(
        "aten::native_group_norm",
        # CPU's kernel reads all three as contiguous; what calls it makes them so.
        *(T(2, 6, 4, 5, contiguous=True), T(6, contiguous=True), T(6, contiguous=True)),
        2,
        6,
        20,
        3,
        1e-5,
        dtypes=WIDE,
        tol=TOL,
    ),
    Case(
        "group_norm",
        *(T(2, 6, 7), T(6), T(6)),
        fn=lambda x, w, b: F.group_norm(x, 3, w, b),
        # The saved mean is of the half type.
        tol={**TOL, torch.bfloat16: (1.6e-2, 1e-3), torch.float16: (1e-3, 1e-3)},
    ),
    Case("group_norm plain", T(2, 4), fn=lambda x: F.group_norm(x, 2), dtypes=F32, tol=TOL),
    Case("instance_norm", T(2, 3, 4, 5), fn=F.instance_norm, dtypes=F32, tol=TOL),
]


def batch_norm(training, momentum=0.1):
    def run(x, mean, var, *affine):
        mean, var = mean.clone(), var.clone()
        y = F.batch_norm(x, mean, var, *affine, training=training, momentum=momentum)
        return y, mean, var

    return run


STATISTICS = (T(3, grad=False), T(3, low=0.5, high=2.0, grad=False))
BATCHES = [
    Case("batch_norm train", T(4, 3, 5), *STATISTICS, T(3), T(3), fn=batch_norm(True), tol=TOL),
    Case("batch_norm eval", T(4, 3, 5), *STATISTICS, T(3), T(3), fn=batch_norm(False), tol=TOL),
    Case(
        "batch_norm two dims", T(6, 3), *STATISTICS, fn=batch_norm(True, 0.3), dtypes=F32, tol=TOL
    ),
    Case(
        "batch_norm image",
        T(2, 3, 4, 4),
        *STATISTICS,
        T(3),
        T(3),
        fn=batch_norm(True),
        dtypes=F32,
        tol=TOL,
    ),
    Case(
        "batch_norm without statistics",
        T(4, 3, 5),
        T(3),
        fn=lambda x, w: F.batch_norm(x, None, None, w, training=True),
        dtypes=F32,
        tol=TOL,
    ),
    Case(
        "batch_norm bf16 input",
        T(4, 3, 5, dtype=torch.bfloat16),
        *STATISTICS,
        T(3),
        T(3),
        fn=batch_norm(True),
        dtypes=F32,
        tol=(1.6e-2, 1e-3),
    ),
    Case(
        "aten::_native_batch_norm_legit_functional",
        T(4, 3, 5),
        T(3),
        T(3),
        *STATISTICS,
        True,
        0.2,
        1e-5,
        dtypes=WIDE,
        backward=False,
        tol=TOL,
    ),
    Case(
        "_native_batch_norm_legit in evaluation",
        T(4, 3, 5),
        T(3),
        T(3),
        *STATISTICS,
        fn=lambda *args: torch.ops.aten._native_batch_norm_legit(*args, False, 0.2, 1e-5)[0],
        dtypes=WIDE,
        tol=TOL,
    ),
    Case(
        "aten::_native_batch_norm_legit.no_stats",
        T(4, 3, 5),
        T(3),
        T(3),
        True,
        0.2,
        1e-5,
        dtypes=WIDE,
        tol=TOL,
    ),
]


def norm(name, *args, dtypes=FLOATS + COMPLEX, **options):
    tol = {torch.bfloat16: (3e-2, 3e-2), torch.float16: (4e-3, 4e-3)}
    return Case("aten::linalg_vector_norm", *args, name=name, dtypes=dtypes, tol=tol, **options)


NORMS = [
    norm("two", T(3, 4, 5), 2, [1]),
    norm("one", T(3, 4), 1, [1], True),
    norm("zero", T(3, 4), 0, [1]),
    norm("three", T(3, 4), 3, [0]),
    norm("fraction", T(3, 4), 2.5, None, dtypes=F32),
    norm("negative", T(3, 4, low=0.5, high=2.0), -1, [0, 1], dtypes=F32),
    norm("infinity", T(3, 4), INF, [1], dtypes=FLOATS),
    norm("minus infinity", T(3, 4), -INF, [1], dtypes=FLOATS),
    norm("dtype", T(3, 4), 2, [1], kwargs={"dtype": torch.float64}, dtypes=F32),
    norm("scalar", T(), 2, dtypes=F32),
    norm("no elements", T(3, 0), 2, [1], dtypes=F32),
    norm("nan", V([1.0, NAN, 2.0]), INF, dtypes=F32, backward=False),
    Case("aten::norm.Scalar", T(3, 4), 2, dtypes=F32),
    Case("aten::norm.ScalarOpt_dim", T(3, 4), None, [0], True, dtypes=F32),
    Case("aten::norm.ScalarOpt_dtype", T(3, 4), 3, kwargs={"dtype": torch.float64}, dtypes=F32),
    Case("aten::renorm", T(4, 5, 3), 2, 1, 1.5, dtypes=F32, tol=TOL),
    Case("aten::renorm", T(4, 5), 1, 0, 1.5, name="one", dtypes=F32, tol=TOL),
]

for c in LAYERS + BATCHES:
    c.exact = True
for c in BATCHES:
    c.strides = "plain"  # of a permuted input CPU makes a row-major result, Meta keeps the layout
test_norm = cases_to_tests(LAYERS + BATCHES + NORMS)


def test_batch_norm_keeps_statistics_in_place():
    def train(device):
        torch.manual_seed(0)
        layer = torch.nn.BatchNorm1d(3).to(device)
        mean = layer.running_mean
        for _ in range(2):
            layer(torch.randn(4, 3, 5).to(device))
        assert layer.running_mean is mean
        return mean, layer.running_var, layer.num_batches_tracked

    for got, want in zip(train(DEVICE), train("cpu"), strict=True):
        assert_same(got, want)


OUT_FORMS = [
    (torch.ops.aten.native_batch_norm, (True,), 3),
    (torch.ops.aten.native_batch_norm, (False,), 1),
    (torch.ops.aten._native_batch_norm_legit, (True,), 3),
    (torch.ops.aten._native_batch_norm_legit, (False,), 1),
    (torch.ops.aten._batch_norm_with_update, (), 3),
    (torch.ops.aten._batch_norm_no_update, (), 1),
]


@pytest.mark.parametrize("operator, training, same", OUT_FORMS)
def test_out_forms_of_batch_norm_write_statistics_too(operator, training, same):
    """`same`: how many results CPU has in the same form."""
    names = ["out", "save_mean", "save_invstd", "reserve"]
    if operator is torch.ops.aten._batch_norm_no_update:
        names = ["out0", "out1", "out2", "out3"]

    def run(device):
        torch.manual_seed(0)
        x = torch.randn(4, 3, 5).to(device)
        weight, bias, mean, var = (torch.rand(3).to(device) + i for i in range(4))
        count = 3 if training else 4
        dtypes = [torch.float32] * 3 + [torch.uint8]
        outs = {
            n: torch.empty(0, dtype=d, device=device)
            for n, d in zip(names[:count], dtypes[:count], strict=True)
        }
        given = operator(x, weight, bias, mean, var, *training, 0.2, 1e-5, **outs)
        assert all(a is b for a, b in zip(given, outs.values(), strict=True))
        return [*given[:same], mean, var]

    for got, want in zip(run(DEVICE), run("cpu"), strict=True):
        assert_same(got, want, rtol=1e-5, atol=1e-6)


def test_batch_norm_without_statistics_of_its_own():
    x = torch.randn(4, 3, 5)
    want = torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)
    got = torch.native_batch_norm(x.to(DEVICE), None, None, None, None, True, 0.1, 1e-5)
    for mine, theirs in zip(got, want, strict=True):
        assert_same(mine, theirs, rtol=1e-5, atol=1e-6)


def test_batch_norm_eval_gradient():
    layer = torch.nn.BatchNorm1d(3).to(DEVICE).eval()
    x = torch.randn(4, 3, 5).to(DEVICE).requires_grad_()
    layer(x).sum().backward()
    assert_same(x.grad, torch.full((4, 3, 5), (1 + 1e-5) ** -0.5))


@pytest.mark.parametrize("affine", [False, True])
def test_synchronised_pieces_equal_one_batch(affine):
    """Two shards through the operators of SyncBatchNorm equal batch_norm on their union."""
    torch.manual_seed(0)
    x, dy = torch.randn(6, 3, 4), torch.randn(6, 3, 4)
    weight = torch.randn(3) if affine else None
    mean0, var0 = torch.randn(3), torch.rand(3) + 0.5
    leaf, mean1, var1 = x.clone().requires_grad_(), mean0.clone(), var0.clone()
    want = F.batch_norm(leaf, mean1, var1, weight, training=True)
    want.backward(dy)

    shards = [x[:2].to(DEVICE), x[2:].to(DEVICE)]
    counts = torch.tensor([8.0, 16.0], device=DEVICE)
    stats = [torch.batch_norm_stats(s, 1e-5) for s in shards]
    means, invstds = (torch.stack([s[i] for s in stats]) for i in range(2))
    running = mean0.to(DEVICE), var0.to(DEVICE)
    weight = weight.to(DEVICE) if affine else None
    mean, invstd = torch.batch_norm_gather_stats_with_counts(
        shards[0], means, invstds, *running, 0.1, 1e-5, counts
    )
    got = [torch.batch_norm_elemt(s, weight, None, mean, invstd, 1e-5) for s in shards]
    assert_same(torch.cat(got), want.detach(), rtol=1e-4, atol=1e-5)
    assert_same(running[0], mean1, rtol=1e-4, atol=1e-5)
    assert_same(running[1], var1, rtol=1e-4, atol=1e-5)

    grads = [dy[:2].to(DEVICE), dy[2:].to(DEVICE)]
    sums = [
        torch.batch_norm_backward_reduce(g, s, mean, invstd, weight, True, False, False)
        for g, s in zip(grads, shards, strict=True)
    ]
    sum_dy, sum_dy_xmu = (sums[0][i] + sums[1][i] for i in range(2))
    dx = [
        torch.batch_norm_backward_elemt(
            g, s, mean, invstd, weight, sum_dy, sum_dy_xmu, counts.to(torch.int32)
        )
        for g, s in zip(grads, shards, strict=True)
    ]
    assert_same(torch.cat(dx), leaf.grad, rtol=1e-4, atol=1e-5)


def test_joint_statistics_without_running_ones():
    mean = torch.tensor([[1.0], [3.0]]).to(DEVICE)
    invstd = torch.tensor([[1.0], [1.0]]).to(DEVICE)
    x, counts = torch.zeros(8, 1).to(DEVICE), torch.tensor([4.0, 4.0]).to(DEVICE)
    got = torch.batch_norm_gather_stats_with_counts(x, mean, invstd, None, None, 0.1, 0.0, counts)
    # Variance 1 inside each half and 1 between them.
    assert_same(got[0], torch.tensor([2.0]))
    assert_same(got[1], torch.tensor([2.0**-0.5]))
