import { Webhook } from "standardwebhooks";
import type { createDeliverer } from "../../../src/app/webhooks/deliver-webhook.ts";
import { createEndpoint, type WebhookContext } from "../../../src/app/webhooks/manage-webhooks.ts";
import { recordEvent } from "../../../src/app/webhooks/webhook-events.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { LOOPBACK } from "../../sources/ask.ts";
import { TEST_AUTHORITY } from "../../sources/servers.ts";

export interface Received {
  headers: Record<string, string>;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read payloads as a receiver in any language would.
  event: any;
}

export interface Receiver {
  origin: string;
  url: string;
  received: Received[];
  /** Resolves once so many requests have come. */
  got(count: number): Promise<void>;
  close(): void;
}

/** A partner's server: keeps what it receives and answers by `answer`, 200 by default. */
export function receiver(
  answer: (request: Received, count: number) => Response | Promise<Response> = () => new Response("ok"),
): Receiver {
  const received: Received[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const body = await request.text();
      const call = { headers: request.headers.toJSON(), body, event: JSON.parse(body) };
      received.push(call);
      for (const { count, resolve } of waiting) if (received.length >= count) resolve();
      return answer(call, received.length);
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  return {
    origin,
    url: `${origin}/hook`,
    received,
    got: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    close: () => void server.stop(true),
  };
}

/**
 * Throws unless the request is rightly signed with this secret. The clock of a test stands elsewhere than the
 * world's.
 */
export function verify(secret: string, { body, headers }: Received, now: number): void {
  const realNow = Date.now;
  Date.now = () => now;
  try {
    new Webhook(secret).verify(body, headers);
  } finally {
    Date.now = realNow;
  }
}

export interface WebhookWorkspace
  extends Omit<WebhookContext, "clock">,
    Pick<TestWorkspace, "clock" | "folder" | "blobs" | "keeper" | "smaller"> {
  accountId: string;
  /** Lets these addresses, although they are on this machine. */
  allow(...origins: string[]): void;
  endpoint(url: string, events?: string[]): Promise<{ id: string; secret: string }>;
  /** Records an event of the test environment, as finishing an image would; returns its subject. */
  happen(type?: "image.completed" | "image.failed", subject?: string): Promise<string>;
  close(): Promise<void>;
}

/** A real store with one account, and endpoints that may be on this machine. */
export async function webhookWorkspace(outbound: WebhookContext["outbound"] = {}): Promise<WebhookWorkspace> {
  const workspace = await testWorkspace();
  const allowed = new Set<string>();
  const { account } = await testAccount(workspace);
  const context: WebhookContext & TestWorkspace = {
    ...workspace,
    config: { ...workspace.config, webhookAllowedOrigins: allowed },
    outbound: { resolve: LOOPBACK, ca: TEST_AUTHORITY, ...outbound },
  };
  let count = 0;
  return {
    ...context,
    accountId: account.id,
    allow: (...origins) => {
      for (const origin of origins) allowed.add(origin);
    },
    endpoint: async (url, events) => {
      const input = { accountId: account.id, environment: "test", url, events } as const;
      const { endpoint, secret } = await createEndpoint(context, input);
      return { id: endpoint.id, secret };
    },
    happen: async (type = "image.completed", subject = `img_${++count}`) => {
      const event = {
        accountId: account.id,
        environment: "test",
        type,
        subject,
        data: { image_id: subject },
      };
      await context.store.write("test", (tx) =>
        recordEvent(tx, event as Parameters<typeof recordEvent>[1], {
          now: context.clock.now(),
          random: context.random,
        }),
      );
      return subject;
    },
    close: workspace.close,
  };
}

/** Sends everything that is due now, however many rounds the places need. */
export async function deliverDue(deliverer: ReturnType<typeof createDeliverer>): Promise<number> {
  let attempts = 0;
  for (;;) {
    const begun = await deliverer.dispatch();
    if (begun === 0) return attempts;
    attempts += begun;
    await deliverer.idle();
  }
}
