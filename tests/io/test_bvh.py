"""Reading BVH: errors with their line, conventions, blocks and threads."""

import contextlib
import time
import tracemalloc

import numpy as np
import pytest

from ai4animation.io import bvh_rows
from ai4animation.io.bvh import read_bvh
from ai4animation.io.errors import FormatError, FormatWarning
from ai4animation.kernels.threads import set_thread_count

HEADER = """HIERARCHY
ROOT Hips
{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Spine
  {
    OFFSET 0 0.5 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 0.2 0
    }
  }
}
MOTION
"""
TIMING = "Frames: 2\nFrame Time: 0.04\n"
ROWS = "0 1 0 10 20 30 40 50 60\n0 1 1 11 21 31 41 51 61\n"
CLIP = HEADER + TIMING + ROWS
SIX = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"


@pytest.fixture
def save(tmp_path):
    def write(text, name="clip.bvh"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def matrix(axis, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array({"X": [[1, 0, 0], [0, c, -s], [0, s, c]], "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]]}.get(
        axis, [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    ))  # fmt: skip


def test_poses_are_those_of_the_formula(save):
    motion = read_bvh(save(CLIP), scale=2)
    assert (motion.name, motion.framerate, motion.frame_count) == ("clip", 25.0, 2)
    for frame, row in enumerate(ROWS.splitlines()):
        v = [float(field) for field in row.split()]
        hips = matrix("Z", v[3]) @ matrix("X", v[4]) @ matrix("Y", v[5])
        spine = hips @ matrix("Z", v[6]) @ matrix("X", v[7]) @ matrix("Y", v[8])
        np.testing.assert_allclose(motion.positions[frame, 0], np.array(v[:3]) * 2, atol=1e-6)
        expected = np.array(v[:3]) * 2 + hips @ [0, 1, 0]
        np.testing.assert_allclose(motion.positions[frame, 1], expected, atol=1e-6)
        x, y, z, w = (float(q) for q in motion.rotations[frame, 1])
        axes = [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)]
        np.testing.assert_allclose(axes, spine[:, 0], atol=1e-6)
        np.testing.assert_allclose(2 * (y * z + x * w), spine[2, 1], atol=1e-6)


def edit(old, new):
    assert old in CLIP
    return CLIP.replace(old, new, 1)


BROKEN = {
    "empty": ("", ":1: must begin with HIERARCHY, got an empty file"),
    "blank": ("\n \n", ":2: must begin with HIERARCHY, got an empty file"),
    "other text": ("#!/bin/sh\nls\n", ":2: must begin with HIERARCHY, got 'ls'"),
    "no HIERARCHY": (CLIP[10:], ":1: must begin with HIERARCHY, got 'ROOT Hips'"),
    "UTF-16": (CLIP.encode("utf-16"), ":1: must be text in UTF-8 or Latin-1, got UTF-16"),
    "zero bytes": (b"HIERARCHY\n\0\0\n", ":2: must be text, got a zero byte"),
    "one endless line": (b"HIERARCHY " * 10_000, ":1: lines of the header must be shorter than 65536 bytes"),
    "missing }": (
        edit("  }\n}\n", "  }\n"), ":15: every joint must close its brace before MOTION, 1 did not",
    ),
    "cut off in the header": (
        CLIP[:100], ":5: CHANNELS must name 6 channels, got 5",
    ),
    "cut off after a brace": (
        CLIP[: CLIP.index("  OFFSET")], ":3: every joint must close its brace before the end of the file, 1 did not",
    ),
    "surplus }": (edit("MOTION", "}\nMOTION"), ":16: '}' must close a joint, got one more than was opened"),
    "missing {": (edit("{\n  OFFSET", "  OFFSET"), ":3: '{' must follow the name of a joint, got 'OFFSET 0 1 0'"),
    "{ without a name": (edit("ROOT Hips\n", ""), ":2: '{' must follow the name of a joint"),
    "no joints": ("HIERARCHY\nMOTION\n", ":2: HIERARCHY must hold at least one ROOT, got none"),
    "garbage": (
        edit("  JOINT", "  JONT"),
        ":6: must be one of ROOT, JOINT, End Site, OFFSET, CHANNELS, MOTION, {, }, got 'JONT'; did you mean 'JOINT'?",
    ),
    "no name": (edit("JOINT Spine", "JOINT"), ":6: JOINT must have a name"),
    "JOINT outside": (edit("ROOT", "JOINT"), ":2: JOINT must stand inside the braces of its parent"),
    "ROOT inside": (edit("JOINT Spine", "ROOT Spine"), ":6: ROOT must not stand inside another joint"),
    "joint in an End Site": (
        edit("OFFSET 0 0.2 0", "JOINT Toe"), ":12: End Site must not have joints",
    ),
    "channels in an End Site": (
        edit("OFFSET 0 0.2 0", "CHANNELS 0"), ":12: End Site must not have channels",
    ),
    "End Site outside": ("HIERARCHY\nEnd Site\n", ":2: End Site must stand inside a joint"),
    "OFFSET outside": ("HIERARCHY\nOFFSET 0 0 0\n", ":2: OFFSET must stand inside the braces of a joint"),
    "OFFSET of words": (edit("0 0.5 0", "0 tall 0"), ":8: OFFSET must be three numbers, got '0 tall 0'"),
    "OFFSET of two": (edit("0 0.5 0", "0 0.5"), ":8: OFFSET must be three numbers, got '0 0.5'"),
    "OFFSET of four": (edit("0 0.5 0", "0 0.5 0 0"), ":8: OFFSET must be three numbers, got '0 0.5 0 0'"),
    "OFFSET of nan": (edit("0 0.5 0", "0 nan 0"), ":8: OFFSET must be three numbers, got '0 nan 0'"),
    "OFFSET beyond float32": (edit("0 0.5 0", "0 1e39 0"), ":8: OFFSET must be three numbers, got '0 1e39 0'"),
    "OFFSET twice": (edit("0 0.5 0", "0 1 0\nOFFSET 0 1 0"), ":9: joint 'Spine' must have one OFFSET, got a second"),
    "no OFFSET": (edit("    OFFSET 0 0.5 0\n", ""), ":13: joint 'Spine' must have an OFFSET"),
    "channel misspelt": (
        edit("Zposition", "Zpositon"),
        ":5: channels must be among Xposition, Yposition, Zposition, Xrotation, Yrotation, Zrotation, "
        "got 'Zpositon'; did you mean 'Zposition' or 'Yposition' or 'Xposition'?",
    ),
    "channel twice": (
        edit("Zrotation Xrotation Yrotation", "Zrotation Zrotation Yrotation"),
        ":5: channels of a joint must differ, got Zrotation twice",
    ),
    "channels miscounted": (edit("CHANNELS 3", "CHANNELS 4"), ":9: CHANNELS must name 4 channels, got 3"),
    "channels uncounted": (
        edit("CHANNELS 3 ", "CHANNELS "), ":9: CHANNELS must begin with their number, got 'Zrotation'",
    ),
    "CHANNELS empty": (
        edit("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS"),
        ":9: CHANNELS must begin with their number, got ''",
    ),
    "CHANNELS twice": (
        edit("    End Site", "    CHANNELS 0\n    End Site"),
        ":10: joint 'Spine' must have one CHANNELS line, got a second",
    ),
    "too deep": (
        "HIERARCHY\nROOT A\n{\nOFFSET 0 0 0\n" + "JOINT A\n{\nOFFSET 0 0 0\n" * 1001,
        ":3003: joints must not be nested deeper than 1000",
    ),
    "Frames of words": (edit("Frames: 2", "Frames: two"), ":17: Frames must be a whole number, got 'two'"),
    "Frames negative": (edit("Frames: 2", "Frames: -2"), ":17: Frames must be a whole number, got '-2'"),
    "Frames and nothing": (edit("Frames: 2", "Frames"), ":17: must be 'Frames: N' or 'Frame Time: S', got 'Frames'"),
    "Frame Time 0": (
        edit("0.04", "0"),
        ":18: Frame Time must lie between 1e-9 and 1e9 s, got '0'; pass framerate= to set the rate",
    ),
    "Frame Time negative": (
        edit("0.04", "-0.04"),
        ":18: Frame Time must lie between 1e-9 and 1e9 s, got '-0.04'; pass framerate= to set the rate",
    ),
    "Frame Time nan": (
        edit("0.04", "nan"),
        ":18: Frame Time must be a number of seconds, got 'nan'; pass framerate= to set the rate",
    ),
    "Frame Time missing": (
        edit("Frame Time: 0.04\n", ""), ":16: 'Frame Time' is missing; pass framerate= to set the rate",
    ),
    "word in a row": (edit("21 31", "21 x31"), ":20: must be a number, got 'x31'"),
    "decimal comma in a row": (edit("21 31", "21,5 31"), ":20: must be a number, got '21,5'"),
    "binary in a row": (CLIP[:-9].encode() + b"\xff\0\x80 1 2\n", ":20: must be a number, got 'ÿ\\x00\\x80'"),
    "short row": (
        edit("10 20 30 ", "10 20 "),
        ":19: expected 9 channel values, got 8, and the next line, with 9, would belong to two frames",
    ),
    "long row": (edit("10 20 30 ", "10 20 30 30 "), ":19: expected 9 channel values, got 10"),
    "long and short row": (
        edit("60\n0 1", "60 0\n1"), ":19: expected 9 channel values, got 10",
    ),
    "cut off in a row": (CLIP[:-6], ":20: expected 9 channel values, got 7 before the end of the file"),
    "rows without channels": (
        "HIERARCHY\nROOT A\n{\nOFFSET 0 0 0\n}\nMOTION\n\n1 2\n", ":8: expected 0 channel values, got 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(save, name):
    text, message = BROKEN[name]
    path = save(text)
    with pytest.raises(FormatError) as caught:
        read_bvh(path)
    assert str(caught.value) == f"{path}{message}"


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_bvh(tmp_path / "missing.bvh")
    with pytest.raises(IsADirectoryError):
        read_bvh(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": 0}, "scale must be a positive number, got 0"),
        ({"scale": np.nan}, "scale must be a positive number, got nan"),
        ({"framerate": -30}, "framerate must be a positive number of frames per second, got -30"),
        ({"positions": "global"}, "positions must be 'absolute' or 'relative', got 'global'"),
    ],
)
def test_options_are_checked(save, options, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        read_bvh(save(CLIP), **options)


def test_a_billion_declared_frames_take_no_memory(save):
    path = save(CLIP.replace("Frames: 2", "Frames: 1000000000"))
    read_bvh(save(CLIP, "warm.bvh"))
    tracemalloc.start()
    with pytest.warns(FormatWarning, match=":17: Frames declares 1000000000, the file holds 2"):
        motion = read_bvh(path)
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert motion.frame_count == 2


def test_a_late_error_names_its_line(save):
    good = ROWS.splitlines()[0]
    lines = [good] * 40_000
    lines[31_000] = good.replace("30", "3O")
    with pytest.raises(FormatError, match=r":31019: must be a number, got '3O'$"):
        read_bvh(save(HEADER + TIMING + "\n".join(lines)))
    lines[31_000] = "1 2"
    with pytest.raises(
        FormatError, match=r":31019: expected 9 channel values, got 2, and the next line, with 9"
    ):
        read_bvh(save(HEADER + TIMING + "\n".join(lines)))


@pytest.mark.parametrize(
    "field", ["nan", "-NaN", "inf", "-Infinity", "1.#INF00", "-1.#IND", "1.#QNAN", "-nan(ind)", "1e39"]
)
def test_fields_that_are_not_finite(save, field):
    rows = [ROWS.splitlines()[0]] * 8
    rows[3] = rows[3].replace("50", field)
    rows[6] = field + rows[6][1:]
    text = HEADER + TIMING.replace("2", "8") + "\n".join(rows)
    message = (
        "2 frames hold values .* NaN in their place: frames 3, 6, channels Hips Xposition, Spine Xrotation$"
    )
    with pytest.warns(FormatWarning, match=message):
        motion = read_bvh(save(text))
    bad = np.isnan(motion.local_rotations).any(axis=2)
    assert np.argwhere(bad).tolist() == [[3, 1]]
    assert np.argwhere(np.isnan(motion.local_positions)).tolist() == [[6, 0, 0]]


def test_many_fields_that_are_not_finite(save):
    text = HEADER + TIMING.replace("2", "3000") + "nan nan nan nan nan nan nan nan nan\n" * 3000
    with pytest.warns(
        FormatWarning, match=r"3000 frames hold .*: frames 0, 1, 2, 3, 4 and 2995 more, .* 4 more$"
    ):
        motion = read_bvh(save(text))
    assert np.isnan(motion.local_rotations).all()


POSITIONED = HEADER.replace("CHANNELS 3 Zrotation Xrotation Yrotation", SIX)


def positioned(rows):
    return POSITIONED + f"Frames: {len(rows)}\nFrame Time: 0.04\n" + "\n".join(rows)


def test_still_position_channels_become_the_offset(save):
    motion = read_bvh(save(positioned(["0 1 0 0 0 0 0.1 0.6 0 0 0 0"] * 3)), scale=10)
    assert motion.translated.tolist() == [0]
    np.testing.assert_allclose(motion.skeleton.offsets[1], [1, 6, 0], rtol=1e-6)
    np.testing.assert_allclose(motion.positions[:, 1], [[1, 16, 0]] * 3, rtol=1e-6)


def test_moving_position_channels_are_kept(save):
    rows = [f"0 1 0 0 0 0 0.1 {0.6 + 0.1 * f} 0 0 0 0" for f in range(3)]
    motion = read_bvh(save(positioned(rows)))
    assert motion.translated.tolist() == [0, 1]
    np.testing.assert_allclose(motion.positions[:, 1], [[0.1, 1.6 + 0.1 * f, 0] for f in range(3)], rtol=1e-6)


def test_a_still_joint_with_one_bad_frame_keeps_it(save):
    rows = ["0 1 0 0 0 0 0 0.6 0 0 0 0"] * 4
    rows[2] = rows[2].replace("0.6", "nan")
    with pytest.warns(FormatWarning, match=": frames 2, channels Spine Yposition$"):
        motion = read_bvh(save(positioned(rows)))
    assert motion.translated.tolist() == [0, 1]
    assert np.argwhere(np.isnan(motion.local_positions)).tolist() == [[2, 1, 1]]


@pytest.mark.parametrize(("positions", "spine"), [("absolute", (0.4, 0.5, 0)), ("relative", (0.4, 0.5, 0))])
def test_an_axis_without_a_channel_keeps_offset(save, positions, spine):
    text = positioned(["0 1 0 0 0 0 0.4", "0 1 0 0 0 0 0.4"]).replace(
        f"0.5 0\n    {SIX}", "0.5 0\n    CHANNELS 1 Xposition"
    )
    motion = read_bvh(save(text), positions=positions)
    np.testing.assert_allclose(motion.local_positions[:, 1], [spine] * 2, rtol=1e-6)


def test_relative_positions_are_added(save):
    rows = [f"0 {0.2 * f} 0 0 0 0 0 0.1 0 0 0 0" for f in range(2)]
    motion = read_bvh(save(positioned(rows)), positions="relative", scale=10)
    np.testing.assert_allclose(motion.positions[:, 0], [(0, 10, 0), (0, 12, 0)], rtol=1e-6)
    np.testing.assert_allclose(motion.positions[:, 1], [(0, 16, 0), (0, 18, 0)], rtol=1e-6)


@pytest.mark.parametrize(
    ("rows", "positions", "warns"),
    [
        (["0 1 0 0 0 0 0 0.01 0 0 0 0"], "absolute", "absolute but stay near zero.*positions='relative'$"),
        (["0 0.01 5 0 0 0 0 0.5 0 0 0 0"], "absolute", "absolute but stay near zero.*positions='relative'$"),
        (["0 1 0 0 0 0 0 0.5 0 0 0 0"], "relative", "relative but stay near OFFSET.*positions='absolute'$"),
        (["0 1 0 0 0 0 0 0.5 0 0 0 0"], "absolute", None),
        (["0 1 0 0 0 0 0 0.01 0 0 0 0", "0 1 0 0 0 0 0 0.4 0 0 0 0"], "absolute", None),
        (["0 0 0 0 0 0 0 0 0 0 0 0"], "relative", None),
    ],
)
def test_the_other_convention_is_suspected(save, rows, positions, warns):
    expected = pytest.warns(FormatWarning, match=warns) if warns else contextlib.nullcontext()
    with expected:
        read_bvh(save(positioned(rows)), positions=positions)


def long_clip(frames, per_line=9, comment=""):
    rng = np.random.default_rng(frames)
    table = np.round(rng.normal(size=(frames, 9)) * 50, 4)
    lines = []
    for row in table.tolist():
        fields = [repr(v) for v in row]
        lines += [" ".join(fields[i : i + per_line]) + comment for i in range(0, 9, per_line)]
    return HEADER + f"Frames: {frames}\nFrame Time: 0.04\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("block", [16, 64, 100, 1000, 1 << 15])
@pytest.mark.parametrize("layout", [{}, {"per_line": 4}, {"per_line": 1}, {"comment": " # x"}])
@pytest.mark.parametrize("declared", [None, "", "Frames: 3", "Frames: 9999"])
def test_blocks_do_not_show(save, monkeypatch, block, layout, declared):
    text = long_clip(300, **layout)
    path = save(text)
    whole = read_bvh(path)
    assert whole.frame_count == 300
    monkeypatch.setattr(bvh_rows, "_BLOCK", block)
    if declared is not None:
        path = save(text.replace("Frames: 300", declared))
    warns = pytest.warns(FormatWarning) if declared else contextlib.nullcontext()
    with warns:
        parts = read_bvh(path)
    assert parts.local_rotation_column.tobytes() == whole.local_rotation_column.tobytes()
    assert parts.local_position_column.tobytes() == whole.local_position_column.tobytes()


def test_a_frame_without_end_is_refused(save, monkeypatch):
    monkeypatch.setattr(bvh_rows, "_BLOCK", 64)
    monkeypatch.setattr(bvh_rows, "_LARGEST_FRAME", 1 << 12)
    with pytest.raises(FormatError, match=r":19: a frame must take less than 128 MiB of text$"):
        read_bvh(save(HEADER + TIMING + " " * 10_000 + ROWS))


@pytest.fixture
def threads():
    yield set_thread_count
    set_thread_count(None)


def test_threads_do_not_show(save, threads, monkeypatch):
    path = save(long_clip(3000))
    monkeypatch.setattr(bvh_rows, "_BLOCK", 1 << 14)
    found = set()
    for count in (1, 2, 3):
        threads(count)
        motion = read_bvh(path)
        found.add(motion.local_rotation_column.tobytes() + motion.local_position_column.tobytes())
    assert len(found) == 1


def test_threads_find_the_first_error(save, threads, monkeypatch):
    lines = long_clip(3000).splitlines()
    lines[900] = lines[900].replace(".", "x")
    # Noticed when the next block is cut, before the one with the word has been parsed.
    lines[950] = "1 2 3"
    monkeypatch.setattr(bvh_rows, "_BLOCK", 1 << 12)
    threads(2)
    with pytest.raises(FormatError, match=":901: must be a number, got"):
        read_bvh(save("\n".join(lines)))


def test_a_field_of_many_digits_is_refused_in_no_time(tmp_path):
    path = tmp_path / "long.bvh"
    for offset, row in (("0 0 " + "1" * 50_000 + "x", "0"), ("0 0 0", "1" * 50_000 + "x")):
        path.write_text(
            f"HIERARCHY\nROOT A\n{{\nOFFSET {offset}\nCHANNELS 1 Xrotation\n}}\n"
            f"MOTION\nFrames: 1\nFrame Time: 0.1\n{row}\n"
        )
        begin = time.perf_counter()
        with pytest.raises(FormatError):
            read_bvh(path)
        assert time.perf_counter() - begin < 2


def test_too_little_memory_names_the_file(save, monkeypatch):
    def scarce(self, rows):
        raise MemoryError

    monkeypatch.setattr("ai4animation.io.bvh._PoseSink.reserve", scarce)
    with pytest.raises(FormatError, match=r"its frames of \d+ joints need more memory than there is"):
        read_bvh(save(CLIP))
