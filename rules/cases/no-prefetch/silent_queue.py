import collections

import jax


class Replay:
    def get_iterator(self, ahead=2):
        """Two batches are on their way to the device while the step runs."""
        queue = collections.deque()

        def enqueue(n):
            for _ in range(n):
                queue.append(jax.device_put(self.sample()))

        enqueue(ahead)
        while queue:
            yield queue.popleft()
            enqueue(1)


def train_on_queue(agent, replay, steps):
    replay_iterator = replay.get_iterator()
    for step in range(steps):
        batch = next(replay_iterator)
        agent.update(batch)
