# Steps of a trainer that another file defines: what they give are arrays.
import jax
import numpy as np
from package.trainer import Trainer


def train(trainer, dataset, logger):
    for step, batch in enumerate(dataset):
        loss, electrons, accepted = trainer.pretrain_step(batch)
        if np.isnan(loss).any():  # expect: jax-host-read-in-step
            raise RuntimeError("not a number")
        logger.add_scalar("loss", loss.mean().item(), step)  # expect: jax-host-read-in-step


def run(vmc: Trainer, steps, atoms):
    electrons = vmc.start()
    energies = []
    for _ in range(steps):
        result, auxiliary = vmc.update_step(electrons, atoms)
        electrons = result.electrons
        energies.append(np.array(result.energies).reshape(-1))  # expect: jax-host-read-in-step


def learn(trainer, loader):
    for batch in loader:
        state, records = trainer.step(batch)
        print(float(records["loss"]))  # expect: jax-host-read-in-step


def minimise(state, loader, p_train_step, experiment):
    for batch in loader:
        state, records = p_train_step(state, batch)
        experiment.log(records, step=int(state.step))  # expect: jax-host-read-in-step


def fit(config, state, batches, p_train_step, experiment):
    for _ in range(config.optim.total_steps):
        state, records = p_train_step(state, next(batches))
        experiment.log(records, step=int(state.step))  # expect: jax-host-read-in-step
    experiment.save(state, step=int(state.step))


def play_and_learn(steps, updates_per_step, state, environment, buffer, act, train_step):
    observations = environment.reset()
    for _ in range(steps):
        rewards = jax.vmap(act)(state.params, observations)
        total = np.asarray(jax.numpy.sum(rewards))  # expect: jax-host-read-in-step
        buffer.add(observations, total)
        for _ in range(updates_per_step):
            state, losses = train_step(state, buffer.sample(256))


class Sharded:
    def __init__(self, function, state):
        self.state = state
        self.train_pjit = shard(function)

    def train(self, sample):
        loss, self.state, norm = self.train_pjit(self.state, sample["x"], sample["y"])
        return np.array(loss).mean()  # expect: jax-host-read-in-step


if __name__ == "__main__":
    train(make(), load(), log())
    run(make(), 10, None)
    learn(make(), load())
    minimise(start(), load(), jax.pmap(update), log())
    play_and_learn(10, 2, start(), make(), make(), None, None)
    fit(settings(), start(), load(), jax.pmap(update), log())
    sharded = Sharded(jax.jit(update), start())
    for sample in load():
        sharded.train(sample)
