import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ai4animation import World
from ai4animation.engine.scene import Scene

TURN = Rotation.from_euler("y", 90, degrees=True).as_quat()


def test_children_follow_their_parent():
    scene = Scene()
    ship = scene.add("ship", position=(1, 0, 0), rotation=TURN, scale=2)
    mast = scene.add("mast", ship, position=(0, 3, 1))
    flag = scene.add("flag", mast, position=(0, 1, 0), scale=(1, 2, 3))
    np.testing.assert_allclose(mast.world_position, [1 + 2, 6, 0], atol=1e-6)
    np.testing.assert_allclose(flag.world_position, [3, 8, 0], atol=1e-6)
    np.testing.assert_allclose(flag.world_scale, [2, 4, 6])
    np.testing.assert_allclose(flag.world_rotation, TURN, atol=1e-6)
    ship.position = (0, 0, 10)
    np.testing.assert_allclose(flag.world_position, [2, 8, 10], atol=1e-6)


def test_grandchildren_follow_after_their_parent_moved_house():
    scene = Scene()
    old, new = scene.add("old", position=(1, 0, 0)), scene.add("new", position=(0, 5, 0))
    child = scene.add("child", old, position=(0, 0, 1))
    grandchild = scene.add("grandchild", child, position=(0, 0, 1))
    child.set_parent(new, keep_world=False)
    np.testing.assert_allclose(grandchild.world_position, [0, 5, 2])
    old.position = (100, 0, 0)
    np.testing.assert_allclose(grandchild.world_position, [0, 5, 2])
    new.position = (0, 0, 0)
    np.testing.assert_allclose(grandchild.world_position, [0, 0, 2])
    assert old.children == ()
    assert new.children == (child,)
    assert child.parent == new


def test_a_child_may_be_older_than_its_parent():
    scene = Scene()
    child = scene.add("child", position=(0, 1, 0))
    parent = scene.add("parent")
    assert child.world_position.tolist() == [0, 1, 0]
    child.set_parent(parent)
    parent.position = (5, 0, 0)
    assert child.world_position.tolist() == [5, 1, 0]


def test_keep_world_keeps_the_place():
    rng = np.random.default_rng(0)
    scene = Scene()
    a = scene.add(position=rng.normal(size=3), rotation=rng.normal(size=4), scale=rng.uniform(0.5, 2, 3))
    b = scene.add(parent=a, position=rng.normal(size=3), rotation=rng.normal(size=4), scale=0.5)
    child = scene.add(position=rng.normal(size=3), rotation=rng.normal(size=4), scale=3)
    for parent in (b, a, None):
        before = child.world_position, child.world_rotation, child.world_scale
        child.set_parent(parent)
        np.testing.assert_allclose(child.world_position, before[0], atol=1e-5)
        np.testing.assert_allclose(np.abs(child.world_rotation @ before[1]), 1, atol=1e-5)
        np.testing.assert_allclose(child.world_scale, before[2], rtol=1e-5)


def test_removal_takes_the_subtree_and_no_more():
    scene = Scene()
    a, b = scene.add("a"), scene.add("b", position=(7, 0, 0))
    inside = [scene.add(f"a{i}", a) for i in range(5)]
    deep = scene.add("deep", inside[2])
    leaf = scene.add("leaf", b, position=(1, 0, 0))
    a.remove()
    assert not any(e.alive for e in (a, deep, *inside))
    assert len(scene) == 2
    np.testing.assert_allclose(leaf.world_position, [8, 0, 0])
    assert leaf.parent == b
    assert {e.name for e in scene} == {"b", "leaf"}
    with pytest.raises(KeyError, match="handles must name living rows"):
        deep.position = (0, 0, 0)
    assert repr(deep) == "Entity(removed)"


def test_random_trees_survive_removal_and_reparenting():
    rng = np.random.default_rng(1)
    scene, alive = Scene(4), {}

    def world(key):
        parent, position = alive[key]
        return position + (world(parent) if parent is not None else 0)

    for step in range(300):
        keys = list(alive)
        action = rng.random()
        if action < 0.5 or len(keys) < 3:
            parent = keys[rng.integers(len(keys))] if keys and rng.random() < 0.8 else None
            position = rng.normal(size=3)
            alive[scene.add(str(step), parent, position=position)] = (parent, position)
        elif action < 0.75:
            child, parent = (keys[i] for i in rng.choice(len(keys), 2, replace=False))
            try:
                child.set_parent(parent, keep_world=False)
            except ValueError:
                continue
            alive[child] = (parent, alive[child][1])
        else:
            keys[rng.integers(len(keys))].remove()
            alive = {e: v for e, v in alive.items() if e.alive}
        assert len(scene) == len(alive)
        for entity in alive:
            np.testing.assert_allclose(entity.world_position, world(entity), atol=1e-4)


def test_the_world_updates_its_scene_each_step():
    world = World()
    parent = world.scene.add("p")
    child = world.scene.add("c", parent, position=(0, 1, 0))
    world.step()
    row = world.scene.table.rows(child._handle)[0]
    world.scene.table["local_position"].data[:, world.scene.table.rows(parent._handle)[0]] = (3, 0, 0)
    world.step()
    np.testing.assert_allclose(world.scene.table["world_position"].data[:, row], [3, 1, 0])


def test_transforms_are_copies():
    scene = Scene()
    entity = scene.add(position=(1, 2, 3))
    kept = entity.position
    kept[0] = 99
    assert entity.position[0] == 1
    entity.position = (4, 5, 6)
    assert kept[1] == 2


def test_refusals():
    scene, other = Scene(), Scene()
    a = scene.add("a")
    b = scene.add("b", a)
    with pytest.raises(
        ValueError, match=r"the parent of Entity\('a'\) must not lie below it, got Entity\('b'\)"
    ):
        a.set_parent(b)
    with pytest.raises(ValueError, match="must not lie below it"):
        a.set_parent(a)
    with pytest.raises(ValueError, match="an entity must belong to the scene"):
        other.add("x", a)
    with pytest.raises(ValueError, match="position must be 3 finite numbers"):
        scene.add(position=(0, np.nan, 0))
    with pytest.raises(ValueError, match="rotation must be a quaternion x y z w of non-zero length"):
        scene.add(rotation=(0, 0, 0, 0))
    with pytest.raises(ValueError, match="rotation must be"):
        a.rotation = (0, 0, 1)
    with pytest.raises(KeyError, match="no entity named 'bb'"):
        scene.find("bb")
    assert scene.find("b") == b
    flat = scene.add("flat", scale=(1, 0, 1))
    with pytest.raises(ValueError, match="keep_world needs a parent whose scale is not zero"):
        a.set_parent(flat)
    assert a.parent is None
    assert len(scene) == 3


def test_a_cycle_written_into_the_column_is_an_error_not_a_hang():
    scene = Scene()
    scene.add("a")
    scene.add("b")
    scene.table["parent"].data[:2] = (1, 0)
    with pytest.raises(ValueError, match="parents must form a tree, got a cycle through row 0"):
        scene.update()
