import { expect, test } from "bun:test";
import { systemRandom } from "../../src/service/system.ts";
import { serveStudio } from "../../src/studio/serve.ts";
import type { Studio } from "../../src/studio/studio.ts";

test("a request that is not what the page sends is refused by name, and nothing is made of it", async () => {
  const made: unknown[] = [];
  const note = async (request: unknown) => {
    made.push(request);
    return { name: "made" };
  };
  const fake = {
    create: note,
    saveSample: note,
    curl: note,
    wall: note,
    accept: note,
    events: { close() {} },
  };
  const studio = serveStudio(fake as unknown as Studio, { port: 0, random: systemRandom });
  const send = async (path: string, body: string, type = "application/json") => {
    const response = await fetch(studio.url + path, {
      method: "POST",
      headers: { "Content-Type": type },
      body,
    });
    return [response.status, ((await response.json()) as { error?: string }).error];
  };
  const noObject = [400, "The request is no JSON object. Send it as application/json."];
  expect(await send("new", "season_card", "text/plain")).toEqual(noObject);
  expect(await send("new", '["season_card"]')).toEqual(noObject);
  expect(await send("new", "{}")).toEqual([400, 'The request has no text "name".']);
  expect(await send("samples", '{"template":"a","text":"{}"}')).toEqual([
    400,
    'The request has no text "name".',
  ]);
  expect(await send("accept", '{"names":["x"]}')).toEqual([400, 'The request has no text "template".']);
  expect(made).toEqual([]);
  expect(await send("new", '{"name":"season_card"}')).toEqual([200, undefined]);
  await studio.stop();
});
