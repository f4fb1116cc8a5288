"""Mutated BVH files: they load, with documented warnings, or they are refused; nothing else happens."""

import warnings
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ai4animation.io import bvh_rows
from ai4animation.io.bvh import read_bvh
from ai4animation.io.errors import FormatError, FormatWarning
from tests.shared_data import data_files

SAMPLE = b"""HIERARCHY
ROOT Hips
{
\tOFFSET 0.00 93.3 -2.1
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Left Leg
\t{
\t\tOFFSET 9.1 -4.5e-1 0
\t\tCHANNELS 6 Xposition Yposition Zposition Yrotation Xrotation Zrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 -41 0
\t\t}
\t}
\tJOINT Spine
\t{
\t\tOFFSET 0 12 0
\t\tCHANNELS 3 Zrotation Xrotation Yrotation
\t}
}
MOTION
Frames: 5
Frame Time: 0.0333333
1 92.5 0 10 -20 30.5 9.1 -0.45 0 0 1 2 3 4 5
1 92.6 0 10 -20 30.6 9.1 -0.45 0 0 1 2 3 4 6
1 92.7 0 10 -20 30.7 9.1 -0.45 0 0 1 2 3 4 7
1 92.8 0 10 -20 30.8 9.1 -0.45 0 0 1 2 3 4 8
1 92.9 0 10 -20 30.9 9.1 -0.45 0 0 1 2 3 4 9
"""
WORDS = [
    b"{", b"}", b"HIERARCHY", b"ROOT", b"JOINT", b"JOINT x", b"End Site", b"OFFSET", b"OFFSET 1 2 3", b"CHANNELS",
    b"CHANNELS 6", b"CHANNELS 0", b"CHANNELS 999999999999", b"Xposition", b"Zrotation", b"MOTION", b"Frames:",
    b"Frames: 1000000000000", b"Frame Time:", b"Frame Time: 1e-300", b"Frame Time: 0,04", b"nan", b"-1.#IND00",
    b"inf", b"1e38", b"-1e38", b"1e39", b"1e-400", b"1e99999999999", b"-", b".", b"+", b"e5", b"0x10", b"1_0",
    b"9" * 400, b"0." + b"3" * 400, b"#", b"\n", b"\n\n", b"\r", b"\t", b" ", b"\0", b"\xff\xfe", b"\xef\xbb\xbf",
    b"\xe9", b"\xd9\xa3", b"3.5", b"-0",
]  # fmt: skip


def sources():
    """The sample, and the first kilobytes of real files where there are some."""
    found = [SAMPLE]
    for path in data_files("bvh/*.bvh"):
        text = path.read_bytes()
        place = text.index(b"Frame Time")
        lines = text[place:].splitlines(keepends=True)[:4]
        found.append(text[:place] + b"".join(lines))
    return found


SOURCES = sources()


@st.composite
def mutated(draw):
    text = draw(st.sampled_from(SOURCES))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        kind = draw(st.sampled_from(["insert", "word", "cut", "cut line", "repeat", "byte", "end", "swap"]))
        if kind == "insert":
            text = text[:at] + draw(st.binary(max_size=8)) + text[at:]
        elif kind == "word":
            word = draw(st.sampled_from(WORDS))
            stop = at + draw(st.integers(0, 6))
            text = text[:at] + draw(st.sampled_from([b"", b" ", b"\n"])) + word + text[stop:]
        elif kind == "cut":
            text = text[:at] + text[at + draw(st.integers(1, 60)) :]
        elif kind == "cut line":
            lines = text.splitlines(keepends=True)
            text = b"".join(line for i, line in enumerate(lines) if i != at % max(len(lines), 1))
        elif kind == "repeat":
            stop = at + draw(st.integers(1, 200))
            text = text[:stop] + text[at:]
        elif kind == "byte" and at < len(text):
            text = text[:at] + bytes([draw(st.integers(0, 255))]) + text[at + 1 :]
        elif kind == "end":
            text = text[:at]
        elif kind == "swap":
            text = text[at:] + text[:at] if draw(st.booleans()) else text.replace(b"\n", b"\r\n")
    return text


def outcome(path, **options):
    """Bytes of the poses, or the error; whatever else happens goes up."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FormatWarning)
        try:
            motion = read_bvh(path, **options)
        except FormatError:
            return FormatError
    assert motion.positions.shape == (motion.frame_count, motion.joint_count, 3)
    lengths = (motion.local_rotation_column.astype(np.float64) ** 2).sum(axis=1)
    assert (np.isnan(lengths) | (np.abs(lengths - 1) < 1e-4)).all()
    poses = motion.local_rotation_column.tobytes() + motion.local_position_column.tobytes()
    return motion.skeleton.names, motion.framerate, poses


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return Path(tmp_path_factory.mktemp("fuzz")) / "clip.bvh"


@settings(
    max_examples=600,
    deadline=timedelta(seconds=5),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=mutated(), convention=st.sampled_from(["absolute", "relative"]))
def test_mutated_files(path, text, convention):
    path.write_bytes(text)
    whole = outcome(path, positions=convention)
    # Whatever a file is, it is the same when it comes in pieces.
    previous = bvh_rows._BLOCK
    bvh_rows._BLOCK = 40
    try:
        assert outcome(path, positions=convention) == whole
    finally:
        bvh_rows._BLOCK = previous


@settings(max_examples=200, deadline=timedelta(seconds=5))
@given(
    data=st.binary(max_size=300), begin=st.sampled_from([b"", b"HIERARCHY\n", SAMPLE[:300], SAMPLE[:-200]])
)
def test_junk(path, data, begin):
    path.write_bytes(begin + data)
    outcome(path)


def test_the_samples_themselves_load(path):
    for text in SOURCES:
        path.write_bytes(text)
        assert outcome(path) is not FormatError
