"""Compiled maths on plain arrays: no objects, no checks, no allocation.

Every kernel works on columns ``(J, C, N)``: joint, channel, row, with the rows innermost, and computes the
rows ``start <= row < stop``. Quaternions are x y z w.
"""
