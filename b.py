import torch
class Exp:
    def _process_one_batch(self, batch):
        x = batch[0].float()
        x = x.to(self.device)
        return self.model(x)
    def _train(self, loader):
        for batch in loader:
            pred = self._process_one_batch(batch)
            loss = pred.mean()
            loss.backward()
            self.optimizer.step()
