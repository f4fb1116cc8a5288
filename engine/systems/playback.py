"""Playback: clips and times to local poses."""

import esper

from ...kernels import sample
from ...kernels.threads import run_rows
from ..components import Clips, LocalPose, Playback
from ..system import Phase, System


class PlaybackSystem(System):
    """Advance each row's playback time and sample its clip."""

    phase = Phase.ANIMATE
    reads = (Clips, Playback)
    writes = (Playback, LocalPose)

    def run(self, dt: float) -> None:
        """Advance by dt and write the local pose of every batch that has clips."""
        for _, (clips, play, local) in esper.get_components(Clips, Playback, LocalPose):
            rows = play.count
            frames, following, weights = play.frame.data, play.next_frame.data, play.weight.data
            run_rows(
                sample.advance,
                (
                    clips.firsts,
                    clips.counts,
                    clips.rates,
                    play.clip.data,
                    play.speed.data,
                    play.loop.data,
                    dt,
                ),
                rows,
                (play.time.data, play.time_low.data, frames, following, weights),
            )
            run_rows(
                sample.pose,
                (clips.positions, clips.rotations, frames, following, weights),
                rows,
                (local.local_positions.data, local.local_rotations.data),
                columns=clips.rotations.shape[0],
            )
