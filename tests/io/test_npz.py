"""NPZ motion files: our own, the original's, and everything that is neither."""

import io
import pickle
import time
import zipfile

import numpy as np
import pytest

from ai4animation import Motion
from ai4animation.io.errors import FormatError, FormatWarning
from ai4animation.io.npz import read_npz, write_npz


def fields(motion):
    names, parents = list(motion.skeleton.names), motion.skeleton.parents
    return {
        "name": np.array("walk"),
        "framerate": np.array(59.99988),
        "positions": motion.positions.copy(),
        "quaternions": motion.rotations.copy(),
        "bone_names": np.array(names),
        "parent_names": np.array(["" if p < 0 else names[p] for p in parents]),
        "parent_indices": parents.astype(np.int64),
    }


@pytest.fixture
def save(tmp_path, motion):
    """Write a file with some fields changed (None drops one) and return its path."""

    def write(**changes):
        path = tmp_path / "clip.npz"
        np.savez(path, **{k: v for k, v in {**fields(motion), **changes}.items() if v is not None})
        return path

    return write


@pytest.mark.parametrize("translated", [(0,), (0, 2, 5)])
def test_round_trip(tmp_path, make_motion, translated):
    motion = make_motion(framerate=59.99988, name="walk", translated=translated)
    path = tmp_path / "x.npz"
    motion.SaveToNPZ(path)
    copy = Motion.LoadFromNPZ(path)
    assert (copy.name, copy.framerate) == ("walk", 59.99988)
    assert copy.skeleton.same_tree(motion.skeleton)
    np.testing.assert_allclose(copy.positions, motion.positions, atol=1e-5)
    np.testing.assert_allclose(copy.rotations, motion.rotations, atol=1e-5)
    assert copy.translated.tolist() == list(translated)
    still = [j for j in range(7) if j not in translated]
    np.testing.assert_allclose(copy.skeleton.offsets[still], motion.skeleton.offsets[still], atol=1e-5)


def test_files_written_open_in_plain_numpy_without_pickle(tmp_path, motion):
    path = tmp_path / "x.npz"
    write_npz(path, motion)
    with np.load(path, allow_pickle=False) as data:
        loaded = {key: data[key] for key in data.files}
    assert set(loaded) == set(fields(motion))
    assert loaded["positions"].shape == (40, 7, 3)
    assert loaded["quaternions"].dtype == loaded["positions"].dtype == np.float32
    assert loaded["parent_names"].tolist() == ["", "Hips", "Spine", "Hips", "LeftLeg", "Hips", "RightLeg"]
    assert loaded["parent_indices"].tolist() == [-1, 0, 1, 0, 3, 0, 5]
    assert float(loaded["framerate"]) == motion.framerate


def test_the_originals_object_array_is_read_without_numpys_pickle(save, motion):
    names = motion.skeleton.names
    objects = np.array([None if p < 0 else names[p] for p in motion.skeleton.parents], dtype=object)
    copy = read_npz(save(parent_names=objects, parent_indices=None))
    assert copy.skeleton.same_tree(motion.skeleton)
    np.testing.assert_allclose(copy.positions, motion.positions, atol=1e-5)


def test_one_character_of_a_recording_of_several(save, motion):
    crowd = {
        key: np.stack([array, array[::-1]], axis=1)
        for key, array in fields(motion).items()
        if array.ndim == 3
    }
    path = save(**crowd)
    np.testing.assert_allclose(
        Motion.LoadFromNPZ(path, character=1).positions, motion.positions[::-1], atol=1e-5
    )
    with pytest.raises(FormatError, match="is a recording of 2 characters: pass character=, 0 to 1"):
        read_npz(path)
    with pytest.raises(FormatError, match=r"character must lie in 0\.\.1, got 2"):
        read_npz(path, character=2)
    with pytest.raises(FormatError, match="holds one character, but character=0 was asked for"):
        read_npz(save(), character=0)


@pytest.mark.parametrize("missing", ["parent_names", "parent_indices", "name"])
def test_a_field_that_others_replace_may_be_missing(save, motion, missing):
    copy = read_npz(save(**{missing: None}))
    assert copy.skeleton.same_tree(motion.skeleton)
    assert copy.name == ("clip" if missing == "name" else "walk")


def test_joints_in_any_order_come_out_parents_first(save, motion):
    order = [6, 5, 4, 3, 2, 1, 0]
    place = np.argsort(order)
    parents = motion.skeleton.parents[order]
    path = save(
        positions=motion.positions[:, order],
        quaternions=motion.rotations[:, order],
        bone_names=np.array(motion.skeleton.names)[order],
        parent_names=None,
        parent_indices=np.where(parents < 0, -1, place[parents]),
    )
    copy = read_npz(path)
    assert (copy.skeleton.parents < np.arange(7)).all()
    for name in motion.skeleton.names:
        np.testing.assert_allclose(
            copy.positions[:, copy.skeleton.index(name)],
            motion.positions[:, motion.skeleton.index(name)],
            atol=1e-5,
        )


