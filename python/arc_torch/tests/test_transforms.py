"""test_transforms.py - gradients, torch.func and torch.compile, against PyTorch's own functions.
SPDX-License-Identifier: Apache-2.0"""
import itertools
import random

import testing  # first: skips where there is no PyTorch
import arc_torch
import torch
from testing import DEVICE, ByTorch

testing.need_operators()
ROWS, N, COLUMNS = 4, 5, 3
IS_OLDEST = torch.__version__.startswith("2.5.")  # some of which fails: README.md


def draw(*shape):
    return torch.randn(shape, device=DEVICE, dtype=torch.float64)


def close(got, wanted, *what):
    got, wanted = map(torch.utils._pytree.tree_leaves, (got, wanted))
    assert len(got) == len(wanted), what
    for g, w in zip(got, wanted):
        assert torch.allclose(g, w, rtol=1e-9, atol=1e-9), (what, g, w)


def compiled(function, backend):
    torch._dynamo.reset()
    return torch.compile(function, backend=backend, fullgraph=True)


FUNCTIONS = {  # of out, index, values
    "index_add": lambda by, o, i, v: by.index_add(o * o, 0, i, v * v, alpha=2).sin(),
    "index_add_": lambda by, o, i, v: by.index_add_(o * o, 0, i, v * v, alpha=-1).sin(),
    "changed later": lambda by, o, i, v: by.index_add(o, 0, i, v).mul_(2) * o,
    "of columns": lambda by, o, i, v: by.index_add(v * v, 1, i[:3] % 3, v.sin()).sin(),
    "scatter_add": lambda by, o, i, v: by.scatter_add(
        o * o, 0, i[:, None].expand(N, COLUMNS), v * v).sin(),
    "index_select": lambda by, o, i, v: by.index_select(o * o, i).sin() * v,
    "embedding": lambda by, o, i, v: by.embedding(o * o, i.view(1, N), 2).sin() * v,
    "embedding, -1": lambda by, o, i, v: by.embedding(o * o, i, -1).sin() * v,
}


def in_place_statement(by, o, i, v):
    z = o * o
    by.index_add_(z, 0, i, v * v)
    by.index_add_(z[:, 1:], 0, i, v[:, 1:])
    return z.sin()


FUNCTIONS["statement"] = in_place_statement


def test_gradcheck():
    index = torch.tensor([2, 0, 2, 3, 2], device=DEVICE)
    for name, function in FUNCTIONS.items():
        inputs = [draw(ROWS, COLUMNS).requires_grad_(), draw(N, COLUMNS).requires_grad_()]
        if "embedding" in name:  # the gradient of a padded row is no derivative
            inputs[0] = inputs[0].detach()

        def of_values(o, v):
            return function(arc_torch, o, index, v)
        assert torch.autograd.gradcheck(of_values, inputs, check_forward_ad=True, nondet_tol=1e-9)
        assert torch.autograd.gradgradcheck(of_values, inputs, nondet_tol=1e-9)
    assert torch.autograd.gradcheck(
        lambda o, v: arc_torch.index_add_(o.view(4, 3, 1) * 2, 0, index, v.view(5, 3, 1)),
        (draw(4, 3).requires_grad_(), draw(5, 3).requires_grad_()))


def test_rows():
    """Values and gradients of index_select and embedding, for rows and an index of any shape."""
    for its, shape, type_ in itertools.product(
            ((COLUMNS,), (), (2, 3)), ((), (7,), (2, 3), (2, 0), (1, 2, 2)),
            (torch.int64, torch.int32)):
        table = draw(*its, ROWS).movedim(-1, 0).requires_grad_()
        index, factor = torch.randint(0, ROWS, shape, device=DEVICE).to(type_), draw(*shape, *its)

        def results(function):
            rows = function(table).view_as(factor)
            (first,) = torch.autograd.grad((rows * factor).sin().sum(), table, create_graph=True)
            # without any indices PyTorch's own second gradient fails
            return rows, first, (torch.autograd.grad(first.square().sum(), table)
                                 if index.numel() else ())
        wanted = results(lambda table: table[index.long()])
        close(results(lambda table: arc_torch.index_select(table, index)), wanted, its, shape)
        assert arc_torch.index_select(table, index).shape == (*(shape or (1,)), *its), shape
        if its:
            close(results(lambda table: arc_torch.embedding(table, index)), wanted, its, shape)
        for padding in (1, -1) if len(its) == 1 else ():
            close(*(results(lambda table: by.embedding(table, index, padding))
                    for by in (arc_torch, ByTorch)), padding, shape)
    number, place = draw(), torch.zeros(1, device=DEVICE, dtype=torch.int64)
    close(arc_torch.index_select(number, place), number.index_select(0, place), "a number")


