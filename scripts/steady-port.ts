import { freePort } from "../src/service/free-port.ts";

/** Below the range from which systems choose ports for outgoing connections. */
const FIRST = 10_000;
const LAST = 32_000;

/**
 * A free port that nobody is given by chance while its server is down, so that it can be started there again.
 */
export async function steadyPort(): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      return await freePort("127.0.0.1", FIRST + Math.floor(Math.random() * (LAST - FIRST)));
    } catch (error) {
      if (tries === 20) throw error;
    }
  }
}
