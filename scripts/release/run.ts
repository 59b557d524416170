/** Runs a command to its end and returns what it printed; throws with its words when it fails. */
export async function run(
  command: string[],
  options: { cwd?: string; env?: Record<string, string | undefined> } = {},
): Promise<string> {
  const child = Bun.spawn(command, { ...options, stdout: "pipe", stderr: "pipe" });
  const [out, problem] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}\n${out}${problem}`);
  return out;
}
