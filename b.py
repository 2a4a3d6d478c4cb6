import torch
class Exp:
    def _process_one_batch(self, batch):
        x = batch.x.cuda()
        lab = x[:, 3].cuda()
        return self.model(lab)
    def _train(self, loader):
        for batch in loader:
            pred = self._process_one_batch(batch)
            loss = pred.mean()
            loss.backward()
            self.optimizer.step()