def transforms(function):
    """Calls of torch.func's, each for `by`."""
    from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap
    index = torch.tensor([2, 0, 2, 3, 2], device=DEVICE)
    o, v, batches = draw(ROWS, COLUMNS), draw(N, COLUMNS), draw(6, ROWS, COLUMNS)
    values, indices = draw(6, N, COLUMNS), torch.randint(0, ROWS, (6, N), device=DEVICE)
    all_ = (batches, indices, values)
    yield "jvp", lambda by: jvp(lambda o, v: function(by, o, index, v), (o, v), (v[:4], v.cos()))
    yield "jvp of out", lambda by: jvp(lambda o: function(by, o, index, v), (o,), (v[1:],))
    yield "jvp of values", lambda by: jvp(lambda v: function(by, o, index, v), (v,), (v.cos(),))
    yield "jacrev", lambda by: jacrev(lambda o, v: function(by, o, index, v), (0, 1))(o, v)
    yield "jacfwd", lambda by: jacfwd(lambda o, v: function(by, o, index, v), (0, 1))(o, v)
    yield "hessian", lambda by: hessian(lambda o, v: function(by, o, index, v).sum(), (0, 1))(o, v)

    def loss(by):
        return lambda o, i, v: function(by, o, i, v).sum()
    yield "grad", lambda by: grad(loss(by), (0, 2))(o, index, v)
    for dims in ((0, 0, 0), (0, None, 0), (0, None, None), (None, 0, None), (None, None, 0)):
        arguments = [x if dim == 0 else x[0] for x, dim in zip(all_, dims)]
        yield f"vmap {dims}", lambda by, d=dims, a=arguments: vmap(
            lambda o, i, v: function(by, o, i, v), d)(*a)
        yield f"vmap of grad {dims}", lambda by, d=dims, a=arguments: vmap(
            grad(loss(by), (0, 2)), d)(*a)


def test_func():
    """As PyTorch's own, or refused where they are."""
    for name, function in FUNCTIONS.items():
        for transform, call in transforms(function):
            try:
                wanted = call(ByTorch)
            except RuntimeError as error:
                assert "vmap: index_add_" in str(error), error
                try:
                    call(arc_torch)
                except RuntimeError as error:
                    assert "out-of-place" in str(error), error
                    continue
                raise AssertionError(f"{transform} of {name}: not refused")
            close(call(arc_torch), wanted, transform, "of", name)


def test_func_of_padding():
    """The gradient of a vmap, where each batch has a padding row: PyTorch's own keeps but one."""
    weights, index = draw(6, ROWS, COLUMNS), torch.randint(0, ROWS, (6, N), device=DEVICE)
    for padding in (None, 2, -1):
        def loss(w):
            rows = torch.func.vmap(lambda w, i: arc_torch.embedding(w, i, padding))(w, index)
            return rows.sin().sum()
        wanted = torch.stack([torch.func.grad(
            lambda w: torch.nn.functional.embedding(i, w, padding).sin().sum())(w)
            for w, i in zip(weights, index)])
        try:
            close(torch.func.grad(loss)(weights), wanted, "padding", padding)
        except RuntimeError as error:
            assert IS_OLDEST and "has_value" in str(error), error

        def gradient(by, i):  # of rows that have another batch than their gradient, which has none
            _, backward = torch.func.vjp(lambda w: by.embedding(w, i, padding), weights[0])
            return backward(torch.ones(N, COLUMNS, device=DEVICE, dtype=torch.float64))[0]
        close(torch.func.vmap(lambda i: gradient(arc_torch, i))(index),
              torch.stack([gradient(ByTorch, i) for i in index]), padding)


def test_func_compiled():
    for name, function in FUNCTIONS.items():
        for transform, call in transforms(function):
            if transform in ("jvp", "grad", "vmap (0, 0, 0)"):
                close(compiled(call, "aot_eager")(arc_torch), call(ByTorch), transform, "of", name)


