"""Numbers in text against Python's own float() and str.split()."""

import re
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ai4animation.kernels import text

PADDING = b"\n" * 8
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def parse(data, channels, rows, odd_capacity=1000, start=0):
    """Values (channels, rows) with NaN where nothing was stored, odd fields, state."""
    array = np.frombuffer(data + b"\n" + PADDING, np.uint8)
    values = np.full((channels, rows), np.nan, np.float32)
    odd = np.full((odd_capacity, 3), -1, np.int64)
    state = np.array([0, 1, 0, start], np.int64)
    text.parse_rows(array, start, len(data) + 1, values, odd, state)
    return values, odd[: state[2]], state


def parse_fields(fields):
    """Parse fields one a line and all on one line; odd ones must be numbers, and are given their value."""
    count = len(fields)
    found = []
    for gap, shape in (("\n", (1, count)), (" ", (count, 1))):
        data = gap.join(fields).encode()
        values, odd, state = parse(data, *shape, odd_capacity=count + 1)
        assert (state[0], state[3]) == (count, len(data) + 1)
        values = values.reshape(-1)
        for begin, end, field in odd:
            assert data[begin:end].decode() == fields[field]
            assert np.isnan(values[field])
            values[field] = np.float32(float(fields[field]))
        found.append((values, len(odd)))
    np.testing.assert_array_equal(bits(found[0][0]), bits(found[1][0]))
    return found[0]


def bits(values):
    return np.asarray(values, np.float32).view(np.uint32)


def expected(fields):
    with np.errstate(over="ignore"):
        return bits(np.array([float(f) for f in fields]).astype(np.float32))


def test_numbers_as_files_write_them():
    rng = np.random.default_rng(1)
    values = rng.normal(size=4000) * 10.0 ** rng.integers(-6, 6, 4000)
    formats = ("%.6f", "%.3f", "%g", "%.9g", "%.17g", "%.20f", "%e", "%+.2f", "%d", "%.25e", "%015.6f")
    for form in formats:
        fields = [form % v for v in values]
        parsed, odd = parse_fields(fields)
        np.testing.assert_array_equal(bits(parsed), expected(fields), err_msg=form)
        assert odd == 0, form


def test_spellings():
    fields = ["0", "-0", "+0", "-0.0", ".5", "5.", "-.5e1", "1E5", "1e+05", "1e-5", "007", "0.000", "1.e2"]
    fields += ["0e999999999999", "0000000000000000000000001.5", "0.00000000000000000000000000000000000123"]
    fields += [
        "123456789012345678901234567890",
        "1" * 40 + "e-20",
        "9007199254740993",
        "16777217",
        "1e22",
        "1e23",
    ]
    parsed, odd = parse_fields(fields)
    np.testing.assert_array_equal(bits(parsed), expected(fields))
    assert odd == 0


def test_between_two_floats():
    """Halfway between neighbouring float32, and one digit in the 25th place beside it."""
    rng = np.random.default_rng(2)
    floats = (rng.normal(size=300) * 10.0 ** rng.integers(-3, 8, 300)).astype(np.float32)
    middles = (floats.astype(np.float64) + np.nextafter(floats, np.float32(np.inf)).astype(np.float64)) / 2
    exact = [format(float(m), ".60f").rstrip("0") for m in middles]
    fields = exact + [f + "1" for f in exact] + [repr(float(m)) for m in middles]
    parsed, _ = parse_fields(fields)
    np.testing.assert_array_equal(bits(parsed), expected(fields))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
            st.floats(allow_nan=False, allow_infinity=False).filter(lambda v: abs(v) < 3e38).map(repr),
            st.from_regex(r"[+-]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][+-]?\d{1,2})?", fullmatch=True).filter(
                lambda s: s.isascii() and abs(float(s)) < 3e38
            ),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_any_number(fields):
    parsed, _ = parse_fields(fields)
    np.testing.assert_array_equal(bits(parsed), expected(fields))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("0123456789+-.eE#nai,x\x00\xff", min_size=1, max_size=12), min_size=1, max_size=20))
def test_what_is_no_number_is_left_to_the_caller(fields):
    check_odd([f for f in fields if not f.startswith("#")])


def check_odd(fields):
    for gap, shape in (("\n", (1, len(fields))), (" ", (len(fields), 1))):
        if not fields:
            return
        values, odd, _ = parse(gap.join(fields).encode("latin-1"), *shape)
        values = values.reshape(-1)
        odd_fields = set(odd[:, 2].tolist())
        for i, field in enumerate(fields):
            if not NUMBER.fullmatch(field):
                assert i in odd_fields
            elif i not in odd_fields:
                assert bits(values[i]) == expected([field])[0]
            assert (i in odd_fields) == bool(np.isnan(values[i]))


def test_pieces_of_numbers_are_no_numbers():
    check_odd(
        [
            "-",
            "+",
            ".",
            "-.",
            "e5",
            "1e",
            "1e+",
            "--1",
            "+-1",
            "1.2.3",
            "1-2",
            "0x10",
            "1_0",
            "1,5",
            "-e",
            "nan",
        ]
    )


