import { setPriority } from "node:os";
import { Refusal } from "../../core/errors.ts";
import { LIST_READER_CPU_SECONDS, LIST_READER_MEMORY_BYTES } from "../../core/list-limits.ts";
import { limitSelf } from "../../system/own-limits.ts";
import { parseSquadList } from "./parse-list.ts";
import type { SquadList } from "./squad-list.ts";

/** What the process that parses a list answers: the list, or what to tell the person who sent it. */
export type ListAnswer = { list: SquadList } | { refused: string };

/** Requests and renders go first. */
const NICENESS = 5;

/**
 * The process that parses one squad list, from stdin to stdout, within the limits of the kernel. It knows
 * nothing of the service but this program. Run by the hidden command `read-list`.
 */
export async function runListReader(): Promise<void> {
  limitSelf({ moreMemoryBytes: LIST_READER_MEMORY_BYTES, cpuSeconds: LIST_READER_CPU_SECONDS });
  setPriority(NICENESS);
  const answer = await parseSquadList(await Bun.stdin.bytes()).then(
    (list): ListAnswer => ({ list }),
    (error): ListAnswer => {
      if (error instanceof Refusal) return { refused: error.message };
      throw error;
    },
  );
  await Bun.write(Bun.stdout, JSON.stringify(answer));
}
