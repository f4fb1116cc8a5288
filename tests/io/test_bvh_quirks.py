"""The dialects of BVH: 43 small files, each with one quirk, and what they mean.

The base file: Hips at (1, 2, 3) turned by 90 degrees about z in frame 1, Spine at offset (0, 10, 0) turned by
90 degrees about x, Head at offset (0, 4, 0). Frame 0 is all zero.
"""

import contextlib

import numpy as np
import pytest

from ai4animation import Motion
from ai4animation.io.errors import FormatError, FormatWarning

HIPS_CHANNELS = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
SPINE_CHANNELS = "CHANNELS 3 Zrotation Xrotation Yrotation\n    JOINT Head"
SPINE = f"OFFSET 0 10 0\n    {SPINE_CHANNELS}"
END_SITE = "      End Site\n      {\n        OFFSET 0 1 0\n      }\n"
ROWS = "0 0 0 0 0 0 0 0 0 0 0 0\n1 2 3 90 0 0 0 90 0 0 0 0\n"
MOTION = f"MOTION\nFrames: 2\nFrame Time: 0.025\n{ROWS}"
BASE = f"""HIERARCHY
ROOT Hips
{{
  OFFSET 0 0 0
  {HIPS_CHANNELS}
  JOINT Spine
  {{
    {SPINE}
    {{
      OFFSET 0 4 0
      CHANNELS 3 Zrotation Xrotation Yrotation
{END_SITE}    }}
  }}
}}
{MOTION}"""
ZERO_6 = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n    JOINT Head"


def case(*edits, first=None, last=None, names=("Hips", "Spine", "Head"), frames=2, rate=40.0, **more):
    """A quirk: edits of the base file, world positions in the first and last frame, and what else is expected."""
    positions = {
        "first": {"Hips": (0, 0, 0), "Spine": (0, 10, 0), "Head": (0, 14, 0)} if first is None else first,
        "last": {"Hips": (1, 2, 3), "Spine": (-9, 2, 3), "Head": (-9, 2, 7)} if last is None else last,
    }
    return {"edits": edits, "names": names, "frames": frames, "rate": rate, **positions, **more}