@pytest.mark.parametrize("field", ["1e39", "-4e38", "1e400", "1e-80", "9" * 60])
def test_beyond_float32_is_odd(field):
    _, odd, _ = parse(field.encode(), 1, 1)
    assert odd.tolist() == [[0, len(field), 0]]


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
@pytest.mark.parametrize("gap", [b" ", b"\t", b"  ", b" \r", b"\x0b\x0c", b"\n", b"\n\n"])
def test_layout(rows, gap):
    table = np.arange(rows * 5, dtype=np.float32).reshape(rows, 5) - 7.25
    lines = [gap.join(b"%g" % v for v in row) for row in table]
    values, odd, state = parse(b" " + b" \n".join(lines), 5, rows + 3)
    np.testing.assert_array_equal(values[:, :rows].T, table)
    assert np.isnan(values[:, rows:]).all()
    assert (len(odd), state[0]) == (0, rows * 5)


def test_comments_last_to_the_end_of_the_line():
    values, odd, _ = parse(b"# 9 9\n1 2 # 9\n #\n3 4#5\n", 2, 2)
    np.testing.assert_array_equal(values[:, 0], [1, 2])
    assert values[0, 1] == 3
    assert odd[:, 2].tolist() == [3]


def test_stops_where_a_line_goes_on_after_a_row():
    data = b"1 2\n3 4 5\n6 7\n"
    values, _, state = parse(data, 2, 9)
    np.testing.assert_array_equal(values[:, :2], [[1, 3], [2, 4]])
    assert np.isnan(values[:, 2:]).all()
    assert state.tolist() == [4, 0, 0, data.index(b"5")]


@pytest.mark.parametrize("capacity", [1, 2, 3])
def test_goes_on_after_the_odd_fields_were_full(capacity):
    data = b"1 x\nnan 4\n5 y\nz 8\n9 10\n"
    array = np.frombuffer(data + PADDING, np.uint8)
    values = np.full((2, 5), np.nan, np.float32)
    odd = np.empty((capacity, 3), np.int64)
    state = np.array([0, 1, 0, 0], np.int64)
    found = []
    while state[3] < len(data):
        text.parse_rows(array, state[3], len(data), values, odd, state)
        found += [(data[b:e], f) for b, e, f in odd[: state[2]].tolist()]
    assert found == [(b"x", 1), (b"nan", 2), (b"y", 5), (b"z", 6)]
    np.testing.assert_array_equal(values, [[1, np.nan, 5, np.nan, 9], [np.nan, 4, np.nan, 8, 10]])


def test_starts_in_the_middle():
    values, _, state = parse(b"1 2\n3 4\n", 2, 2, start=4)
    np.testing.assert_array_equal(values[:, 0], [3, 4])
    assert state[0] == 2


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40), st.integers(0, 40), st.sampled_from([b"", b"1 22  3\n" * 100, b"x" * 700]))
def test_count_fields(data, start, tail):
    data = data + tail
    start = min(start, len(data))
    count = np.full(1, -1, np.int64)
    text.count_fields(np.frombuffer(data, np.uint8), start, len(data), count)
    assert count[0] == len(data[start:].split())


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_format_rows(rows):
    rng = np.random.default_rng(3)
    values = (rng.normal(size=(4, rows)) * [[1], [1000], [1e-7], [1e6]]).astype(np.float32)
    decimals = np.array([6, 3, 9, 0], np.int32)
    out, length = np.zeros(rows * 4 * 22 + 1, np.uint8), np.full(1, -1, np.int64)
    text.format_rows(values, decimals, 0, rows, out, length)
    written = bytes(out[: length[0]]).decode()
    assert written.count("\n") == rows
    for line, row in zip(written.splitlines(), values.T, strict=True):
        fields = line.split(" ")
        for field, value, places in zip(fields, row, decimals, strict=True):
            assert re.fullmatch(r"-?\d+" + (rf"\.\d{{{places}}}" if places else ""), field)
            # Half a unit in the last place, and the rounding of value * 10^places in float64.
            assert abs(float(field) - float(value)) <= 0.5 * 10.0**-places * (1 + 1e-6) + abs(value) * 1e-15


def test_format_rows_writes_a_range_of_rows():
    values = np.array([[1.5, -2.25, 3], [0, -0.0, -1e-9]], np.float32)
    out, length = np.zeros(100, np.uint8), np.zeros(1, np.int64)
    text.format_rows(values, np.array([2, 3], np.int32), 1, 3, out, length)
    assert bytes(out[: length[0]]) == b"-2.25 0.000\n3.00 0.000\n"


def test_22_bytes_a_number_suffice():
    values = np.array([[-1e9, -np.float32(9.99e8)]], np.float32)
    out, length = np.zeros(44, np.uint8), np.zeros(1, np.int64)
    text.format_rows(values, np.array([9], np.int32), 0, 2, out, length)
    assert length[0] <= 44
    assert [float(v) for v in bytes(out[: length[0]]).split()] == [-1e9, float(values[0, 1])]


def test_float32_bounds_enclose_the_value():
    """The interval may be wide, but never misses: checked in exact arithmetic."""
    from fractions import Fraction

    rng = np.random.default_rng(4)
    for _ in range(300):
        mantissa = int(rng.integers(1, 10**18))
        near, far = int(rng.integers(0, 23)), int(rng.integers(0, 23))
        for is_small in (False, True):
            power = Fraction(10) ** (near + far)
            exact = Fraction(mantissa) / power if is_small else mantissa * power
            bounds = text.float32_bounds(np.uint64(mantissa), 10.0**near, float(f"1e{far}"), is_small)
            low, high = (struct.unpack("f", struct.pack("f", b))[0] for b in bounds)
            below, above = np.nextafter(np.float32([low, high]), np.float32([-np.inf, np.inf]))
            assert Fraction(float(below)) < exact
            assert not np.isfinite(above) or exact < Fraction(float(above))