def test_other_number_types_and_orders_load(save, motion):
    path = save(
        positions=np.asfortranarray(motion.positions, dtype=np.float64), framerate=np.array([30], np.int32)
    )
    copy = read_npz(path)
    assert copy.framerate == 30.0
    np.testing.assert_allclose(copy.positions, motion.positions, atol=1e-5)


def test_repeated_names_need_indices_and_get_suffixes(save, motion):
    names = np.array(["Hips", "Spine", "Spine", "Leg", "Foot", "Leg", "Foot"])
    copy = read_npz(save(bone_names=names, parent_names=None))
    assert copy.skeleton.names == ("Hips", "Spine", "Spine_2", "Leg", "Foot", "Leg_2", "Foot_2")
    with pytest.raises(FormatError, match="'Spine' stands twice"):
        read_npz(save(bone_names=names, parent_indices=None))


def test_frames_with_nan_load_with_a_warning(save, motion):
    positions = motion.positions.copy()
    positions[[3, 17], 2] = np.nan
    with pytest.warns(FormatWarning, match=r"clip.npz: 2 frames hold NaN or infinity: 3, 17"):
        copy = read_npz(save(positions=positions))
    good = np.setdiff1d(np.arange(40), [3, 17])
    np.testing.assert_allclose(copy.positions[good], motion.positions[good], atol=1e-5)
    assert np.isnan(copy.positions[3, 2]).any()


def test_names_win_over_contradicting_indices_with_a_warning(save, motion):
    wrong = np.array([-1, 0, 0, 0, 0, 0, 0])
    with pytest.warns(FormatWarning, match="parent_indices disagree with parent_names; the names are used"):
        copy = read_npz(save(parent_indices=wrong))
    assert copy.skeleton.same_tree(motion.skeleton)


@pytest.mark.parametrize("code", [0xD800, 0x110000, 0xFFFFFFFF])
def test_strings_that_are_no_unicode_are_refused(save, code):
    names = np.array(["Hips"] * 7)
    with pytest.raises(FormatError, match=f"strings must be Unicode, got the code {code:#x}"):
        names.view(np.uint32)[3] = code
        read_npz(save(bone_names=names))


class Evil:
    def __reduce__(self):
        return print, ("executed",)


