"""Playback: clips and times to local poses."""

from ...kernels import sample
from ..batch import Batch
from ..components import Clips, LocalPose, Playback
from ..system import Phase, RowSystem


class PlaybackSystem(RowSystem):
    """Advance each row's playback time and sample its clip."""

    phase = Phase.ANIMATE
    reads = (Clips, Playback)
    writes = (Playback, LocalPose)

    def run_rows(self, batch: Batch, dt: float, start: int, stop: int) -> None:
        """Advance by dt and write the local pose."""
        clips, play, local = batch[Clips], batch[Playback], batch[LocalPose]
        frames, following, weights = play.frame.data, play.next_frame.data, play.weight.data
        sample.advance(
            clips.firsts,
            clips.counts,
            clips.rates,
            play.clip.data,
            play.speed.data,
            play.loop.data,
            dt,
            start,
            stop,
            play.time.data,
            play.time_low.data,
            frames,
            following,
            weights,
        )
        sample.pose(
            clips.positions,
            clips.rotations,
            frames,
            following,
            weights,
            start,
            stop,
            local.local_positions.data,
            local.local_rotations.data,
        )
