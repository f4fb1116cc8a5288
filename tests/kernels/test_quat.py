"""Rotations over columns against float64 linear algebra, SciPy and their definitions."""

from typing import Any

import numpy as np
import pytest

from ai4animation.kernels import quat, quat_convert_rows, quat_rows

IDENTITY = (0.0, 0.0, 0.0, 1.0)
X, Y, Z = np.eye(3)


def kernel_of(name):
    return getattr(quat_rows, f"quat_{name}_rows", None) or getattr(quat_convert_rows, f"quat_{name}_rows")


def run(name, *inputs, channels=(4,)) -> Any:
    """Call a kernel on columns, outputs poisoned; a channel count of 0 means a column without that axis."""
    joints, rows = inputs[0].shape[0], inputs[0].shape[-1]
    shapes = [(joints, c, rows) if c else (joints, rows) for c in channels]
    outputs = [np.full(shape, np.nan, np.float32) for shape in shapes]
    kernel_of(name)(*inputs, 0, rows, *outputs)
    return outputs[0] if len(outputs) == 1 else outputs


def column(*rows):
    """Stack rows of equal length as a column of one joint."""
    return np.ascontiguousarray(np.array(rows, np.float32).T[None])


def as_rows(values):
    """(M, C, N) to float64 (M, N, C)."""
    return np.moveaxis(np.asarray(values, np.float64), 1, -1)


def unit(rng, joints, rows):
    q = rng.normal(size=(joints, 4, rows))
    return (q / np.linalg.norm(q, axis=1, keepdims=True)).astype(np.float32)


# The oracle: float64, quaternions on the last axis, written from scalar and vector parts and from matrices.