@pytest.mark.parametrize(
    ("changes", "place", "message"),
    [
        ({"positions": None}, "positions", r"field is missing; the file holds name, framerate"),
        ({"quaternions": None, "quaternion": np.zeros(3)}, "quaternions", "did you mean 'quaternion'"),
        ({"parent_names": None, "parent_indices": None}, "parent_names", "one is needed"),
        ({"positions": np.zeros((40, 7, 4))}, "positions", r"must have shape \(F, 7, 3\), got \(40, 7, 4\)"),
        ({"positions": np.zeros((39, 7, 3))}, "quaternions", "must have 39 frames, got 40"),
        ({"quaternions": np.zeros((40, 28))}, "quaternions", r"must have shape \(F, 7, 4\), got \(40, 28\)"),
        ({"quaternions": np.zeros((40, 7, 4))}, None, "got zero at frame 0, joint 'Hips'"),
        ({"positions": np.full((40, 7, 3), "a")}, "positions", "must be numbers, got <U1"),
        (
            {"framerate": np.array(0.0)},
            "framerate",
            "must be a positive number of frames per second, got 0.0",
        ),
        ({"framerate": np.array(np.nan)}, "framerate", "got nan"),
        ({"framerate": np.array("30")}, "framerate", "must be one number, got <U2"),
        ({"framerate": np.array([30, 30])}, "framerate", r"must be one number, got int64 of shape \(2,\)"),
        ({"bone_names": np.arange(7)}, "bone_names", "must be a one-dimensional array of strings, got int64"),
        ({"bone_names": np.array([], "U1")}, "bone_names", "must name at least one joint, got none"),
        ({"parent_names": np.array(["Hips"] * 6)}, "parent_names", "must have 7 entries, got 6"),
        (
            {"parent_names": np.array(["", *["Hip"] * 6])},
            "parent_names",
            "no joint named 'Hip'; did you mean 'Hips'",
        ),
        (
            {"parent_names": np.array(["Spine", *["Hips"] * 6])},
            "parent_indices",
            "got a cycle through 'Hips'",
        ),
        (
            {"parent_names": None, "parent_indices": np.full(7, 9)},
            "parent_indices",
            r"parents must lie in -1..6",
        ),
        (
            {"parent_names": None, "parent_indices": np.zeros(7)},
            "parent_indices",
            "must be 7 integers, got float64",
        ),
        (
            {"parent_names": np.array([Evil()] * 7, object)},
            "parent_names",
            "only strings and None, got a reference to",
        ),
        ({"parent_names": np.array([1] * 7, object)}, "parent_names", "only strings and None, got int"),
        (
            {"positions": np.array([[[None] * 3] * 7] * 40, object)},
            "positions",
            "one-dimensional array of strings and None",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::ai4animation.io.errors.FormatWarning")
def test_broken_files_say_what_is_wrong_and_where(save, capsys, changes, place, message):
    path = save(**changes)
    with pytest.raises(FormatError, match=message) as caught:
        read_npz(path)
    assert caught.value.path == str(path)
    assert caught.value.place == place
    assert "executed" not in capsys.readouterr().out


def test_not_an_npz_file(tmp_path):
    path = tmp_path / "x.npz"
    path.write_bytes(b"HIERARCHY")
    with pytest.raises(FormatError, match="must be an .npz file"):
        read_npz(path)
    path.write_bytes(b"")
    with pytest.raises(FormatError, match="must be an .npz file"):
        read_npz(path)
    with pytest.raises(FileNotFoundError):
        read_npz(tmp_path / "none.npz")


def test_headers_that_promise_too_much_are_refused_before_memory_is_taken(tmp_path, save):
    path = save()
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (10**12, 7, 3)}
    )
    members["positions.npy"] = header.getvalue() + b"1234"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(FormatError, match="needs 84000000000000 bytes, got 4"):
        read_npz(path)


def test_pickles_that_call_anything_are_refused(tmp_path, save, capsys):
    path = save()
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|O", "fortran_order": False, "shape": (7,)})
    for payload in (Evil(), [Evil()] * 7, {"a": Evil()}):
        members["parent_names.npy"] = header.getvalue() + pickle.dumps(payload)
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        with pytest.raises(FormatError, match="reference to builtins.print"):
            read_npz(path)
    assert capsys.readouterr().out == ""


def test_an_interrupted_write_leaves_the_old_file(tmp_path, motion, monkeypatch):
    path = tmp_path / "x.npz"
    write_npz(path, motion)
    before = path.read_bytes()

    def broken(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", broken)
    with pytest.raises(OSError, match="No space left"):
        write_npz(path, motion)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.npz"]


def test_format_errors_survive_a_process_boundary():
    error = pickle.loads(pickle.dumps(FormatError("a.npz", "name", "is bad")))
    assert (str(error), error.path, error.place, error.reason) == (
        "a.npz:name: is bad",
        "a.npz",
        "name",
        "is bad",
    )


def rewritten(path, **members):
    """Replace members of a zip by raw bytes."""
    with zipfile.ZipFile(path) as archive:
        old = {info.filename: archive.read(info) for info in archive.infolist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**old, **{f"{key}.npy": value for key, value in members.items()}}.items():
            archive.writestr(name, data)
    return path


def header(shape, kind="<f4"):
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": kind, "fortran_order": False, "shape": shape})
    return out.getvalue()


def test_small_files_that_unpack_to_much_are_refused_at_once(save):
    path = rewritten(save(), positions=header((1, 2, 3)) + bytes(200_000_000))
    begin = time.perf_counter()
    with pytest.raises(FormatError, match="needs 24 bytes, got 200000000"):
        read_npz(path)
    assert time.perf_counter() - begin < 0.5


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"\x80\x02Nr\x00\xe1\xf5\x05.", "must number its items in order, got 100000000"),
        (pickle.dumps(np.array(["x" * 2000] * 7, object)), "must be shorter than 1000 characters, got 2000"),
    ],
)
def test_pickles_that_ask_for_much_memory_are_refused(save, payload, message):
    path = rewritten(save(), parent_names=header((7,), "|O") + payload)
    with pytest.raises(FormatError, match=message):
        read_npz(path)


def test_a_damaged_directory_of_the_zip_is_a_format_error(save):
    path = save()
    data = bytearray(path.read_bytes())
    place = data.rfind(b"PK\x01\x02")
    for offset in range(4, 46):
        broken = data.copy()
        broken[place + offset] ^= 0xFF
        path.write_bytes(broken)
        try:
            read_npz(path)
        except FormatError as error:
            assert str(path) in str(error)


def test_quaternions_of_any_length_are_normalised(motion):
    for factor in (1e-200, 1e200):
        copy = Motion.from_local(
            motion.skeleton, motion.local_positions, motion.local_rotations.astype(float) * factor, 30.0
        )
        np.testing.assert_allclose(copy.local_rotations, motion.local_rotations, atol=1e-6)
