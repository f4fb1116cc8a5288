import numpy as np
import pytest

from ai4animation.engine.table import Table, aligned_empty, padded_capacity


def make(capacity=8):
    table = Table(capacity)
    table.add_column("position", (4, 3), fill=0.5, unit="m")
    table.add_column("rotation", (4,), fill=(0, 0, 0, 1))
    table.add_column("clip", dtype=np.int32, fill=-1)
    return table


def test_columns_are_aligned_contiguous_and_rows_innermost():
    table = make(100)
    for column, shape in zip(table.columns, [(4, 3), (4,), ()], strict=True):
        assert column.data.shape == (*shape, table.capacity)
        assert column.data.flags.c_contiguous
        assert column.data.ctypes.data % 64 == 0
        assert column.data.strides[-1] == 4


def test_new_rows_have_the_fill_value():
    table = make()
    table.spawn(5)
    assert (table["position"].view() == 0.5).all()
    np.testing.assert_array_equal(table["rotation"].view(), np.tile(np.float32([0, 0, 0, 1]), (5, 1)))
    assert (table["clip"].view() == -1).all()


def test_view_torch_and_kernel_argument_share_one_pointer():
    torch = pytest.importorskip("torch")
    table = make(64)
    table.spawn(64)
    column = table["position"]
    view, tensor = column.view(), torch.from_numpy(column.view())
    assert view.shape == (64, 4, 3)
    assert view.ctypes.data == column.data.ctypes.data == tensor.data_ptr()
    column.data[2, 1, 7] = 42
    assert view[7, 2, 1] == tensor[7, 2, 1] == 42
    tensor[3, 0, 0] = -1
    assert column.data[0, 0, 3] == -1


def test_handles_follow_their_rows_through_swap_remove():
    table = make(16)
    handles = table.spawn(10)
    table["clip"].view()[:] = np.arange(10)
    table["position"].view()[:] = np.arange(10)[:, None, None]
    table.despawn(handles[[0, 4, 9]])
    assert table.count == 7
    kept = handles[[1, 2, 3, 5, 6, 7, 8]]
    rows = table.rows(kept)
    np.testing.assert_array_equal(table["clip"].view()[rows], [1, 2, 3, 5, 6, 7, 8])
    np.testing.assert_array_equal(table["position"].view()[rows, 3, 2], [1, 2, 3, 5, 6, 7, 8])
    assert not table.alive(handles[[0, 4, 9]]).any()
    np.testing.assert_array_equal(np.sort(table.handles()), np.sort(kept))


def test_a_reused_slot_gets_another_handle():
    table = make(16)
    first = table.spawn(3)
    table.despawn(first[1])
    second = table.spawn(1)
    assert not table.alive(first[1])[0]
    assert table.alive(second)[0]
    assert second[0] not in first


def test_random_spawns_and_despawns_keep_every_row_with_its_handle():
    rng = np.random.default_rng(0)
    table, truth, mark = make(4), {}, 0
    for _ in range(300):
        if truth and rng.random() < 0.5:
            gone = rng.choice(list(truth), size=rng.integers(1, len(truth) + 1), replace=False)
            moved_to = table.despawn(gone)
            assert (moved_to >= 0).sum() == table.count
            for handle in gone:
                del truth[int(handle)]
        else:
            count = int(rng.integers(0, 40))
            for row, handle in enumerate(table.spawn(count), start=table.count - count):
                table["clip"].data[row] = mark
                truth[int(handle)] = mark
                mark += 1
        assert table.count == len(truth)
        rows = table.rows(list(truth)) if truth else np.zeros(0, int)
        np.testing.assert_array_equal(table["clip"].view()[rows], list(truth.values()))
        assert sorted(rows) == list(range(table.count))


def test_growth_keeps_values_and_bumps_the_generation():
    table = make(16)
    column, handles = table["clip"], table.spawn(16)
    column.view()[:] = np.arange(16)
    assert table.generation == 0
    table.spawn(1)
    assert table.generation == 1
    assert table.capacity == 32
    np.testing.assert_array_equal(column.view()[:16], np.arange(16))
    np.testing.assert_array_equal(table.rows(handles), np.arange(16))
    table.reserve(1000)
    assert table.generation == 2
    table.reserve(10)
    table.spawn(900)
    assert table.generation == 2


def test_removing_everything_and_nothing():
    table = make(16)
    handles = table.spawn(7)
    table.despawn([])
    assert table.count == 7
    table.despawn(handles)
    assert table.count == 0
    table.spawn(3)
    assert table.count == 3


@pytest.mark.parametrize(
    ("asked", "got"),
    [(0, 16), (1, 16), (16, 16), (17, 32), (1024, 1040), (10_240, 10_256), (100_000, 100_000)],
)
def test_capacity_is_padded_off_the_page_size(asked, got):
    assert padded_capacity(asked) == got


def test_reserved_memory_costs_nothing_until_it_is_touched():
    resident = _resident()
    if resident is None:
        pytest.skip("/proc/self/statm is not there")
    array = aligned_empty((24, 4, 4_000_000), np.float32)
    assert array.nbytes > 1.5e9
    assert _resident() - resident < 50e6


def _resident():
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096
    except OSError:
        return None


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (
            lambda t: t.add_column("clip"),
            ValueError,
            "column names must be unique in a table, got 'clip' twice",
        ),
        (
            lambda t: t.add_column("x", dtype=np.float64),
            ValueError,
            "column 'x' must be float32 or int32, got float64",
        ),
        (lambda t: t["positon"], KeyError, "no column named 'positon'; did you mean 'position'"),
        (lambda t: t.spawn(-1), ValueError, "count must be >= 0, got -1"),
        (
            lambda t: t.despawn([12345]),
            KeyError,
            "handles must name living rows, got 1 dead or foreign, first 12345",
        ),
        (
            lambda t: t.despawn(t.spawn(2)[[0, 0]]),
            KeyError,
            "handles must differ from each other, got one twice",
        ),
        (lambda t: Table(-1), ValueError, "capacity must lie in 0..2147483615, got -1"),
        (lambda t: Table(2**31), ValueError, "capacity must lie in 0.."),
    ],
)
def test_refusals(action, error, message):
    table = make()
    with pytest.raises(error, match=message):
        action(table)


def test_a_refused_despawn_removes_nothing():
    table = make()
    handles = table.spawn(3)
    with pytest.raises(KeyError):
        table.despawn([handles[0], 999])
    assert table.alive(handles).all()


@pytest.mark.parametrize(
    ("handles", "error"),
    [(0.7, TypeError), ([0.0, 1.0], TypeError), ([[0], [1]], ValueError), ([[0, 1]], ValueError)],
)
def test_handles_of_another_kind_are_refused_and_nothing_changes(handles, error):
    table = make()
    kept = table.spawn(4)
    with pytest.raises(error, match="handles must be"):
        table.despawn(handles)
    assert table.count == 4
    np.testing.assert_array_equal(table.handles(), kept)


def test_growth_without_memory_changes_nothing(monkeypatch):
    from ai4animation.engine import table as module

    table = make(16)
    handles = table.spawn(16)
    calls = []

    def scarce(shape, dtype):
        calls.append(shape)
        if len(calls) == 2:
            raise MemoryError
        return aligned_empty(shape, dtype)

    monkeypatch.setattr(module, "aligned_empty", scarce)
    with pytest.raises(MemoryError):
        table.spawn(1)
    monkeypatch.undo()
    assert (table.capacity, table.count, table.generation) == (16, 16, 0)
    table.spawn(100)
    np.testing.assert_array_equal(table.rows(handles), np.arange(16))
