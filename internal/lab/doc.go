// Package lab is a simulated world to contain a runner in: a GitLab, agents that
// really poll it, hosts that can be read over SSH, and a ledger of what happened.
//
// It runs as a process of its own (`cordon lab serve`), so that killing cordon kills
// no provider. Everything listens on loopback; scripts run only over trees made for
// it and acts are never executed, so a demo cannot touch the machine it runs on. Time
// is scaled, and here alone. Secrets come from a seed.
//
// The package knows wire shapes only: it must not import providers or
// internal/host, or a mistake in one would be mirrored in the other. It may import
// internal/clock.
package lab