QUIRKS = {
    "CRLF": case(("\n", "\r\n")),
    "no End Site": case((END_SITE, "")),
    "scientific numbers": case((ROWS, "0 0 0 0 0 0 0 0 0 0 0 0\n1e0 2.0E+0 30e-1 9e1 0 0 0 +.9e2 0 -0 0. 0\n")),
    "tab after colon": case(("Frames: ", "Frames:\t"), ("Time: ", "Time:\t")),
    "named End Site": case(("End Site", "End Site HeadTop")),
    "no final newline": case((ROWS, ROWS.rstrip())),
    "tabs in rows": case((ROWS, "\t" + ROWS.replace(" ", "\t"))),
    "double blanks in rows": case((ROWS, "  " + ROWS.replace(" ", "  ").replace("\n", "  \n"))),
    "blank lines in MOTION": case((ROWS, "\n" + ROWS.replace("\n", "\n\n \n"))),
    "child with 6 channels": case(
        (SPINE_CHANNELS, ZERO_6),
        (ROWS, "0 0 0 0 0 0 0 12 0 0 0 0 0 0 0\n1 2 3 90 0 0 0 12 0 0 90 0 0 0 0\n"),
        first={"Hips": (0, 0, 0), "Spine": (0, 12, 0), "Head": (0, 16, 0)},
        last={"Hips": (1, 2, 3), "Spine": (-11, 2, 3), "Head": (-11, 2, 7)},
    ),
    "order a joint": case(
        (SPINE_CHANNELS, "CHANNELS 3 Xrotation Yrotation Zrotation\n    JOINT Head"),
        ("OFFSET 0 10 0", "OFFSET 0 10 0"),
        (ROWS, "0 0 0 0 0 0 0 0 0 0 0 0\n0 0 0 0 0 0 90 0 0 0 0 0\n"),
        last={"Hips": (0, 0, 0), "Spine": (0, 10, 0), "Head": (0, 10, 4)},
    ),
    "order inside a joint": case(
        (ROWS, "0 0 0 0 0 0 0 0 0 0 0 0\n0 0 0 90 90 0 0 0 0 0 0 0\n"),
        last={"Hips": (0, 0, 0), "Spine": (0, 0, 10), "Head": (0, 0, 14)},
    ),
    "root rotation before position": case(
        (HIPS_CHANNELS, "CHANNELS 6 Zrotation Xrotation Yrotation Xposition Yposition Zposition"),
        (ROWS, "0 0 0 0 0 0 0 0 0 0 0 0\n90 0 0 1 2 3 0 90 0 0 0 0\n"),
    ),
    "root positions as z x y": case(
        (HIPS_CHANNELS, "CHANNELS 6 Zposition Xposition Yposition Zrotation Xrotation Yrotation"),
        (ROWS, "0 0 0 0 0 0 0 0 0 0 0 0\n3 1 2 90 0 0 0 90 0 0 0 0\n"),
    ),
    "1 channel": case(
        (SPINE_CHANNELS, "CHANNELS 1 Xrotation\n    JOINT Head"),
        (ROWS, "0 0 0 0 0 0 0 0 0 0\n1 2 3 90 0 0 90 0 0 0\n"),
    ),
    "0 channels": case(
        (SPINE_CHANNELS, "CHANNELS 0\n    JOINT Head"),
        (ROWS, "0 0 0 0 0 0 0 0 0\n1 2 3 90 0 0 0 90 0\n"),
        last={"Hips": (1, 2, 3), "Spine": (-9, 2, 3), "Head": (-13, 2, 3)},
    ),
    "no CHANNELS line": case(
        (SPINE_CHANNELS, "JOINT Head"),
        (ROWS, "0 0 0 0 0 0 0 0 0\n1 2 3 90 0 0 0 90 0\n"),
        last={"Hips": (1, 2, 3), "Spine": (-9, 2, 3), "Head": (-13, 2, 3)},
    ),
    "Frame Time 0": case(("0.025", "0"), framerate=25, rate=25.0),
    "Frames too big": case(
        ("Frames: 2", "Frames: 5"), warns="Frames declares 5, the file holds 2; all of these are loaded"
    ),
    "Frames too small": case(
        ("Frames: 2", "Frames: 1"), warns="Frames declares 1, the file holds 2; all of these are loaded"
    ),
    "namespace": case(
        ("Hips", "mixamorig:Hips"),
        first={"mixamorig:Hips": (0, 0, 0), "Spine": (0, 10, 0)},
        last={"mixamorig:Hips": (1, 2, 3), "Spine": (-9, 2, 3)},
        names=("mixamorig:Hips", "Spine", "Head"),
    ),
    "blanks in a name": case(
        ("JOINT Spine", "JOINT Left Up Leg  "),
        first={"Left Up Leg": (0, 10, 0)},
        last={"Left Up Leg": (-9, 2, 3), "Head": (-9, 2, 7)},
        names=("Hips", "Left Up Leg", "Head"),
    ),
    "dash and dot in a name": case(
        ("JOINT Spine", "JOINT spine-01.L"),
        first={"spine-01.L": (0, 10, 0)},
        last={"spine-01.L": (-9, 2, 3)},
        names=("Hips", "spine-01.L", "Head"),
    ),
    "byte order mark": case(("HIERARCHY", "\ufeffHIERARCHY")),
    "brace on the same line": case(
        ("ROOT Hips\n{", "ROOT Hips {"), ("JOINT Spine\n  {", "JOINT Spine{"), ("JOINT Head\n    {", "JOINT Head {")
    ),
    "other letter case": case(
        ("HIERARCHY", "hierarchy"),
        ("ROOT", "Root"),
        ("JOINT", "joint"),
        ("OFFSET", "Offset"),
        ("CHANNELS", "Channels"),
        ("position", "POSITION"),
        ("Zrotation", "zRotation"),
        ("End Site", "END SITE"),
        ("MOTION", "Motion"),
        ("Frames", "FRAMES"),
        ("Frame Time", "frame time"),
    ),
    "frame over two lines": case((ROWS, ROWS.replace("0 0 0 0 0 0\n", "0\n0 0 0 0 0\n").replace("3 90", "3\n90"))),
    "no blank after Frames:": case(("Frames: ", "Frames:")),
    "no blank after Frame Time:": case(("Time: ", "Time:")),
    "joint named MOTION_JOINT": case(
        ("JOINT Spine", "JOINT MOTION_JOINT"),
        first={"MOTION_JOINT": (0, 10, 0)},
        last={"MOTION_JOINT": (-9, 2, 3)},
        names=("Hips", "MOTION_JOINT", "Head"),
    ),
    "root OFFSET and position": case(("OFFSET 0 0 0", "OFFSET 100 0 0")),
    "two ROOTs": case(
        ("\nMOTION", "\nROOT Prop\n{\n  OFFSET 5 6 7\n  CHANNELS 3 Xposition Yposition Zposition\n}\nMOTION"),
        (ROWS, "0 0 0 0 0 0 0 0 0 0 0 0 1 1 1\n1 2 3 90 0 0 0 90 0 0 0 0 -4 8 2\n"),
        first={"Prop": (1, 1, 1), "Spine": (0, 10, 0)},
        last={"Prop": (-4, 8, 2), "Spine": (-9, 2, 3)},
        names=("Hips", "Spine", "Head", "Prop"),
        parents=(-1, 0, 1, -1),
    ),
    "repeated names": case(
        ("JOINT Head", "JOINT Spine"),
        first={"Spine": (0, 10, 0), "Spine_2": (0, 14, 0)},
        last={"Spine": (-9, 2, 3), "Spine_2": (-9, 2, 7)},
        names=("Hips", "Spine", "Spine_2"),
    ),
    "comments": case(
        ("HIERARCHY", "# by hand\nHIERARCHY\n  # a rig"), (ROWS, "# rows\n" + ROWS.replace("\n", " # end\n"))
    ),
    "-1.#IND00": case(
        (ROWS, ROWS + "1 2 3 90 0 0 -1.#IND00 90 0 0 0 0\n1 2 3 90 0 0 0 90 0 0 0 0\n"),
        ("Frames: 2", "Frames: 4"),
        frames=4,
        warns=r"1 frames hold values that are not finite numbers.*: frames 2, channels Spine Zrotation$",
        nan=[(2, "Head")],
    ),
    "decimal comma in Frame Time": case(("0.025", "0,025")),
    "Latin-1 name": case(
        ("JOINT Spine", "JOINT Rücken"),
        encoding="latin-1",
        first={"Rücken": (0, 10, 0)},
        last={"Rücken": (-9, 2, 3)},
        names=("Hips", "Rücken", "Head"),
    ),
    "root without positions": case(
        (HIPS_CHANNELS, "CHANNELS 3 Zrotation Xrotation Yrotation"),
        ("OFFSET 0 0 0", "OFFSET 1 2 3"),
        (ROWS, "0 0 0 0 0 0 0 0 0\n90 0 0 0 90 0 0 0 0\n"),
        first={"Hips": (1, 2, 3), "Spine": (1, 12, 3), "Head": (1, 16, 3)},
    ),
    "no Frame Time": case(("Frame Time: 0.025\n", ""), framerate=50, rate=50.0),
    "zero frames": case((ROWS, ""), ("Frames: 2", "Frames: 0"), frames=0),
    "no MOTION": case((MOTION, ""), frames=0, rate=30.0),
    "surplus value": case(
        ("0 0 0 0\n1 2 3", "0 0 0 0 7\n1 2 3"), error="24: expected 12 channel values, got 13"
    ),
    "missing value": case(
        (ROWS, ROWS.replace("0 0\n1", "0\n1")),
        error="24: expected 12 channel values, got 11, and the next line, with 12, would belong to two frames",
    ),
}  # fmt: skip


