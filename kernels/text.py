"""Numbers as text: bytes to floats and floats to bytes, for the tables of numbers that motion files hold.

A field is a run of bytes without white space. Fields stand in lines; ``#`` where a field could begin starts a
comment that lasts to the end of the line.
"""

import numpy as np

from .jit import kernel

_LINE_END, _BLANK, _COMMENT = np.uint64(10), np.uint64(32), np.uint64(35)
_PLUS, _MINUS, _POINT, _DIGIT_ZERO = np.uint64(43), np.uint64(45), np.uint64(46), np.uint64(48)
_LETTER_E, _LOWER_CASE = np.uint64(101), np.uint64(32)
_NONE, _NEXT, _NINE, _TEN = np.uint64(0), np.uint64(1), np.uint64(9), np.uint64(10)

# 10^0 to 10^22 are all the powers of ten that float64 holds exactly.
_POWERS = np.array([float(f"1e{power}") for power in range(23)])
_MOST_POWER, _MOST_SIZE = np.int64(22), np.int64(44)
# What point and blank are when the digit zero is taken off, modulo 2^64.
_POINT_DIGIT, _BLANK_DIGIT, _EXACT_DIGITS = np.uint64(2**64 - 2), np.uint64(2**64 - 16), np.uint64(15)
_EXPONENT_LIMIT = np.int64(100000)
# 18 digits always fit an int64; 2^53 is the last whole number up to which float64 holds all of them.
_MOST_DIGITS, _ENOUGH, _MOST_EXACT = np.uint64(18), np.uint64(10**17), np.uint64(2**53)
# More than the relative error of an 18 digit mantissa times or by two powers of ten: 5 roundings of 2^-53.
_ABOVE, _BELOW = np.float64(1 + 2**-50), np.float64(1 - 2**-50)
_ONE = np.float64(1)
_ZERO = np.float64(0)
_INFINITY = np.float32(np.inf)
_RUN = 256
_INT_POWERS = np.array([10**power for power in range(19)], np.int64)
_MOST_PLACES = np.uint64(18)


@kernel
def is_space(byte):
    """Return whether a byte is white space: blank, tab, line end, vertical tab, form feed, carriage return."""
    return (byte == 32) | ((byte >= 9) & (byte <= 13))


@kernel
def float32_bounds(mantissa, near, far, is_small):
    """Return the float32 below and above mantissa · near · far, or mantissa / near / far for a small number.

    Equal bounds are the rounded value. They are equal, and exact as float64, for a mantissa up to 2^53, a power
    of ten up to 10^22 for ``near`` and 1 for ``far`` (Clinger, How to read floating point numbers accurately,
    1990).
    """
    value = np.float64(np.int64(mantissa))
    value = value / near if is_small else value * near
    if mantissa > _MOST_EXACT or far != _ONE:
        value = value / far if is_small else value * far
        return np.float32(value * _BELOW), np.float32(value * _ABOVE)
    return np.float32(value), np.float32(value)


