"""Housekeeping on columns of any kind."""

import numpy as np

from .jit import kernel

# Components this small mean nothing in float32 next to 1, but products of a few of them are denormal numbers, which
# cost a processor a hundred cycles each: sampling a clip full of them took 50 ns a joint instead of 2.
_TINY = np.float32(1e-12)
_ZERO = np.float32(0)


@kernel
def flush_tiny(start, stop, values_out):
    """Set values of magnitude below 1e-12 to zero, in place.

    start       ()         i8  1  first row
    stop        ()         i8  1  one past the last row
    values_out  (M, C, N)  f4  *  read and written; NaN stays
    """
    for m in range(values_out.shape[0]):
        for c in range(values_out.shape[1]):
            v = values_out[m, c, start:stop]
            for i in range(stop - start):
                v[i] = _ZERO if abs(v[i]) < _TINY else v[i]
