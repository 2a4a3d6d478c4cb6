import collections

import jax


class Replay:
    def get_iterator(self):
        """A window of what was last sampled is kept, and nothing is fetched ahead."""
        seen = collections.deque(maxlen=8)
        while True:
            seen.append(self.sample())
            yield jax.device_put(seen[-1])


def train_on_window(agent, replay, steps):
    replay_iterator = replay.get_iterator()
    for step in range(steps):
        batch = next(replay_iterator)  # expect: no-prefetch
        agent.update(batch)
