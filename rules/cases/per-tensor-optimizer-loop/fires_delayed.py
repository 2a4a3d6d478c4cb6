import torch


class TD3:
    def __init__(self, actor, critic, target, policy_freq=2, log_freq=1000):
        self.actor, self.critic, self.target = actor, critic, target
        self.policy_freq = policy_freq
        self.log_freq = log_freq
        self.optimizer = torch.optim.Adam(critic.parameters())
        self.total_it = 0

    def train(self, replay_buffer, device):
        for batch in replay_buffer:
            self.total_it += 1
            loss = self.critic(batch.to(device, non_blocking=True)).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.total_it % self.policy_freq == 0:
                for param, target_param in zip(self.critic.parameters(), self.target.parameters()):
                    target_param.data.copy_(0.005 * param.data + 0.995 * target_param.data)  # expect: per-tensor-optimizer-loop
