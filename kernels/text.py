"""Numbers as text: bytes to floats and floats to bytes, for the tables of numbers that motion files hold.

A field is a run of bytes without white space. Fields stand in lines; ``#`` where a field could begin starts a
comment that lasts to the end of the line.
"""

import numpy as np

from .jit import kernel

_LINE_END = np.int64(10)
_MINUS, _PLUS, _POINT, _COMMENT = np.int64(45), np.int64(43), np.int64(46), np.int64(35)
_DIGIT_ZERO = np.int64(48)
_D0 = np.uint8(48)
_LETTER_E = np.int64(101)
_LOWER_CASE = np.int64(32)

# 10^0 to 10^22 are all the powers of ten that float64 holds exactly.
_POWERS = np.array([float(f"1e{power}") for power in range(23)])
_INT_POWERS = np.array([10**power for power in range(19)], np.int64)
_MOST_POWER = np.int64(22)
# 18 digits always fit an int64; 2^53 is the last whole number up to which float64 holds all of them.
_MOST_DIGITS = np.int64(18)
_MOST_EXACT = np.int64(2**53)
_EXPONENT_LIMIT = np.int64(100000)
# More than the relative error of a 18 digit mantissa times or by two powers of ten: 5 roundings of 2^-53.
_ABOVE = np.float64(1 + 2**-50)
_BELOW = np.float64(1 - 2**-50)
_ZERO = np.float64(0)
_INFINITY = np.float32(np.inf)


@kernel
def is_space(byte):
    """Return whether a byte is white space: blank, tab, line end, vertical tab, form feed, carriage return."""
    return (byte == 32) | ((byte >= 9) & (byte <= 13))


@kernel
def float32_bounds(mantissa, power):
    """Return the float32 below and above mantissa · 10^power; equal means that it is the rounded value.

    Exact, as float64, for a mantissa up to 2^53 and a power within 22 (Clinger, How to read floating point
    numbers accurately, 1990). Otherwise an interval that holds the value, for powers within 44; the interval
    is unbounded for others.
    """
    size = abs(power)
    value = np.float64(mantissa)
    if size <= _MOST_POWER:
        value = value / _POWERS[size] if power < 0 else value * _POWERS[size]
        if mantissa <= _MOST_EXACT:
            return np.float32(value), np.float32(value)
    else:
        size -= _MOST_POWER
        if size > _MOST_POWER:
            return -_INFINITY, _INFINITY
        scale, rest = _POWERS[_MOST_POWER], _POWERS[size]
        value = value / scale / rest if power < 0 else value * scale * rest
    return np.float32(value * _BELOW), np.float32(value * _ABOVE)


@kernel
def count_fields(text, start, stop, count_out):
    """Count the fields of a text without comments.

    text       (B,)  u1  1  bytes; white space or the start of the array stands before ``start``
    start      ()    i8  1  first byte
    stop       ()    i8  1  one past the last byte
    count_out  (1,)  i8  1  number of fields
    """
    count = np.int64(0)
    # Blocks short enough for 32-bit sums, which vectorise.
    block = start
    while block < stop:
        end = min(block + 65536, stop)
        here = text[block:end]
        fields = np.int32(0)
        for i in range(1, end - block):
            fields += np.int32((not is_space(here[i])) & is_space(here[i - 1]))
        count += fields
        if not is_space(text[block]) and (block == start or is_space(text[block - 1])):
            count += 1
        block = end
    count_out[0] = count


