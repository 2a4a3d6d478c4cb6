// Libraries that launch on whatever device there is wait for it by names of their own.
#include <AMReX_Gpu.H>
#include <Kokkos_Core.hpp>
#include <occa.hpp>

void incflo::compute_fluxes(int lev, Box const& bx, Array4<Real> const& fz) {
  AMREX_FOR_4D(bx, 3, i, j, k, n,
  {
    fz(i, j, k, n) = w(i, j, k) * state(i, j, k, n);
  });
  Gpu::synchronize();  // expect: explicit-sync
}

void push_particles(amrex::Box const& bx, long np) {
  amrex::ParallelFor(np, [=] AMREX_GPU_DEVICE(long ip) noexcept { x[ip] += dt * v[ip]; });
  amrex::Gpu::synchronize();  // expect: explicit-sync
}

void PairForce::accumulate(int atoms) {
  Kokkos::parallel_for(policy_, *this);
  Kokkos::fence();  // expect: explicit-sync
}

void gradient(mesh_t* mesh, occa::memory o_p, occa::memory o_gp) {
  mesh->gradientKernel(mesh->elements, mesh->o_vgeo, o_p, o_gp);
  mesh->device.finish();  // expect: explicit-sync
}
