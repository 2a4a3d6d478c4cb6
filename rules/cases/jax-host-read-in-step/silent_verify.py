"""What checks a solver once, and takes a gradient to do so."""

import jax
import jax.numpy as jnp


def run_verification_gates(solver, points):
    gradient = jax.grad(lambda s: jnp.mean(solver(s, points)))(2.0)
    return {"gradient": float(gradient), "residual": float(jnp.linalg.norm(solver(2.0, points)))}


def main():
    print(run_verification_gates(make_solver(), make_points()))


if __name__ == "__main__":
    main()
