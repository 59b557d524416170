import type {
  CompareAnswer,
  Fault,
  GoldenState,
  PictureAnswer,
  PictureRequest,
  StudioState,
  WallCase,
} from "../messages.ts";

/** A refusal by the server, with its message. */
export class Refused extends Error {}

async function answerOf<T>(response: Response): Promise<T> {
  const body = await response.json();
  if (!response.ok) throw new Refused(body.error ?? `The studio answered ${response.status}.`);
  return body as T;
}

const post = async <T>(path: string, body: unknown): Promise<T> =>
  answerOf(
    await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    }),
  );

export const server = {
  state: async (template: string): Promise<StudioState> =>
    answerOf(await fetch(`state?template=${encodeURIComponent(template)}`)),
  style: async (template: string): Promise<Fault[]> =>
    answerOf(await fetch(`style?template=${encodeURIComponent(template)}`)),
  picture: (request: PictureRequest) => post<PictureAnswer>("picture", request),
  compare: (request: PictureRequest & { sample: string; size: string; against: string }) =>
    post<CompareAnswer>("compare", request),
  goldens: async (template: string): Promise<GoldenState[]> =>
    answerOf(await fetch(`goldens?template=${encodeURIComponent(template)}`)),
  accept: (template: string, names: string[]) => post<{ accepted: string[] }>("accept", { template, names }),
  wall: (template: string, wall: string, sample: string, body: unknown) =>
    post<WallCase[]>("wall", { template, wall, sample, body }),
  saveSample: (template: string, name: string, text: string, photo?: string) =>
    post<{ name: string }>("samples", { template, name, text, photo }),
  create: (name: string) => post<{ name: string }>("new", { name }),
  photo: async (file: File): Promise<{ id: string }> =>
    answerOf(await fetch("photo", { method: "POST", body: file })),
  curl: (template: string, body: unknown, width: number, height: number, format: string) =>
    post<{ command: string }>("curl", { template, body, width, height, format }),
};

/** Reports changed files, and the connection to the studio being lost or restored. */
export function listen(on: { changed(isSheet: boolean): void; connected(isConnected: boolean): void }): void {
  const source = new EventSource("events");
  source.addEventListener("changed", (event) => on.changed(JSON.parse(event.data).isSheet));
  source.onopen = () => on.connected(true);
  source.onerror = () => on.connected(false);
}
