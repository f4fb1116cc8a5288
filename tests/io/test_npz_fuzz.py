"""Mutated .npz files: only FormatError, no crash, no hang, nothing executed."""

import io
import time
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shared_data import data_files

from ai4animation.io.errors import FormatError
from ai4animation.io.npz import read_npz

FUZZ = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """Members of a file of ours and of one with the original's object array."""
    rng = np.random.default_rng(0)
    quaternions = rng.normal(size=(6, 3, 4)).astype(np.float32)
    common = {
        "name": np.array("clip"),
        "framerate": np.array(30.0),
        "positions": rng.normal(size=(6, 3, 3)).astype(np.float32),
        "quaternions": quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True),
        "bone_names": np.array(["Hips", "Spine", "Head"]),
        "parent_indices": np.array([-1, 0, 1]),
    }
    folder = tmp_path_factory.mktemp("npz")
    for name, parents in (
        ("ours", np.array(["", "Hips", "Spine"])),
        ("original", np.array([None, "Hips", "Spine"], dtype=object)),
    ):
        np.savez_compressed(folder / f"{name}.npz", **common, parent_names=parents)
    real = min(data_files("npz/cmu/*.npz"), key=lambda path: path.stat().st_size, default=None)
    made = [(folder / f"{name}.npz").read_bytes() for name in ("ours", "original")]
    return made if real is None else [*made, real.read_bytes()]


def read(path, data):
    """Read bytes as a file; anything but a motion or a FormatError fails the test."""
    path.write_bytes(data)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read_npz(path)
        except FormatError as error:
            assert str(path) in str(error)
    assert time.perf_counter() - begin < 5


@FUZZ
@given(data=st.data())
def test_flipped_bytes_of_the_zip(seeds, tmp_path_factory, data):
    raw = bytearray(data.draw(st.sampled_from(seeds)))
    for _ in range(data.draw(st.integers(1, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, 3))
    if cut == 0:
        del raw[data.draw(st.integers(0, len(raw))) :]
    read(tmp_path_factory.getbasetemp() / "fuzz.npz", bytes(raw))


@FUZZ
@given(data=st.data())
def test_flipped_bytes_of_a_member(seeds, tmp_path_factory, data):
    """Checksums stop most damage to a zip; here the damaged member is zipped anew."""
    with zipfile.ZipFile(io.BytesIO(data.draw(st.sampled_from(seeds)))) as archive:
        members = {info.filename: bytearray(archive.read(info)) for info in archive.infolist()}
    name = data.draw(st.sampled_from(sorted(members)))
    raw = members[name]
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del raw[data.draw(st.integers(0, len(raw))) :]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for key, value in members.items():
            archive.writestr(key, bytes(value))
    read(tmp_path_factory.getbasetemp() / "fuzz.npz", out.getvalue())


@FUZZ
@given(payload=st.binary(max_size=300))
def test_any_pickle_in_the_object_array(seeds, tmp_path_factory, payload):
    with zipfile.ZipFile(io.BytesIO(seeds[1])) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|O", "fortran_order": False, "shape": (3,)})
    members["parent_names.npy"] = header.getvalue() + payload
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for key, value in members.items():
            archive.writestr(key, value)
    read(tmp_path_factory.getbasetemp() / "fuzz.npz", out.getvalue())
