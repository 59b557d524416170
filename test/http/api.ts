import { expect } from "bun:test";
import type { TSchema } from "@sinclair/typebox/type";
import { Value } from "@sinclair/typebox/value";
import { countAnswer } from "../../scripts/cases.ts";
import type { DiskRoom } from "../../src/app/images/disk-room.ts";
import { finishImage } from "../../src/app/images/finish-image.ts";
import { newName } from "../../src/app/images/keep-card.ts";
import { claimImage } from "../../src/app/images/render-image.ts";
import type { Environment } from "../../src/core/account.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { storedRequest } from "../../src/core/image-request.ts";
import type { Clock, Log, Random } from "../../src/core/ports.ts";
import { ERROR_STATUS } from "../../src/http/http-refusal.ts";
import { ErrorResponse } from "../../src/http/schemas.ts";
import { listen } from "../../src/http/server.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import type { ImageOutput } from "../../src/store/images/images.ts";
import "../date-time.ts";
import { idlePool } from "../fakes.ts";
import { fakeClock, openTestStore, photoServer, seededRandom, testConfig, testFolder } from "../harness.ts";

// The API over a real socket, a real database and a real photo fetch, without browsers: images are claimed
// and finished by the use cases, and the clock stands still.

export type TestApi = Awaited<ReturnType<typeof testApi>>;

export interface TestApiOptions {
  random?: Random;
  env?: Record<string, string>;
  port?: number;
  /** A disk with as much room as the test says. */
  room?: (clock: Clock, log: Log) => DiskRoom;
}

export async function testApi(options: TestApiOptions = {}) {
  const dataFolder = testFolder();
  const photos = photoServer();
  const clock = fakeClock();
  const lines: string[] = [];
  const note = (event: string, fields?: object) => {
    lines.push(JSON.stringify({ event, ...fields }));
    if (event === "request") countAnswer(fields as Parameters<typeof countAnswer>[0]);
  };
  const log: Log = { info: note, warn: note, error: note };
  const config = testConfig(dataFolder.dir, {
    CARDPRESS_BASE_URL: "https://cards.example.org",
    CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin,
    ...options.env,
  });
  const workspace = await openWorkspace(config, log, {
    clock,
    random: options.random ?? seededRandom(),
    openStore: openTestStore(clock),
  });
  const room = options.room?.(clock, log) ?? workspace.room;
  const deps = { ...buildDeps({ ...workspace, room }, { pool: idlePool }), isDraining: () => false };
  const http = listen(deps, { host: "127.0.0.1", port: options.port ?? 0 });
  const baseUrl = `http://127.0.0.1:${http.port}`;
  return {
    ...deps,
    clock,
    baseUrl,
    photos,
    photo: photos.url("yoga.jpg"),
    lines,
    dataDir: dataFolder.dir,
    close: async () => {
      await http.stop();
      await workspace.store.close();
      await photos.stop();
      await dataFolder.remove();
    },
  };
}

/** Ends the next waiting image as a render would. */
export async function finishNext(
  api: TestApi,
  end: "completed" | "refused",
  environment: Environment = "live",
  template?: ImageOutput["template"],
): Promise<string> {
  const image = await claimImage(api, environment);
  if (!image) throw new Error("nothing waits");
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  const output = {
    width: 1024,
    height: 1280,
    contentType: "image/png",
    bytes: 7,
    composition: "cutout" as const,
    ...(template && { template }),
  };
  await finishImage(
    api,
    lease,
    end === "completed"
      ? { kind: "completed", output: { ...output, name: `${image.id}-0secret.png` } }
      : { kind: "refused", message: "No player was found in the photo.", reason: "no_player" },
  );
  return image.id;
}

/** Ends the next waiting test image as a video of 1080 x 1350; returns its id. */
export const finishAsVideo = (api: TestApi, video: Uint8Array) => finishAs(api, video, "video/webm");

/** Finishes the next test image with this file; returns its id. */
export async function finishAs(api: TestApi, file: Uint8Array, contentType: string): Promise<string> {
  const image = await claimImage(api, "test");
  if (!image) throw new Error("nothing waits");
  const name = newName(api, image.id, storedRequest(image.request).style);
  await api.blobs.put("picture", name, file);
  const output = { name, contentType, width: 1080, height: 1350, bytes: file.length };
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  await finishImage(api, lease, { kind: "completed", output: { ...output, composition: "cutout" } });
  return image.id;
}

/** Sends a request exactly as given. */
export function send(api: TestApi, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(api.baseUrl + path, init);
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers as a client in any language would.
export type Json = any;

/** Checks what every answer must carry; returns its rate headers as numbers. */
export function expectStandardHeaders(response: Response) {
  expect(response.headers.get("x-request-id")).toMatch(/^req_[0-9A-Za-z]+$/);
  const number = (name: string) => {
    const text = response.headers.get(name) ?? "missing";
    expect(text).toMatch(/^\d+$/);
    return Number(text);
  };
  const limit = number("x-ratelimit-limit");
  const remaining = number("x-ratelimit-remaining");
  const reset = number("x-ratelimit-reset");
  expect(remaining).toBeLessThanOrEqual(limit);
  if (![429, 503].includes(response.status)) expect(response.headers.get("retry-after")).toBeNull();
  return { limit, remaining, reset };
}

/** Checks an error answer in full; returns its `error`. */
export async function expectError(response: Response, code: ErrorCode): Promise<Json> {
  const body = (await response.json()) as Json;
  expect({ status: response.status, code: body.error?.code, message: body.error?.message }).toMatchObject({
    status: ERROR_STATUS[code],
    code,
  });
  expectStandardHeaders(response);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expectShape(ErrorResponse, body);
  expect(body.error.request_id).toBe(response.headers.get("x-request-id"));
  expect(body.error.docs_url).toBe(`https://cards.example.org/docs/errors/${code}`);
  return body.error;
}

/** Checks a success in full, its body against the published schema; returns its `data`. */
export async function expectSuccess(response: Response, status: number, schema: TSchema): Promise<Json> {
  const body = (await response.json()) as Json;
  expect({ status: response.status, error: body.error }).toEqual({ status, error: null });
  expectStandardHeaders(response);
  expectShape(schema, body);
  return body.data;
}

/** The published schemas are closed, so a field too many is as wrong as one too few. */
export function expectShape(schema: TSchema, value: unknown): void {
  const problems = [...Value.Errors(schema, value)].map(({ path, message }) => `${path}: ${message}`);
  expect(problems).toEqual([]);
}
