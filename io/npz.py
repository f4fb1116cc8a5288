"""NPZ motion files: the original framework's fields, read safely, written without pickle.

Fields: ``name`` str, ``framerate`` float, ``positions (F, J, 3)`` [m] and ``quaternions (F, J, 4)`` x y z w in
world space, ``bone_names (J,)`` str, ``parent_names (J,)`` str with "" for a root, ``parent_indices (J,)`` int
with -1 for a root. The original stores ``parent_names`` as a pickled object array with None for a root; here a
reader that can build nothing but lists, strings and None takes it apart.
"""

from __future__ import annotations

import ast
import io
import os
import pickle
import pickletools
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .atomic import atomic_write
from .errors import FormatError, FormatWarning
from .motion import Motion
from .skeleton import Skeleton, did_you_mean, repeated_name, unique_names

_MOST_PICKLE = 1 << 24
_LONGEST_NAME = 1000
_REQUIRED = ("framerate", "positions", "quaternions", "bone_names")


def read_npz(path: str | os.PathLike[str], *, character: int | None = None) -> Motion:
    """Read a motion file of this project or of the original framework.

    Joints may stand in any order; they come out parents first. ``name`` falls back to the file's stem, and one
    of ``parent_names`` and ``parent_indices`` suffices. Frames with NaN load, with a ``FormatWarning``.

    Args:
        path: The file.
        character: Which one, in a recording of several (``positions (F, N, J, 3)``, see ``engine.recorder``).

    Raises:
        FileNotFoundError: No such file.
        FormatError: Not a zip of arrays, a field is missing or has the wrong shape or type, an object array
            holds anything but strings and None.
    """
    path = Path(path)
    fields = _read_fields(path)
    names = [str(name) for name in _strings(path, "bone_names", fields["bone_names"])]
    if not names:
        raise FormatError(path, "bone_names", "must name at least one joint, got none")
    parents = _parents(path, names, fields)
    try:
        skeleton, order = Skeleton.sorted(unique_names(names), parents)
    except (ValueError, TypeError) as error:
        raise FormatError(path, "parent_indices", str(error)) from error
    positions, quaternions = (
        _floats(path, key, _one_character(path, key, fields[key], character), len(names), channels)
        for key, channels in (("positions", 3), ("quaternions", 4))
    )
    framerate = _framerate(path, fields["framerate"])
    if len(positions) != len(quaternions):
        raise FormatError(path, "quaternions", f"must have {len(positions)} frames, got {len(quaternions)}")
    _report_nan(path, positions, quaternions)
    name = str(fields["name"].item()) if "name" in fields and fields["name"].ndim == 0 else path.stem
    try:
        return Motion.from_world(skeleton, positions[:, order], quaternions[:, order], framerate, name)
    except ValueError as error:
        raise FormatError(path, None, str(error)) from error


def write_npz(path: str | os.PathLike[str], motion: Motion) -> None:
    """Write a motion with the original's fields; plain NumPy opens it without pickle.

    Raises:
        FileNotFoundError: The folder does not exist.
    """
    names, parents = motion.skeleton.names, motion.skeleton.parents
    with atomic_write(path) as file:
        np.savez_compressed(
            file,
            name=np.array(str(motion.name or "")),
            framerate=np.array(motion.framerate, np.float64),
            positions=motion.positions,
            quaternions=motion.rotations,
            bone_names=np.array(names),
            parent_names=np.array(["" if p < 0 else names[p] for p in parents]),
            parent_indices=parents.astype(np.int64),
        )


def _read_fields(path: Path) -> dict[str, NDArray[Any]]:
    try:
        archive = zipfile.ZipFile(path)
    except OSError:
        raise
    # A damaged central directory raises half a dozen types.
    except Exception as error:
        raise FormatError(
            path, None, f"must be an .npz file (a zip of arrays), got something else: {error}"
        ) from error
    with archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        for key in _REQUIRED:
            if key not in members:
                near = did_you_mean(key, members)
                raise FormatError(
                    path, key, f"field is missing{near}; the file holds {', '.join(members) or 'nothing'}"
                )
        wanted = (*_REQUIRED, "name", "parent_names", "parent_indices")
        return {key: _read_array(path, archive, key, members[key]) for key in wanted if key in members}


