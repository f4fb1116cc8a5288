"""Clip sampling at arbitrary times: advance playback, find the frames, interpolate the pose.

The clips of a batch share a skeleton and stand one after the other on the frame axis of one set of columns; a
row names its clip. Both kernels run once a step, in this order.
"""

import numpy as np

from .jit import kernel
from .quat import quat_slerp

# Rows computed together: their frame numbers stay in the first-level cache while the joints pass by.
BLOCK = 4096
_FIRST = np.int32(0)


@kernel
def advance(
    clip_firsts,
    clip_counts,
    clip_rates,
    clips,
    speeds,
    loops,
    dt,
    start,
    stop,
    times_out,
    times_low_out,
    frames_out,
    next_frames_out,
    weights_out,
):
    """Move each row's playback time by ``speed * dt`` and find the two frames around it.

    clip_firsts      (K,)  i4  1   first frame of each clip on the common frame axis
    clip_counts      (K,)  i4  1   frames of each clip, at least 1
    clip_rates       (K,)  f4  Hz  frames per second of each clip
    clips            (N,)  i4  1   clip of each row
    speeds           (N,)  f4  1   playback speed, negative plays backwards
    loops            (N,)  i4  1   1 wraps time at the clip's duration (frames - 1) / rate, 0 lets it run on
    dt               ()    f8  s   time step; 0 only finds the frames
    start            ()    i8  1   first row
    stop             ()    i8  1   one past the last row
    times_out        (N,)  f4  s   playback time, read and written
    times_low_out    (N,)  f4  s   what float32 could not hold of it, read and written
    frames_out       (N,)  i4  1   frame before the time, on the common axis; clamped to the clip
    next_frames_out  (N,)  i4  1   frame after it; the same at the end of a clip
    weights_out      (N,)  f4  1   0 at the frame before, towards 1 at the next

    The sum is made in float64 and kept as a pair of float32, so hours of small steps do not drift. A time that is
    not a number gives the clip's first frame; a clip that does not exist plays the nearest that does. Free of
    branches: a row costs less than one joint of ``pose``.
    """
    n = stop - start
    last_clip = np.int32(clip_counts.shape[0] - 1)
    clip, speed, loop = clips[start:stop], speeds[start:stop], loops[start:stop]
    high, low = times_out[start:stop], times_low_out[start:stop]
    frames, following, weights = frames_out[start:stop], next_frames_out[start:stop], weights_out[start:stop]
    for i in range(n):
        # Clips are a column that anybody may write to: never read beside the tables.
        k = min(max(clip[i], _FIRST), last_clip)
        rate, last = np.float64(clip_rates[k]), np.float64(clip_counts[k] - 1)
        time = np.float64(high[i]) + np.float64(low[i]) + np.float64(speed[i]) * dt
        duration = last / rate
        # A clip of one frame has no duration to wrap at: its looped time stays 0.
        wrapped = time - np.floor(time * rate / max(last, 1.0)) * duration
        wrapped = wrapped if last > 0.0 else 0.0
        time = wrapped if loop[i] != 0 else time
        high[i] = np.float32(time)
        low[i] = np.float32(time - np.float64(np.float32(time)))
        # NaN fails the first comparison and becomes 0.
        position = time * rate
        position = position if position > 0.0 else 0.0
        position = position if position < last else last
        frame = np.int32(position)
        after = frame + 1
        frames[i] = clip_firsts[k] + frame
        following[i] = clip_firsts[k] + (after if after < clip_counts[k] else frame)
        weights[i] = np.float32(position - np.float64(frame))


@kernel
def pose(
    clip_positions,
    clip_rotations,
    frames,
    next_frames,
    weights,
    start,
    stop,
    local_positions_out,
    local_rotations_out,
):
    """Interpolate the local pose of each row between two frames: positions lerp, rotations slerp.

    clip_positions       (T, 3, F)  f4  m  local positions of the joints that move, all clips
    clip_rotations       (J, 4, F)  f4  1  local unit quaternions x y z w, all clips
    frames               (N,)       i4  1  frame before
    next_frames          (N,)       i4  1  frame after
    weights              (N,)       f4  1  weight of the frame after, 0..1
    start                ()         i8  1  first row
    stop                 ()         i8  1  one past the last row
    local_positions_out  (T, 3, N)  f4  m  in the parent's space
    local_rotations_out  (J, 4, N)  f4  1  in the parent's space
    """
    for s in range(start, stop, BLOCK):
        e = min(s + BLOCK, stop)
        f, g, w = frames[s:e], next_frames[s:e], weights[s:e]
        for t in range(clip_positions.shape[0]):
            for c in range(3):
                a = clip_positions[t, c]
                out = local_positions_out[t, c, s:e]
                for i in range(e - s):
                    out[i] = a[f[i]] + (a[g[i]] - a[f[i]]) * w[i]
        for j in range(clip_rotations.shape[0]):
            x, y, z, u = (
                clip_rotations[j, 0],
                clip_rotations[j, 1],
                clip_rotations[j, 2],
                clip_rotations[j, 3],
            )
            ox, oy = local_rotations_out[j, 0, s:e], local_rotations_out[j, 1, s:e]
            oz, ow = local_rotations_out[j, 2, s:e], local_rotations_out[j, 3, s:e]
            for i in range(e - s):
                p, q = f[i], g[i]
                ox[i], oy[i], oz[i], ow[i] = quat_slerp(x[p], y[p], z[p], u[p], x[q], y[q], z[q], u[q], w[i])
