import time

import numpy as np
import pytest

from ai4animation import Skeleton
from ai4animation.io.skeleton import did_you_mean, unique_names


def test_order_that_has_parents_first_is_kept():
    names, parents = ["a", "b", "c", "d"], [-1, 0, 0, 1]
    skeleton, order = Skeleton.sorted(names, parents)
    assert skeleton.names == ("a", "b", "c", "d")
    assert order.tolist() == [0, 1, 2, 3]


def test_any_other_order_is_sorted_depth_first_and_stable():
    # b is the root; its children in the order given are e, a; a has d, c.
    names = ["a", "b", "c", "d", "e"]
    parents = [1, -1, 0, 0, 1]
    offsets = np.arange(15).reshape(5, 3)
    skeleton, order = Skeleton.sorted(names, parents, offsets)
    assert skeleton.names == ("b", "a", "c", "d", "e")
    assert skeleton.parents.tolist() == [-1, 0, 1, 1, 0]
    np.testing.assert_array_equal(skeleton.offsets, offsets[order])


def test_sorting_random_trees_keeps_every_parent():
    rng = np.random.default_rng(0)
    for _ in range(50):
        count = int(rng.integers(1, 40))
        tree = np.array([rng.integers(-1, i) if i else -1 for i in range(count)])
        shuffle = rng.permutation(count)
        parents = np.full(count, -1)
        for i in range(count):
            parents[shuffle[i]] = shuffle[tree[i]] if tree[i] >= 0 else -1
        names = [f"j{i}" for i in range(count)]
        skeleton, order = Skeleton.sorted(names, parents)
        assert sorted(order.tolist()) == list(range(count))
        for j, parent in enumerate(skeleton.parents):
            assert parent < j
            original = parents[order[j]]
            assert (parent == -1) == (original == -1)
            if parent >= 0:
                assert skeleton.names[parent] == names[original]


def test_lookup_and_tree():
    skeleton = Skeleton(["Hips", "LeftFoot", "RightFoot"], [-1, 0, 0])
    assert skeleton.index("RightFoot") == 2
    assert skeleton.indices(["RightFoot", "Hips"]).tolist() == [2, 0]
    assert skeleton.children(0) == (1, 2)
    assert skeleton.roots == (0,)
    assert skeleton.depths.tolist() == [0, 1, 1]
    assert skeleton.tree() == "Hips\n  LeftFoot\n  RightFoot"


def test_a_skeleton_keeps_its_arrays_to_itself():
    parents = np.array([-1, 0])
    skeleton = Skeleton(["a", "b"], parents)
    parents[1] = 5
    assert skeleton.parents.tolist() == [-1, 0]
    with pytest.raises(ValueError, match="read-only"):
        skeleton.parents[1] = 7


def test_equality():
    a = Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    b = Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 2, 0]])
    assert a.same_tree(b)
    assert a != b
    assert a == Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    assert not a.same_tree(Skeleton(["a", "c"], [-1, 0]))


@pytest.mark.parametrize(
    ("names", "parents", "error", "message"),
    [
        ([], [], ValueError, "a skeleton must have at least one joint, got none"),
        (["a", "b"], [-1], ValueError, r"parents must have shape \(2,\), one for each name, got \(1,\)"),
        (["a", "b"], [-1, 1], ValueError, r"parents must point backwards: parents\[1\] = 1"),
        (["a", "b"], [1, -1], ValueError, r"parents must point backwards: parents\[0\] = 1"),
        (["a", "b"], [-1, 2], ValueError, r"parents must lie in -1..1, got parents\[1\] = 2"),
        (["a", "b"], [-1, -2], ValueError, r"parents must lie in -1..1, got parents\[1\] = -2"),
        (["a", "b"], [-1.0, 0.0], TypeError, "parents must be integers, got float64"),
        (
            ["", "a"],
            [-1, 0],
            ValueError,
            "joint names must be text of at least one character, without NUL, got ''",
        ),
        (["a", "b\0"], [-1, 0], ValueError, "without NUL"),
        (["a", "b\ud800"], [-1, 0], ValueError, "joint names must be text"),
        (["a", "a"], [-1, 0], ValueError, "joint names must be unique, got 'a' twice"),
    ],
)
def test_refusals(names, parents, error, message):
    with pytest.raises(error, match=message):
        Skeleton(names, parents)


def test_refusal_of_offsets_cycles_and_strings():
    with pytest.raises(ValueError, match=r"offsets must have shape \(1, 3\), got \(3,\)"):
        Skeleton(["a"], [-1], [0, 1, 2])
    with pytest.raises(ValueError, match="parents must form a tree, got a cycle through 'b'"):
        Skeleton.sorted(["a", "b", "c"], [-1, 2, 1])
    with pytest.raises(TypeError, match="got the string 'Hips'; use index"):
        Skeleton(["Hips"], [-1]).indices("Hips")


def test_unknown_joint_lists_near_names():
    skeleton = Skeleton(["Hips", "LeftFoot", "RightFoot"], [-1, 0, 0])
    with pytest.raises(KeyError, match=r"no joint named 'LeftFot'; did you mean 'LeftFoot'.*\(3 joints\)"):
        skeleton.index("LeftFot")
    with pytest.raises(KeyError, match=r"no joint named 'leftfoot'; did you mean 'LeftFoot'"):
        skeleton.index("leftfoot")
    assert did_you_mean("qqq", skeleton.names) == ""


def test_unique_names_never_collide():
    assert unique_names(["a", "a", "b", "a_2", "a"]) == ["a", "a_3", "b", "a_2", "a_4"]
    assert unique_names(["x", "y"]) == ["x", "y"]


def test_many_equal_names_take_no_time():
    begin = time.perf_counter()
    names = unique_names(["a"] * 20_000)
    assert time.perf_counter() - begin < 2
    assert len(set(names)) == 20_000
    assert names[-1] == "a_20000"
