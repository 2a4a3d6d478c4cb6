"""Made around the steps and kept, or handed to who asked for it."""
import jax


class Trainer:
    def compile(self):
        self.step = jax.jit(lambda p, b: self.update(p, b))

    def make_step(self):
        return jax.jit(lambda p, b: self.update(p, b))

    def update_params(self, params, batch):
        if not self.compiled:
            self.compiled = jax.jit(lambda p, b: self.update(p, b))
        return self.compiled(params, batch)

    def fit(self, params, loader):
        for epoch in range(self.epochs):
            self.compile()
            step = self.make_step()
            for batch in loader:
                params = step(params, batch)
                grads = jax.grad(self.loss)(params, batch)
                self.optimizer.update(grads)
                params = self.update_params(params, batch)


if __name__ == "__main__":
    Trainer().fit(start(), load())
