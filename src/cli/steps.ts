/**
 * Reports the steps of a longer job with their durations: a live line on a terminal, one line per step
 * elsewhere.
 */
export async function step<T>(title: string, work: (note: (text: string) => void) => Promise<T>): Promise<T> {
  const isTerminal = process.stdout.isTTY;
  const startedAt = performance.now();
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  let detail = "";
  const draw = () =>
    process.stdout.write(`\r\x1b[2K  … ${title}${detail ? `: ${detail}` : ""} (${seconds()})`);
  const timer = isTerminal ? setInterval(draw, 100) : undefined;
  const end = (mark: string) => {
    clearInterval(timer);
    process.stdout.write(`${isTerminal ? "\r\x1b[2K" : ""}  ${mark} ${title} (${seconds()})\n`);
  };
  try {
    const result = await work((text) => {
      detail = text;
    });
    end("✓");
    return result;
  } catch (error) {
    end("✗");
    throw error;
  }
}
