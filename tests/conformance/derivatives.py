# The checks of derivatives and of vmap: gradients, gradcheck, forward AD, batching rules.
import warnings

import torch
from torch.autograd import forward_ad
from torch.utils._pytree import tree_flatten, tree_unflatten

from . import compare, kinds, nodes, samples


def _differentiable(results):
    leaves = tree_flatten(results)[0]
    return [r for r in leaves if isinstance(r, torch.Tensor) and r.requires_grad]


def _noise_like(tensors, number=7):
    """Values on CPU; sixteenths, exact in every dtype."""
    generator = torch.Generator().manual_seed(number)
    made = []
    for t in tensors:
        wide = torch.complex64 if t.is_complex() else torch.float32
        noise = torch.randn(t.shape, generator=generator, dtype=wide)
        noise = torch.view_as_real(noise) if t.is_complex() else noise
        noise = (noise * 16).round() / 16
        made.append((torch.view_as_complex(noise) if t.is_complex() else noise).to(t.dtype))
    return made


def _call(context, call):
    """The operator as gradients see it: wrapped so that inputs stay what it is defined for."""
    wrapper = context.info.gradcheck_wrapper
    results = wrapper(context.info.op, *call.args, **call.kwargs)
    return call.process(results) if call.process else results


def grad(context):
    for call in context.calls_of_node(requires_grad=True):
        with kinds.naming(call):

            def run(device, call=call):
                moved = _leaves(call, device)
                leaves = [t for t in moved.tensors() if t.requires_grad]
                results = _differentiable(_call(context, moved))
                if not results or not leaves:
                    return None
                seeds = [s.to(device) for s in _noise_like(results)]
                found = torch.autograd.grad(results, leaves, seeds, allow_unused=True)
                return list(found)

            how, expected = context.on_cpu(run)
            if how == "error" or expected is None:
                continue
            noisy = context.random or kinds.is_random(run)
            context.outcome(
                run,
                exact=lambda run=run, call=call: run("cpu", kinds.in_float64(call)),
                values=not noisy,
            )


def _leaves(call, device):
    """The arguments on a device as leaves, which require gradients where the sample does."""

    def leaf(t):
        return kinds.copy_of(t).requires_grad_(t.requires_grad)

    return call.map_tensors(leaf) if device == "cpu" else call.to(device)


def gradcheck(context):
    for call in context.calls_of_node(requires_grad=True):
        with kinds.naming(call):

            def run(device, call=call):
                moved = _leaves(call, device)
                leaves, tree = tree_flatten((moved.args, moved.kwargs))
                at = [
                    i
                    for i, x in enumerate(leaves)
                    if isinstance(x, torch.Tensor) and x.requires_grad
                ]

                def function(*inputs):
                    for i, x in zip(at, inputs, strict=True):
                        leaves[i] = x
                    args, kwargs = tree_unflatten(leaves, tree)
                    samples.seed()
                    results = _call(context, samples.Call(args, kwargs, call.process))
                    return tuple(_differentiable(results))

                inputs = tuple(leaves[i] for i in at)
                if not inputs or not function(*inputs):
                    return None
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    return torch.autograd.gradcheck(
                        function,
                        inputs,
                        fast_mode=True,
                        nondet_tol=context.info.gradcheck_nondet_tol,
                        check_undefined_grad=False,
                    )

            how, passed = context.on_cpu(run)
            if how == "error" or passed is None:
                continue
            context.judged += 1
            context.on_device(run)


def forward_derivative(context):
    for call in context.calls_of_node(requires_grad=True):
        with kinds.naming(call):

            def run(device, call=call):
                moved = _leaves(call, device)
                primals = [t for t in moved.tensors() if t.requires_grad]
                if not primals:
                    return None
                tangents = iter([t.to(device) for t in _noise_like(primals)])
                with forward_ad.dual_level():
                    dual = moved.map_tensors(
                        lambda t: (
                            forward_ad.make_dual(t.detach(), next(tangents))
                            if t.requires_grad
                            else t
                        )
                    )
                    results = tree_flatten(_call(context, dual))[0]
                    return [
                        tuple(forward_ad.unpack_dual(r))
                        for r in results
                        if isinstance(r, torch.Tensor) and (r.is_floating_point() or r.is_complex())
                    ]

            how, expected = context.on_cpu(run)
            if how == "error" or expected is None:
                continue
            context.outcome(run, values=not (context.random or kinds.is_random(run)))


def vmap(context):
    for call in context.calls_of_node():
        with kinds.naming(call):
            batched = call.map_tensors(_batch)

            def run(device, batched=batched):
                moved = kinds.fresh(batched, device)
                leaves, tree = tree_flatten((moved.args, moved.kwargs))
                dims = [0 if isinstance(x, torch.Tensor) else None for x in leaves]
                structure = []

                def function(*inputs):
                    args, kwargs = tree_unflatten(list(inputs), tree)
                    results, spec = tree_flatten(context.info.op(*args, **kwargs))
                    structure.append(spec)
                    return tuple(r for r in results if isinstance(r, torch.Tensor))

                if all(d is None for d in dims):
                    return None
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a missing batching rule is a slow one
                    return torch.vmap(function, in_dims=tuple(dims), randomness="different")(
                        *leaves
                    )

            how, expected = context.on_cpu(run)
            if how == "error" or expected is None:
                continue
            noisy = context.random or kinds.is_random(run)
            exact = kinds.in_float64(batched)
            context.outcome(
                run, exact=lambda run=run, exact=exact: run("cpu", exact), values=not noisy
            )


def _batch(t):
    """Two in a batch: the tensor, and half of it where it has fractions. Half of a positive, a
    triangular or a well-conditioned argument is one too."""
    t = kinds.copy_of(t)
    fractions = t.is_floating_point() or t.is_complex()
    other = (t * 0.5).to(t.dtype) if fractions and t.dtype not in compare._FLOAT8 else t
    return torch.stack([t, other])


CHECKS = {
    nodes.GRAD: grad,
    nodes.GRADCHECK: gradcheck,
    nodes.FORWARD_AD: forward_derivative,
    nodes.VMAP: vmap,
}