def _read_array(path: Path, archive: zipfile.ZipFile, key: str, info: zipfile.ZipInfo) -> NDArray[Any]:
    try:
        with archive.open(info) as stream:
            shape, fortran, dtype = _read_header(stream)
            # Before anything is unpacked: a small file can promise gigabytes.
            size = info.file_size - stream.tell()
            if dtype.hasobject:
                if size > _MOST_PICKLE:
                    raise ValueError(f"an object array must be smaller than {_MOST_PICKLE} bytes, got {size}")
                return _read_objects(stream.read(), shape)
            count = int(np.prod(shape, dtype=object))
            if count * dtype.itemsize != size:
                raise ValueError(f"shape {shape} of {dtype} needs {count * dtype.itemsize} bytes, got {size}")
            data = stream.read()
        if dtype.kind == "U":
            _check_characters(np.frombuffer(data, np.dtype("u4").newbyteorder(dtype.byteorder)))
        return np.frombuffer(data, dtype, count).reshape(shape, order="F" if fortran else "C")
    except FormatError:
        raise
    # zipfile, zlib, ast and pickle meet arbitrary bytes here and raise a dozen unrelated types.
    except Exception as error:
        raise FormatError(path, key, f"cannot be read: {str(error) or type(error).__name__}") from error


def _check_characters(codes: NDArray[np.uint32]) -> None:
    """Refuse what is no Unicode character: Python fails on such strings anywhere, not only here."""
    bad = (codes > 0x10FFFF) | ((codes >= 0xD800) & (codes <= 0xDFFF))
    if bad.any():
        raise ValueError(f"strings must be Unicode, got the code {int(codes[np.argmax(bad)]):#x}")


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the header of a .npy member (NumPy enhancement proposal 1)."""
    if stream.read(6) != b"\x93NUMPY":
        raise ValueError("the array does not begin with the .npy mark")
    major = stream.read(2)[0]
    width = 2 if major == 1 else 4
    length = int.from_bytes(stream.read(width), "little")
    if not 0 < length <= 10_000:
        raise ValueError(f"the .npy header must be 1..10000 bytes long, got {length}")
    header = ast.literal_eval(stream.read(length).decode("latin-1" if major < 3 else "utf-8").strip())
    shape, fortran, dtype = header["shape"], header["fortran_order"], np.dtype(header["descr"])
    if not (isinstance(shape, tuple) and all(isinstance(n, int) and n >= 0 for n in shape)):
        raise ValueError(f"the shape must be a tuple of counts, got {shape!r}")
    return shape, bool(fortran), dtype


class _Opaque:
    """Stands in for NumPy's array and dtype while their pickled state is read; it runs nothing."""

    state: Any = None

    def __init__(self, *arguments: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _ObjectReader(pickle.Unpickler):
    """An unpickler that can make lists, tuples, numbers, strings, None and ``_Opaque``."""

    _ALLOWED = frozenset(
        (module, name)
        for module, names in {
            "numpy": ("ndarray", "dtype"),
            "numpy.core.multiarray": ("_reconstruct",),
            "numpy._core.multiarray": ("_reconstruct",),
        }.items()
        for name in names
    )

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in self._ALLOWED:
            return _Opaque
        raise ValueError(
            f"an object array may hold only strings and None, got a reference to {module}.{name}"
        )

    def persistent_load(self, pid: Any) -> Any:
        raise ValueError("an object array may hold only strings and None, got a persistent reference")


def _read_objects(data: bytes, shape: tuple[int, ...]) -> NDArray[Any]:
    for opcode, argument, _ in pickletools.genops(data):
        # The unpickler makes room for as many memo entries as a few bytes ask for.
        if "PUT" in opcode.name and isinstance(argument, int) and argument > len(data):
            raise ValueError(f"the pickle must number its items in order, got {argument}")
    array = _ObjectReader(io.BytesIO(data)).load()
    # NumPy's array state: (version, shape, dtype, is_fortran, list of items).
    items = array.state[4] if isinstance(array, _Opaque) and isinstance(array.state, tuple) else None
    if not isinstance(items, list) or len(shape) != 1 or len(items) != shape[0]:
        raise ValueError("must be a one-dimensional array of strings and None")
    for item in items:
        if not (item is None or isinstance(item, str)):
            raise ValueError(f"an object array may hold only strings and None, got {type(item).__name__}")
        if item is not None and len(item) > _LONGEST_NAME:
            raise ValueError(f"a joint name must be shorter than {_LONGEST_NAME} characters, got {len(item)}")
    return np.array(["" if item is None else item for item in items], dtype=str)


def _strings(path: Path, key: str, array: NDArray[Any]) -> Sequence[str]:
    if array.ndim != 1 or array.dtype.kind != "U":
        raise FormatError(
            path, key, f"must be a one-dimensional array of strings, got {array.dtype} {array.shape}"
        )
    return array.tolist()


def _one_character(path: Path, key: str, array: NDArray[Any], character: int | None) -> NDArray[Any]:
    """Return the frames of one character of a recording of several; a single motion as it is."""
    if array.ndim != 4 and character is None:
        return array
    if array.ndim != 4:
        raise FormatError(path, key, f"holds one character, but character={character} was asked for")
    if character is None:
        raise FormatError(
            path,
            key,
            f"is a recording of {array.shape[1]} characters: pass character=, 0 to {array.shape[1] - 1}",
        )
    if not 0 <= character < array.shape[1]:
        raise FormatError(path, key, f"character must lie in 0..{array.shape[1] - 1}, got {character}")
    return array[:, character]


def _floats(path: Path, key: str, array: NDArray[Any], joints: int, channels: int) -> NDArray[np.float32]:
    if array.ndim != 3 or array.shape[1:] != (joints, channels):
        raise FormatError(path, key, f"must have shape (F, {joints}, {channels}), got {array.shape}")
    if array.dtype.kind not in "fiu":
        raise FormatError(path, key, f"must be numbers, got {array.dtype}")
    return array.astype(np.float32)


def _framerate(path: Path, array: NDArray[Any]) -> float:
    if array.size != 1 or array.dtype.kind not in "fiu":
        raise FormatError(path, "framerate", f"must be one number, got {array.dtype} of shape {array.shape}")
    rate = float(array.reshape(()))
    if not (np.isfinite(rate) and rate > 0):
        raise FormatError(path, "framerate", f"must be a positive number of frames per second, got {rate}")
    return rate


def _parents(path: Path, names: list[str], fields: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
    """Take ``parent_names``, which the original reads, else ``parent_indices``."""
    indices = None
    if "parent_indices" in fields:
        array = fields["parent_indices"]
        if array.shape != (len(names),) or array.dtype.kind not in "iu":
            raise FormatError(
                path,
                "parent_indices",
                f"must be {len(names)} integers, got {array.dtype} of shape {array.shape}",
            )
        indices = array.astype(np.int64)
    if "parent_names" not in fields or (indices is not None and len(set(names)) != len(names)):
        if indices is None:
            raise FormatError(path, "parent_names", "field is missing, and parent_indices too: one is needed")
        return indices
    parent_names = _strings(path, "parent_names", fields["parent_names"])
    if len(parent_names) != len(names):
        raise FormatError(path, "parent_names", f"must have {len(names)} entries, got {len(parent_names)}")
    if len(set(names)) != len(names):
        repeated = repeated_name(names)
        raise FormatError(
            path, "bone_names", f"{repeated!r} stands twice, so parent_names cannot tell the parents"
        )
    place = {name: j for j, name in enumerate(names)}
    for parent in parent_names:
        if parent and parent not in place:
            raise FormatError(path, "parent_names", f"no joint named {parent!r}{did_you_mean(parent, names)}")
    result = np.array([place[p] if p else -1 for p in parent_names], np.int64)
    if indices is not None and not np.array_equal(np.maximum(indices, -1), result):
        warnings.warn(
            FormatWarning(f"{path}: parent_indices disagree with parent_names; the names are used"),
            stacklevel=4,
        )
    return result


def _report_nan(path: Path, positions: NDArray[np.float32], quaternions: NDArray[np.float32]) -> None:
    bad = ~(np.isfinite(positions).all(axis=(1, 2)) & np.isfinite(quaternions).all(axis=(1, 2)))
    if bad.any():
        frames = np.flatnonzero(bad)
        shown = ", ".join(map(str, frames[:5])) + (", ..." if len(frames) > 5 else "")
        warnings.warn(
            FormatWarning(f"{path}: {len(frames)} frames hold NaN or infinity: {shown}"), stacklevel=4
        )
