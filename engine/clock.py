"""The clock of a fixed-step simulation: real time in, whole steps out."""

from __future__ import annotations

import math


class Clock:
    """Turns passing time into a number of fixed steps and remembers the rest.

    Attributes:
        step: Length of a step [s].
        max_steps: Most steps one ``advance`` returns; time beyond them is dropped, so that a slow frame is not
            followed by ever slower ones.
    """

    def __init__(self, step: float, max_steps: int = 8) -> None:
        if not (math.isfinite(step) and step > 0):
            raise ValueError(f"step must be a positive number of seconds, got {step}")
        if max_steps < 1:
            raise ValueError(f"max_steps must be >= 1, got {max_steps}")
        self.step = step
        self.max_steps = max_steps
        self._rest = 0.0

    def advance(self, elapsed: float) -> int:
        """Add elapsed time [s] and return how many steps are due.

        Raises:
            ValueError: The time is negative or not a number.
        """
        if not (math.isfinite(elapsed) and elapsed >= 0):
            raise ValueError(f"elapsed must be a number of seconds >= 0, got {elapsed}")
        self._rest += elapsed
        # A rest that rounding left a hair under a whole step counts as one.
        due = int(self._rest / self.step + 1e-9)
        if due > self.max_steps:
            self._rest = 0.0
            return self.max_steps
        self._rest = max(0.0, self._rest - due * self.step)
        return due

    @property
    def alpha(self) -> float:
        """How far time stands between the last step and the next, 0..1: what a renderer interpolates by."""
        return min(self._rest / self.step, 1.0)

    @property
    def until_next(self) -> float:
        """Time to the next step [s]."""
        return max(0.0, self.step - self._rest)
