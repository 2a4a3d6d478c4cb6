import torch


class MazeEnv:
    def step(self, action):
        self.place = self.walk(action)
        return self.place.sum().item()  # a host that walks on before the next action


class Walker(MazeEnv):
    def reset(self):
        self.place = torch.zeros(3)
        return self.step(self.place)


def train(agent, optimizer, steps):
    env = MazeEnv()
    for _ in range(steps):
        agent.see(env.step(agent.act()))
        agent.loss().backward()
        optimizer.step()