def test_all_files_of_the_survey_are_here():
    assert len(QUIRKS) == 43


@pytest.mark.parametrize("name", QUIRKS)
def test_quirk(tmp_path, name):
    quirk = QUIRKS[name]
    text = BASE
    for old, new in quirk["edits"]:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "clip.bvh"
    path.write_bytes(text.encode(quirk.get("encoding", "utf-8")))
    options = {"framerate": quirk["framerate"]} if "framerate" in quirk else {}
    if "error" in quirk:
        with pytest.raises(FormatError) as caught:
            Motion.LoadFromBVH(path, **options)
        assert str(caught.value) == f"{path}:{quirk['error']}"
        return
    expected = (
        pytest.warns(FormatWarning, match=quirk["warns"]) if "warns" in quirk else contextlib.nullcontext()
    )
    with expected:
        motion = Motion.LoadFromBVH(path, **options)
    assert motion.skeleton.names == quirk["names"]
    assert motion.skeleton.parents.tolist() == list(quirk.get("parents", (-1, 0, 1)))
    assert motion.frame_count == quirk["frames"]
    assert motion.framerate == quirk["rate"]
    if not motion.frame_count:
        np.testing.assert_array_equal(motion.skeleton.offsets, [(0, 0, 0), (0, 10, 0), (0, 4, 0)])
        return
    for frame, positions in ((0, quirk["first"]), (-1, quirk["last"])):
        for joint, position in positions.items():
            found = motion.positions[frame, motion.skeleton.index(joint)]
            np.testing.assert_allclose(found, position, atol=5e-6, err_msg=f"{joint} in frame {frame}")
    nan = np.isnan(motion.positions).any(axis=2)
    assert [(f, motion.skeleton.names[j]) for f, j in np.argwhere(nan)] == quirk.get("nan", [])


@pytest.mark.parametrize("name", ["Frame Time 0", "no Frame Time"])
def test_without_a_rate_the_error_says_what_to_pass(tmp_path, name):
    text = BASE
    for old, new in QUIRKS[name]["edits"]:
        text = text.replace(old, new)
    path = tmp_path / "clip.bvh"
    path.write_text(text)
    with pytest.raises(FormatError, match="Frame Time.*; pass framerate= to set the rate$"):
        Motion.LoadFromBVH(path)