def test_opcheck():
    index, out, values = torch.randint(0, ROWS, (N,), device=DEVICE), draw(ROWS, 3), draw(N, 3)
    operators = torch.ops.arc
    for requires in (False, True):
        out, values = out.detach(), values.detach().requires_grad_(requires)
        torch.library.opcheck(operators.index_add_, (out.clone(), 0, index, values))
        out.requires_grad_(requires)
        torch.library.opcheck(operators.index_add, (out, 0, index, values), {"alpha": 2})
        torch.library.opcheck(operators.index_add, (out.t(), 1, index, values.t()))
        torch.library.opcheck(operators.embedding, (out, index, 1))
        torch.library.opcheck(operators.embedding, (out, index.reshape(1, 1, -1)))


def random_program(seed):
    """Steps that add to `z`, or gather from it, functions of by, z, i, v that return z, v."""
    pick = random.Random(seed)

    def statement(view):
        def step(by, z, i, v):
            by.index_add_(view(z), 0, i, view(v))
            return z, v
        return step
    kinds = [
        statement(lambda x: x), statement(lambda x: x[:, 1:]), statement(lambda x: x[:, 0]),
        statement(lambda x: x.view(-1, COLUMNS, 1)),
        lambda by, z, i, v: (by.index_add(z, 0, i, v, alpha=0.5), v),
        lambda by, z, i, v: (by.index_add_(z * 2, 0, i, v), v),
        lambda by, z, i, v: (by.scatter_add(z, 0, i[:, None].expand(N, COLUMNS), v), v),
        lambda by, z, i, v: (z, by.index_select(z, i) * v),
        lambda by, z, i, v: (z, by.embedding(z, i, 1) + v),
        lambda by, z, i, v: (z.sin(), v.cos()),
    ]
    steps = [pick.choice(kinds) for _ in range(pick.randint(2, 6))]

    def program(by, o, i, v):
        """Adds to o * 1, which nobody else sees."""
        z = o * 1
        for step in steps:
            z, v = step(by, z, i, v)
        return z.sin().sum() + v.sin().sum()

    def into_argument(by, z, i, v):
        """Adds to an argument, and returns nothing."""
        for step in steps:
            by.index_add_(z, 0, i, v)
            v = step(by, v.sum() * torch.ones_like(z), i, v)[1]
    return program, into_argument


def results(function, by, seed, adds_to_argument):
    torch.manual_seed(seed)
    index, o, v = torch.randint(0, ROWS, (N,), device=DEVICE), draw(ROWS, COLUMNS), draw(N, COLUMNS)
    v.requires_grad_()
    if adds_to_argument:
        function(by, o, index, v)
        return o.detach(), *torch.autograd.grad(o.sin().sum(), v)
    o.requires_grad_()
    loss = function(by, o, index, v)
    return loss.detach(), *torch.autograd.grad(loss, (o, v), allow_unused=True)


def test_programs():
    """Values and gradients of random programs, eager and compiled."""
    for backend, seeds in ((None, 60), ("eager", 20), ("aot_eager", 20),
                           ("inductor", 0 if IS_OLDEST else 4)):
        for seed in range(seeds):
            for adds_to_argument, program in enumerate(random_program(seed)):
                wanted = results(program, ByTorch, seed, adds_to_argument)
                ours = program if backend is None else compiled(program, backend)
                close(results(ours, arc_torch, seed, adds_to_argument), wanted, backend, seed)


def test_changing_shapes():
    """A compiled function whose shapes and factor change takes symbols for them."""
    def step(o, i, v, alpha):
        z = arc_torch.scatter_add(o, 0, i[:, None].expand_as(v), v)
        arc_torch.index_add_(z, 0, i, v, alpha=alpha)
        z = arc_torch.index_add(z, 0, i, v.sin(), alpha=alpha)
        return (arc_torch.embedding(z, i, 0) * arc_torch.index_select(o, i)).sum()

    torch._dynamo.reset()
    ours = torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=True)
    for rows, n, columns in ((4, 5, 3), (7, 11, 2), (9, 30, 6)):
        o, v = draw(rows, columns).requires_grad_(), draw(n, columns).requires_grad_()
        i = torch.randint(0, rows, (n,), device=DEVICE)
        close(torch.autograd.grad(ours(o, i, v, 0.1 * n), (o, v)),
              torch.autograd.grad(step(o, i, v, 0.1 * n), (o, v)), rows, n, columns)


testing.run("test_transforms", [
    test_gradcheck, test_rows, test_func, test_func_of_padding, test_opcheck,
    *([] if IS_OLDEST else [test_func_compiled]), test_changing_shapes, test_programs])
