from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from agent_litmus.formats.charts.placing import Spot, place_labels

SIZE, FRAME = (30.0, 14.0), (400.0, 400.0)
PLACES = st.tuples(st.floats(0, 400), st.floats(0, 400))


def edges(spot: Spot) -> tuple[float, float, float, float]:
    left = spot.x - {"left": 0.0, "center": SIZE[0] / 2, "right": SIZE[0]}[spot.align]
    return left, spot.y - SIZE[1] / 2, left + SIZE[0], spot.y + SIZE[1] / 2


def overlap(one: tuple[float, float, float, float], two: tuple[float, float, float, float]) -> bool:
    eps = 1e-6
    across = min(one[2], two[2]) - max(one[0], two[0])
    return across > eps and min(one[3], two[3]) - max(one[1], two[1]) > eps


@given(st.lists(PLACES, max_size=8))
def test_a_free_placement_hides_no_label_and_no_marker(points: list[tuple[float, float]]) -> None:
    placed = place_labels(points, [SIZE] * len(points), frame=FRAME)
    assert len(placed.spots) == len(points)
    boxes = [edges(spot) for spot in placed.spots]
    if placed.free:
        assert not any(overlap(one, two) for one, two in combinations(boxes, 2))
        assert not any(overlap(box, (x - 6, y - 6, x + 6, y + 6)) for box in boxes for x, y in points)
        assert all(min(box) >= -1e-6 and max(box[2:]) <= 400 + 1e-6 for box in boxes)


@given(PLACES)
def test_a_lone_label_is_always_free_and_next_to_its_marker(point: tuple[float, float]) -> None:
    placed = place_labels([point], [SIZE], frame=FRAME)
    assert placed.free
    assert placed.spots[0].reach == 0.0


def test_coinciding_points_get_labels_further_and_further_out() -> None:
    placed = place_labels([(200.0, 200.0)] * 20, [SIZE] * 20, frame=FRAME, reaches=(0.0, 20.0, 40.0, 60.0))
    assert placed.free
    assert max(spot.reach for spot in placed.spots) > 0.0


def test_a_label_keeps_off_interval_lines_where_it_can() -> None:
    lines = [(150.0, 195.0, 400.0, 205.0)]
    free = place_labels([(200.0, 200.0)], [SIZE], frame=FRAME)
    kept = place_labels([(200.0, 200.0)], [SIZE], frame=FRAME, soft=lines)
    assert overlap(edges(free.spots[0]), lines[0])
    assert not overlap(edges(kept.spots[0]), lines[0])


def test_no_room_is_said() -> None:
    assert not place_labels([(10.0, 10.0)], [SIZE], frame=(20.0, 20.0)).free
