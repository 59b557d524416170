// How long a service takes to stop, from SIGTERM on. Longer than these, systemd, Docker or Kubernetes must
// wait before they send SIGKILL: deploy/ has it for each.

/** Renders may finish within this time; others return to the queue. */
export const RENDER_GRACE_MS = 15_000;
/** Requests may finish within this time; those that hang are cut off. */
export const DRAIN_TIMEOUT_MS = 25_000;
/** The process has ended by then, whatever hangs. */
export const EXIT_TIMEOUT_MS = DRAIN_TIMEOUT_MS + 3_000;