def normalised(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def product(a, b):
    p, u, q, v = a[..., 3:], a[..., :3], b[..., 3:], b[..., :3]
    return np.concatenate([p * v + q * u + np.cross(u, v), p * q - (u * v).sum(-1, keepdims=True)], -1)


def conjugate(q):
    return q * (-1, -1, -1, 1)


def matrix(q):
    """I + 2 w [v] + 2 [v]², [v] the matrix of the cross product with the vector part."""
    q = normalised(q)
    x, y, z, w = np.moveaxis(q, -1, 0)
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(*x.shape, 3, 3)
    return np.eye(3) + 2 * w[..., None, None] * cross + 2 * cross @ cross


def from_matrix(m):
    """The eigenvector of Davenport's matrix for its largest eigenvalue: the rotation nearest to m."""
    b = np.swapaxes(m, -1, -2)
    z = np.stack([b[..., 1, 2] - b[..., 2, 1], b[..., 2, 0] - b[..., 0, 2], b[..., 0, 1] - b[..., 1, 0]], -1)
    k = np.empty((*m.shape[:-2], 4, 4))
    trace = np.trace(b, axis1=-2, axis2=-1)
    k[..., :3, :3] = b + np.swapaxes(b, -1, -2) - trace[..., None, None] * np.eye(3)
    k[..., 3, :3] = k[..., :3, 3] = z
    k[..., 3, 3] = trace
    return positive(np.linalg.eigh(k)[1][..., -1])


def positive(q):
    return np.where(q[..., 3:] < 0, -q, q)


def log(q):
    q = positive(normalised(q))
    length = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    return q[..., :3] / np.where(length == 0, 1, length) * 2 * np.arctan2(length, q[..., 3:])


def exp(v):
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.concatenate([v * np.sinc(angle / 2 / np.pi) / 2, np.cos(angle / 2)], -1)


def angle_between(a, b):
    return np.linalg.norm(log(product(conjugate(a), b)), axis=-1)


def slerp(a, b, t):
    """A power of the rotation between the two, which knows nothing of Shoemake's formula."""
    return product(normalised(a), exp(t[..., None] * log(product(conjugate(a), b))))


def nlerp(a, b, t):
    t = t[..., None]
    return normalised((1 - t) * a + t * np.where((a * b).sum(-1, keepdims=True) < 0, -b, b))


def frame(first, second):
    """Columns: first, second made perpendicular to it, their cross product."""
    u = normalised(first)
    v = normalised(second - (second * u).sum(-1, keepdims=True) * u)
    return np.stack([u, v, np.cross(u, v)], -1)


def look(forward, up):
    z_y_x = frame(forward, up)
    return from_matrix(np.stack([-z_y_x[..., 2], z_y_x[..., 1], z_y_x[..., 0]], -1))


def swing_twist(q, axis):
    axis = np.broadcast_to(axis[:, None], q[..., :3].shape)
    along = (q[..., :3] * axis).sum(-1, keepdims=True)
    twist = normalised(np.concatenate([along * axis, q[..., 3:]], -1))
    return product(q, conjugate(twist)), twist


def from_to(a, b):
    a, b = normalised(a), normalised(b)
    turn = np.cross(a, b)
    angle = np.arctan2(np.linalg.norm(turn, axis=-1, keepdims=True), (a * b).sum(-1, keepdims=True))
    return exp(normalised(turn) * angle)


def yaw(q):
    m = matrix(q)
    return np.arctan2(m[..., 0, 2], m[..., 2, 2])


def axis_angle(q):
    v = log(q)
    angle = np.linalg.norm(v, axis=-1)
    return v / angle[..., None], angle


# Inputs as (M, C, N) columns by kind, and for each operation the kinds, the output channels and the oracle.


def make(kind, joints, rows, seed):
    rng = np.random.default_rng(seed)
    if kind == "unit":
        return unit(rng, joints, rows)
    if kind == "any":
        return (rng.normal(size=(joints, 4, rows)) * 3).astype(np.float32)
    if kind == "weights":
        return rng.random(rows, np.float32)
    if kind == "angle":
        return rng.uniform(-20, 20, (joints, rows)).astype(np.float32)
    if kind == "axes":
        return normalised(rng.normal(size=(joints, 3))).astype(np.float32)
    if kind == "upward":
        return (rng.normal(size=(joints, 3, rows)) * 0.2 + Y[:, None]).astype(np.float32)
    if kind == "level":
        return (rng.normal(size=(joints, 3, rows)) * [[1], [0.2], [1]]).astype(np.float32)
    if kind == "matrix":
        m = matrix(as_rows(unit(rng, joints, rows))).reshape(joints, rows, 9)
        return np.ascontiguousarray(np.moveaxis(m, -1, 1), np.float32)
    if kind == "columns":
        first, second = make("level", joints, rows, seed), make("upward", joints, rows, seed + 1)
        return np.concatenate([first, second], 1)
    return rng.normal(size=(joints, 3, rows)).astype(np.float32)


def oracle_value(kind, value):
    value = np.asarray(value, np.float64)
    return as_rows(value) if value.ndim == 3 else value


U = ("unit",)
UU = ("unit", "unit")
OPERATIONS = {
    "mul": (("any", "any"), (4,), product, 2e-5),
    "conj": (("any",), (4,), conjugate, 0),
    "inv": (("any",), (4,), lambda q: conjugate(q) / (q * q).sum(-1, keepdims=True), 2e-6),
    "normalise": (("any",), (4,), normalised, 3e-7),
    "rotate": (("unit", "vector"), (3,), lambda q, v: (matrix(q) @ v[..., None])[..., 0], 2e-6),
    "dot": (("any", "any"), (0,), lambda a, b: (a * b).sum(-1), 2e-5),
    "angle": (UU, (0,), angle_between, 1e-6),
    "slerp": (("unit", "unit", "weights"), (4,), slerp, 5e-7),
    "nlerp": (("unit", "unit", "weights"), (4,), nlerp, 5e-7),
    "swing_twist": (("unit", "axes"), (4, 4), swing_twist, 1e-5),
    "yaw": (U, (0,), yaw, 2e-5),
    "from_axis_angle": (
        ("vector", "angle"),
        (4,),
        lambda v, a: exp(normalised(v) * a[..., None]),
        5e-7,
    ),
    "to_axis_angle": (U, (3, 0), axis_angle, 2e-6),
    "exp": (("vector",), (4,), exp, 3e-7),
    "log": (U, (3,), log, 1e-6),
    "from_matrix": (("matrix",), (4,), lambda m: from_matrix(m.reshape(*m.shape[:2], 3, 3)), 3e-7),
    "to_matrix": (U, (9,), lambda q: matrix(q).reshape(*q.shape[:2], 9), 5e-7),
    "from_6d": (("columns",), (4,), lambda c: from_matrix(frame(c[..., :3], c[..., 3:])), 1e-6),
    "to_6d": (U, (6,), lambda q: np.concatenate([matrix(q)[..., 0], matrix(q)[..., 1]], -1), 5e-7),
    "from_to": (("vector", "vector"), (4,), from_to, 3e-6),
    "look": (("level", "upward"), (4,), look, 1e-6),
}
UP_TO_SIGN = {"slerp", "nlerp", "from_matrix", "from_6d", "from_to", "look", "swing_twist"}
# Angles that may come out at either end of -pi to pi.
CIRCULAR = {"yaw"}


def inputs_of(name, joints, rows):
    return [make(kind, joints, rows, seed) for seed, kind in enumerate(OPERATIONS[name][0])]


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize(("joints", "rows"), [(1, 0), (5, 1), (1, 7), (5, 1000)])
def test_matches_float64(name, joints, rows):
    kinds, channels, oracle, tolerance = OPERATIONS[name]
    inputs = inputs_of(name, joints, rows)
    outputs = run(name, *inputs, channels=channels)
    expected = oracle(*(oracle_value(k, v) for k, v in zip(kinds, inputs, strict=True)))
    if len(channels) == 1:
        outputs, expected = [outputs], [expected]
    for got, want in zip(outputs, expected, strict=True):
        got = oracle_value(name, got)
        assert got.shape == want.shape
        error = np.abs(got - want)
        if name in UP_TO_SIGN:
            error = np.minimum(error.max(-1, initial=0), np.abs(got + want).max(-1, initial=0))
        if name in CIRCULAR:
            error = np.abs((error + np.pi) % (2 * np.pi) - np.pi)
        # Written so that NaN fails.
        assert (error <= tolerance).all(), error.max()


@pytest.mark.parametrize("name", OPERATIONS)
def test_only_rows_from_start_to_stop_are_written(name):
    inputs = inputs_of(name, 2, 40)
    channels = OPERATIONS[name][1]
    outputs = [np.full((2, c, 40) if c else (2, 40), 7.5, np.float32) for c in channels]
    kernel_of(name)(*inputs, 3, 29, *outputs)
    for output in outputs:
        assert (output[..., :3] == 7.5).all()
        assert (output[..., 29:] == 7.5).all()
        assert (output[..., 3:29] != 7.5).all()


@pytest.mark.parametrize("name", OPERATIONS)
def test_batch_is_a_loop_of_singles(name):
    inputs = inputs_of(name, 2, 37)
    channels = OPERATIONS[name][1]
    batch = run(name, *inputs, channels=channels)
    singles = [np.full((2, c, 37) if c else (2, 37), np.nan, np.float32) for c in channels]
    for i in range(37):
        kernel_of(name)(*inputs, i, i + 1, *singles)
    for one, many in zip(singles, batch if len(channels) > 1 else [batch], strict=True):
        assert one.tobytes() == many.tobytes()


@pytest.mark.parametrize("name", OPERATIONS)
def test_helper_stays_in_float32(name):
    # A float64 anywhere in a helper would halve the width of every row loop it stands in.
    helper = getattr(quat, f"quat_{name}")
    helper(*np.linspace(0.1, 0.9, helper.py_func.__code__.co_argcount, dtype=np.float32))
    for signature in helper.nopython_signatures:
        types = getattr(signature.return_type, "types", [signature.return_type])
        assert {str(t) for t in types} == {"float32"}


def test_agrees_with_scipy():
    from scipy.spatial.transform import Rotation, Slerp

    rng = np.random.default_rng(5)
    a, b = unit(rng, 1, 200), unit(rng, 1, 200)
    v = rng.normal(size=(1, 3, 200)).astype(np.float32)
    ra, rb = Rotation.from_quat(as_rows(a)[0]), Rotation.from_quat(as_rows(b)[0])

    def same(got, want):
        np.testing.assert_allclose(positive(as_rows(got)[0]), positive(want.as_quat()), atol=1e-6)

    def close(got, want, atol=1e-6):
        np.testing.assert_allclose(as_rows(got)[0], want, atol=atol)

    same(run("mul", a, b), ra * rb)
    same(run("inv", a), ra.inv())
    same(run("exp", v), Rotation.from_rotvec(as_rows(v)[0]))
    same(run("from_matrix", run("to_matrix", a, channels=(9,))), ra)
    close(run("rotate", a, v, channels=(3,)), ra.apply(as_rows(v)[0]))
    close(run("log", a, channels=(3,)), ra.as_rotvec())
    close(run("to_matrix", a, channels=(9,)), ra.as_matrix().reshape(200, 9))
    np.testing.assert_allclose(run("angle", a, b, channels=(0,))[0], (ra.inv() * rb).magnitude(), atol=1e-6)
    weights = np.linspace(0, 1, 50, dtype=np.float32)
    for k in range(3):
        pair = np.repeat(a[..., k : k + 1], 50, -1), np.repeat(b[..., k : k + 1], 50, -1)
        same(run("slerp", *pair, weights), Slerp([0, 1], Rotation.concatenate([ra[k], rb[k]]))(weights))


@pytest.mark.parametrize("size", [1e-8, 1e-6, 1e-4, 1e-3])
def test_tiny_angles_keep_their_digits(size):
    rng = np.random.default_rng(6)
    v = (normalised(rng.normal(size=(64, 3))) * size).astype(np.float32)
    true = np.linalg.norm(v.astype(np.float64), axis=-1)
    q = run("exp", column(*v))
    np.testing.assert_allclose(as_rows(run("log", q, channels=(3,)))[0], v, rtol=1e-6)
    axes, angles = run("to_axis_angle", q, channels=(3, 0))
    np.testing.assert_allclose(angles[0], true, rtol=1e-6)
    np.testing.assert_allclose(as_rows(axes)[0], v / true[:, None], atol=1e-6)
    identity = column(*[IDENTITY] * 64)
    np.testing.assert_allclose(run("angle", identity, q, channels=(0,))[0], true, rtol=1e-6)
    np.testing.assert_allclose(run("angle", identity, -q, channels=(0,))[0], true, rtol=1e-6)
    half = run("slerp", identity, q, np.full(64, 0.5, np.float32))
    np.testing.assert_allclose(as_rows(run("log", half, channels=(3,)))[0], v / 2, rtol=1e-6)
    # Relative to the angle: acos of a rounded cosine would be off by 3e-4 rad.
    turned = column(*(X + Y[None] * true[:, None]).astype(np.float32))
    between = run("from_to", column(*[X] * 64), turned)
    np.testing.assert_allclose(between[0, 2], np.arctan(true) / 2, rtol=1e-6)


def test_slerp_error_over_the_whole_range():
    rng = np.random.default_rng(7)
    n = 20000
    a = unit(rng, 1, n)
    spread = rng.choice([2, 1, 0.3, 0.1, 1e-2, 1e-3, 1e-5], n)
    b = normalised(as_rows(a) + rng.normal(size=(1, n, 4)) * spread[:, None])
    b = np.ascontiguousarray(np.moveaxis(b, -1, 1), np.float32)
    weights = rng.random(n, np.float32)
    got = as_rows(run("slerp", a, b, weights))
    assert np.abs(got - slerp(as_rows(a), as_rows(b), weights[None])).max() < 5e-7
    assert np.abs(np.linalg.norm(got, axis=-1) - 1).max() < 3e-7


@pytest.mark.parametrize("name", ["slerp", "nlerp"])
def test_interpolation_ends_and_antipodal_pairs(name):
    rng = np.random.default_rng(8)
    a, b = unit(rng, 3, 100), unit(rng, 3, 100)
    zero, one = np.zeros(100, np.float32), np.ones(100, np.float32)
    sign = np.where((as_rows(a) * as_rows(b)).sum(-1) < 0, -1, 1).astype(np.float32)[:, None]
    if name == "slerp":
        np.testing.assert_array_equal(run(name, a, b, zero), a)
        np.testing.assert_array_equal(run(name, a, b, one), b * sign)
    np.testing.assert_allclose(run(name, a, b, zero), a, atol=2e-7)
    np.testing.assert_allclose(run(name, a, b, one), b * sign, atol=2e-7)
    weights = rng.random(100, np.float32)
    np.testing.assert_allclose(run(name, a, a, weights), a, atol=2e-7)
    np.testing.assert_allclose(run(name, a, -a, weights), a, atol=2e-7)


def test_slerp_over_a_half_turn_goes_towards_b_as_given():
    a, b = column(IDENTITY, IDENTITY, IDENTITY), column((1, 0, 0, 0), (-1, 0, 0, 0), (-1, -0.0, -0.0, -0.0))
    got = run("slerp", a, b, np.full(3, 0.5, np.float32))
    h = np.sqrt(0.5)
    np.testing.assert_allclose(as_rows(got)[0], [(h, 0, 0, h), (-h, 0, 0, h), (-h, 0, 0, h)], atol=2e-7)


def test_zero_quaternions():
    zero = column((0, 0, 0, 0), (1e-20, 0, 0, 0))
    np.testing.assert_array_equal(as_rows(run("normalise", zero))[0], [IDENTITY, IDENTITY])
    np.testing.assert_array_equal(run("inv", zero), np.zeros((1, 4, 2)))
    short = column((1e-10, 0, 0, 0))
    np.testing.assert_allclose(run("normalise", short), column((1, 0, 0, 0)))
    np.testing.assert_array_equal(run("log", column(IDENTITY), channels=(3,)), np.zeros((1, 3, 1)))


def test_axis_angle_without_an_axis():
    got = run("from_axis_angle", column((0, 0, 0)), np.array([[1.5]], np.float32))
    np.testing.assert_array_equal(got, column(IDENTITY))
    np.testing.assert_array_equal(run("exp", column((0, 0, 0))), column(IDENTITY))
    axes, angles = run("to_axis_angle", column(IDENTITY, (0, 0, 0, -1)), channels=(3, 0))
    np.testing.assert_array_equal(axes, column(Y, Y))
    np.testing.assert_array_equal(angles, [[0, 0]])


def test_half_turns():
    axes = normalised(np.random.default_rng(9).normal(size=(50, 3))).astype(np.float32)
    q = column(*np.concatenate([axes, np.zeros((50, 1))], -1))
    np.testing.assert_allclose(as_rows(run("log", q, channels=(3,)))[0], axes * np.pi, atol=1e-6)
    axis, angle = run("to_axis_angle", q, channels=(3, 0))
    np.testing.assert_allclose(as_rows(axis)[0], axes, atol=2e-7)
    np.testing.assert_allclose(angle, np.pi, atol=1e-6)
    back = as_rows(run("from_matrix", run("to_matrix", q, channels=(9,))))
    assert np.abs(matrix(back) - matrix(as_rows(q))).max() < 1e-6


def test_every_divisor_of_from_matrix():
    # Rotations near each axis' half turn and near none, where the other three divisors vanish.
    tilt = 0.01 * np.random.default_rng(10).normal(size=(4, 25, 4))
    q = column(*normalised(np.eye(4)[:, None] + tilt).reshape(-1, 4))
    got = as_rows(run("from_matrix", run("to_matrix", q, channels=(9,))))
    assert (got[..., 3] >= 0).all()
    assert np.abs(matrix(got) - matrix(as_rows(q))).max() < 1e-6
    assert np.abs(np.linalg.norm(got, axis=-1) - 1).max() < 2e-7


def test_from_matrix_of_a_rough_matrix_is_unit():
    m = (
        make("matrix", 1, 100, 11)
        + np.random.default_rng(11).normal(size=(1, 9, 100)).astype(np.float32) * 1e-3
    )
    got = as_rows(run("from_matrix", m.astype(np.float32)))
    assert np.abs(np.linalg.norm(got, axis=-1) - 1).max() < 2e-7
    assert np.abs(matrix(got) - as_rows(m).reshape(1, 100, 3, 3)).max() < 1e-2


def test_degenerate_6d():
    x, y, z, none = X, Y, Z, 0 * X
    columns = [(none, y), (x, none), (none, none), (x, -2 * x), (y, 3 * y), (z, -z), (1e-20 * x, z)]
    got = as_rows(run("from_6d", column(*np.array(columns).reshape(-1, 6))))
    wanted = [(x, y), (x, y), (x, y), (x, y), (y, x), (z, y), (x, z)]
    for m, (first, second) in zip(matrix(got)[0], wanted, strict=True):
        np.testing.assert_allclose(m[:, 0], first, atol=3e-7)
        np.testing.assert_allclose(m[:, 1], second, atol=3e-7)


@pytest.mark.parametrize("gap", [1e-3, 1e-5, 3e-6, 1e-7])
def test_nearly_parallel_6d_and_look_keep_their_first_axis(gap):
    rng = np.random.default_rng(12)
    first = rng.normal(size=(200, 3))
    second = first * rng.uniform(0.2, 5, (200, 1)) + gap * rng.normal(size=(200, 3))
    got = matrix(as_rows(run("from_6d", column(*np.concatenate([first, second], -1)))))
    np.testing.assert_allclose(got[0, ..., 0], normalised(first), atol=1e-6)
    got = matrix(as_rows(run("look", column(*first), column(*second))))
    np.testing.assert_allclose(got[0, ..., 2], normalised(first), atol=1e-6)


@pytest.mark.parametrize("gap", [0, 1e-8, 1e-7, 1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("side", [1, -1])
def test_from_to_near_the_same_and_the_opposite_direction(gap, side):
    rng = np.random.default_rng(13)
    a = np.concatenate([np.eye(3), -np.eye(3), rng.normal(size=(100, 3)) * 10])
    b = side * 0.3 * (a + gap * rng.normal(size=a.shape) * np.linalg.norm(a, axis=-1, keepdims=True))
    a, b = a.astype(np.float32).astype(np.float64), b.astype(np.float32).astype(np.float64)
    q = as_rows(run("from_to", column(*a), column(*b)))[0]
    assert np.abs((matrix(q) @ normalised(a)[..., None])[..., 0] - normalised(b)).max() < 1e-6
    assert np.abs(np.linalg.norm(q, axis=-1) - 1).max() < 3e-7
    # The smallest rotation: its axis is across both.
    assert np.abs((q[:, :3] * normalised(a)).sum(-1)).max() < 5e-7


def test_from_to_of_opposite_axes_and_zero_vectors():
    a, b = [X, Z, Y, X, 0 * X, 0 * X], [-X, -5 * Z, -Y, 0 * X, Z, 0 * X]
    got = as_rows(run("from_to", column(*a), column(*b)))[0]
    wanted = [(0, 1, 0, 0), (0, 1, 0, 0), (1, 0, 0, 0), IDENTITY, IDENTITY, IDENTITY]
    np.testing.assert_allclose(got, wanted, atol=1e-7)


def test_swing_twist_parts():
    q, axes = unit(np.random.default_rng(14), 5, 1000), make("axes", 5, 1, 15)
    swing, twist = (as_rows(part) for part in run("swing_twist", q, axes, channels=(4, 4)))
    assert np.abs(product(swing, twist) - as_rows(q)).max() < 5e-7
    assert np.abs(np.cross(twist[..., :3], axes[:, None])).max() < 2e-7
    assert np.abs((swing[..., :3] * axes[:, None]).sum(-1)).max() < 5e-7
    assert (swing[..., 3] >= 0).all()


def test_swing_twist_of_a_half_turn_across_the_axis():
    across = column((1, 0, 0, 0), (0.6, 0, 0.8, 0), (0.6, 1e-9, 0.8, 1e-9))
    swing, twist = run("swing_twist", across, Y[None].astype(np.float32), channels=(4, 4))
    np.testing.assert_array_equal(as_rows(twist)[0], [IDENTITY] * 3)
    np.testing.assert_array_equal(swing, across)


def test_look_without_a_direction():
    forward = [Z, 0 * Z, Z, X, Y, -Y, Y, 0 * Z, 1e-20 * X]
    up = [Y, Y, 0 * Y, X, Y, Y, 0 * Y, -Z, Y]
    got = matrix(as_rows(run("look", column(*forward), column(*up))))[0]
    wanted = [
        (X, Y, Z),
        (X, Y, Z),
        (X, Y, Z),
        (-Z, Y, X),
        (X, -Z, Y),
        (X, Z, -Y),
        (X, -Z, Y),
        (X, Y, Z),
        (X, Y, Z),
    ]
    for m, axes in zip(got, wanted, strict=True):
        np.testing.assert_allclose(m, np.stack(axes, -1), atol=3e-7)


def test_yaw_of_known_headings():
    headings = np.linspace(-3, 3, 25)
    turn = exp(headings[:, None] * Y)
    for pitch in (0, 1.2, -1.4, np.pi / 2, -np.pi / 2):
        q = product(turn, exp(np.array([[pitch, 0, 0]])))
        np.testing.assert_allclose(run("yaw", column(*q), channels=(0,))[0], headings, atol=1e-6)
    # +Z is ahead and +X to the left, so a quarter turn about +Y faces left.
    left = column(exp(Y * np.pi / 2))
    np.testing.assert_allclose(run("rotate", left, column(Z), channels=(3,)), column(X), atol=2e-7)
    np.testing.assert_allclose(run("yaw", left, channels=(0,)), [[np.pi / 2]], atol=2e-7)