@kernel
def parse_rows(text, start, stop, values_out, odd_out, state_out):
    """Read rows of numbers, each rounded as ``float32(float(field))``.

    text        (B,)    u1  1  bytes; the last one, ``text[stop - 1]``, is a line end
    start       ()      i8  1  first byte; where a row begins when ``state_out`` is that of a new text
    stop        ()      i8  1  one past the last byte
    values_out  (C, R)  f4  *  channel, row; not stored for odd fields
    odd_out     (K, 3)  i8  1  odd fields: first byte, one past the last, number of the field in the text
    state_out   (4,)    i8  1  read and written: fields so far; 1 after a line end; odd fields; next byte

    Odd fields are those this kernel leaves to the caller: no plain decimal number, one beyond float32, or one
    within 2^-50 of the middle between two floats. Reading stops early, with the next byte below ``stop``, when
    ``odd_out`` is full or when a line goes on after the end of a row. A new text has the state 0, 1, 0, start.
    """
    channels = values_out.shape[0]
    row, channel = state_out[0] // channels, state_out[0] % channels
    is_fresh = state_out[1] == 1
    odd = np.int64(0)
    p = start
    while p < stop:
        byte = np.int64(text[p])
        if is_space(byte):
            is_fresh = is_fresh or byte == _LINE_END
            p += 1
            continue
        if byte == _COMMENT:
            while text[p] != _LINE_END:
                p += 1
            continue
        if (channel == 0 and not is_fresh) or odd == odd_out.shape[0]:
            break
        is_fresh = False
        first = p
        is_negative = byte == _MINUS
        p += np.int64(is_negative | (byte == _PLUS))
        begin = p
        # The number of digits before the point is a coin toss: up to three of them without a jump.
        a, b, c = np.uint8(text[p] - _D0), np.uint8(text[p + 1] - _D0), np.uint8(text[p + 2] - _D0)
        has_a = a <= 9
        has_b = has_a & (b <= 9)
        has_c = has_b & (c <= 9)
        mantissa = np.int64(a) if has_a else np.int64(0)
        mantissa = mantissa * 10 + np.int64(b) if has_b else mantissa
        mantissa = mantissa * 10 + np.int64(c) if has_c else mantissa
        p += np.int64(has_a) + np.int64(has_b) + np.int64(has_c)
        digit = np.int64(text[p]) - _DIGIT_ZERO
        while digit >= 0 and digit <= 9:
            mantissa = mantissa * 10 + digit
            p += 1
            digit = np.int64(text[p]) - _DIGIT_ZERO
        digits = p - begin
        power = np.int64(0)
        if digit == _POINT - _DIGIT_ZERO:
            p += 1
            point = p
            digit = np.int64(text[p]) - _DIGIT_ZERO
            while digit >= 0 and digit <= 9:
                mantissa = mantissa * 10 + digit
                p += 1
                digit = np.int64(text[p]) - _DIGIT_ZERO
            power = point - p
            digits -= power
        is_number = digits > 0
        if digits > _MOST_DIGITS:
            # The sum above has overflowed: keep the leading digits only.
            mantissa = np.int64(0)
            dropped = np.int64(0)
            for i in range(begin, p):
                if text[i] != _POINT:
                    if mantissa < _INT_POWERS[_MOST_DIGITS - 1]:
                        mantissa = mantissa * 10 + np.int64(text[i]) - _DIGIT_ZERO
                    else:
                        dropped += 1
            power += dropped
        byte = np.int64(text[p])
        if (byte | _LOWER_CASE) == _LETTER_E:
            p += 1
            byte = np.int64(text[p])
            is_small = byte == _MINUS
            if is_small or byte == _PLUS:
                p += 1
            begin = p
            exponent = np.int64(0)
            digit = np.int64(text[p]) - _DIGIT_ZERO
            while digit >= 0 and digit <= 9:
                exponent = min(exponent * 10 + digit, _EXPONENT_LIMIT)
                p += 1
                digit = np.int64(text[p]) - _DIGIT_ZERO
            is_number = is_number and p > begin
            power += -exponent if is_small else exponent
        is_number = is_number and is_space(text[p])
        low, high = float32_bounds(mantissa, power if mantissa != 0 else 0)
        if is_number and low == high and high < _INFINITY:
            values_out[channel, row] = -low if is_negative else low
        else:
            while not is_space(text[p]):
                p += 1
            odd_out[odd, 0] = first
            odd_out[odd, 1] = p
            odd_out[odd, 2] = row * channels + channel
            odd += 1
        channel += 1
        if channel == channels:
            channel = np.int64(0)
            row += 1
    state_out[0] = row * channels + channel
    state_out[1] = is_fresh
    state_out[2] = odd
    state_out[3] = p


@kernel
def format_rows(values, decimals, start, stop, text_out, length_out):
    """Write rows of numbers with a fixed number of decimals, blanks between and a line end after each row.

    values      (C, N)  f4  *  channel, row; finite, times 10^decimals below 2^63
    decimals    (C,)    i4  1  0 to 18 digits behind the point of each channel
    start       ()      i8  1  first row
    stop        ()      i8  1  one past the last row
    text_out    (B,)    u1  1  bytes; 22 a number always suffice
    length_out  (1,)    i8  1  number of bytes written
    """
    p = np.int64(0)
    for row in range(start, stop):
        for channel in range(values.shape[0]):
            value = np.float64(values[channel, row])
            places = np.int64(decimals[channel])
            scale = _INT_POWERS[places]
            number = np.int64(np.rint(abs(value) * np.float64(scale)))
            if value < _ZERO and number != 0:
                text_out[p] = _MINUS
                p += 1
            whole = number // scale
            fraction = number - whole * scale
            size = np.int64(1)
            while size < 19 and whole >= _INT_POWERS[size]:
                size += 1
            for i in range(size):
                text_out[p + size - 1 - i] = _DIGIT_ZERO + whole % 10
                whole //= 10
            p += size
            if places > 0:
                text_out[p] = _POINT
                p += 1
                for i in range(places):
                    text_out[p + places - 1 - i] = _DIGIT_ZERO + fraction % 10
                    fraction //= 10
                p += places
            text_out[p] = 32
            p += 1
        text_out[p - 1 if values.shape[0] > 0 else p] = _LINE_END
        p += 0 if values.shape[0] > 0 else 1
    length_out[0] = p