@kernel
def count_fields(text, start, stop, count_out):
    """Count the fields of a text without comments.

    text       (B,)  u1  1  bytes
    start      ()    i8  1  first byte, where a field may begin
    stop       ()    i8  1  one past the last byte
    count_out  (1,)  i8  1  number of fields
    """
    count = np.int64(0)
    first = start
    if start < stop and not is_space(text[start]):
        count += 1
    first += 1
    # Two bytes a field: 256 bytes begin at most 128, which fits the bytes of a vector register.
    while first + _RUN <= stop:
        here, before = text[first : first + _RUN], text[first - 1 : first + _RUN - 1]
        fields = np.uint8(0)
        for i in range(_RUN):
            fields = np.uint8(fields + np.uint8(is_space(before[i]) & (not is_space(here[i]))))
        count += np.int64(fields)
        first += _RUN
    for i in range(first, stop):
        count += np.int64(is_space(text[i - 1]) & (not is_space(text[i])))
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
    # Unsigned, so that indices are not tested for being negative and a digit takes one comparison.
    p, end = np.uint64(start), np.uint64(stop)
    while p < end:
        byte = np.uint64(text[p])
        if is_space(byte):
            is_fresh = is_fresh or byte == _LINE_END
            p += _NEXT
            continue
        if byte == _COMMENT:
            while text[p] != _LINE_END:
                p += _NEXT
            continue
        if (channel == 0 and not is_fresh) or odd == odd_out.shape[0]:
            break
        is_fresh = False
        first = p
        is_negative = byte == _MINUS
        p += np.uint64(is_negative | (byte == _PLUS))
        mantissa = _NONE
        begin = p
        digit = np.uint64(text[p]) - _DIGIT_ZERO
        while digit <= _NINE:
            mantissa = mantissa * _TEN + digit
            p += _NEXT
            digit = np.uint64(text[p]) - _DIGIT_ZERO
        digits = p - begin
        places = _NONE
        if digit == _POINT_DIGIT:
            p += _NEXT
            point = p
            digit = np.uint64(text[p]) - _DIGIT_ZERO
            while digit <= _NINE:
                mantissa = mantissa * _TEN + digit
                p += _NEXT
                digit = np.uint64(text[p]) - _DIGIT_ZERO
            places = p - point
            digits += places
        if digit == _BLANK_DIGIT and digits - _NEXT < _EXACT_DIGITS:
            # By far the most fields: a blank follows and the mantissa is exact.
            value = np.float32(np.float64(np.int64(mantissa)) / _POWERS[places])
            values_out[channel, row] = -value if is_negative else value
            p += _NEXT
            channel += 1
            if channel == channels:
                channel = np.int64(0)
                row += 1
            continue
        power = -np.int64(places)
        is_number = digits > _NONE
        if digits > _MOST_DIGITS:
            # The sum above may have overflowed: keep the leading digits only.
            mantissa = _NONE
            dropped = np.int64(0)
            while begin < p:
                if text[begin] != _POINT:
                    if mantissa < _ENOUGH:
                        mantissa = mantissa * _TEN + np.uint64(text[begin]) - _DIGIT_ZERO
                    else:
                        dropped += 1
                begin += _NEXT
            power += dropped
        byte = np.uint64(text[p])
        if (byte | _LOWER_CASE) == _LETTER_E:
            p += _NEXT
            byte = np.uint64(text[p])
            is_small = byte == _MINUS
            p += np.uint64(is_small | (byte == _PLUS))
            begin = p
            exponent = np.int64(0)
            digit = np.uint64(text[p]) - _DIGIT_ZERO
            while digit <= _NINE:
                exponent = min(exponent * 10 + np.int64(digit), _EXPONENT_LIMIT)
                p += _NEXT
                digit = np.uint64(text[p]) - _DIGIT_ZERO
            is_number = is_number and p > begin
            power += -exponent if is_small else exponent
        size = abs(power) if mantissa != _NONE else np.int64(0)
        near = np.uint64(min(size, _MOST_POWER))
        far = np.uint64(min(size - np.int64(near), _MOST_POWER))
        low, high = float32_bounds(mantissa, _POWERS[near], _POWERS[far], power < 0)
        is_number = is_number and is_space(text[p]) and size <= _MOST_SIZE
        if is_number and low == high and high < _INFINITY:
            values_out[channel, row] = -low if is_negative else low
        else:
            while not is_space(text[p]):
                p += _NEXT
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
    p = np.uint64(0)
    for row in range(start, stop):
        for channel in range(values.shape[0]):
            value = np.float64(values[channel, row])
            places = np.uint64(decimals[channel])
            scale = np.uint64(_INT_POWERS[places])
            number = np.uint64(np.rint(abs(value) * np.float64(np.int64(scale))))
            if value < _ZERO and number != _NONE:
                text_out[p] = _MINUS
                p += _NEXT
            whole = number // scale
            fraction = number - whole * scale
            size = _NEXT
            while size <= _MOST_PLACES and whole >= np.uint64(_INT_POWERS[size]):
                size += _NEXT
            p += size
            for i in range(size):
                text_out[p - i - _NEXT] = _DIGIT_ZERO + whole % _TEN
                whole //= _TEN
            if places > _NONE:
                text_out[p] = _POINT
                p += places + _NEXT
                for i in range(places):
                    text_out[p - i - _NEXT] = _DIGIT_ZERO + fraction % _TEN
                    fraction //= _TEN
            text_out[p] = _BLANK if channel < values.shape[0] - 1 else _LINE_END
            p += _NEXT
    length_out[0] = p
