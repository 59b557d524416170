import { createMcpHandler, type McpHttpHandler } from "@modelcontextprotocol/server";
import type { ReadSquadList } from "../app/batches/list-reader.ts";
import { BODY_TIMEOUT_MS, MAX_BATCH_BODY_BYTES } from "../core/limits.ts";
import type { Log } from "../core/ports.ts";
import { type CallApi, requestOf } from "../mcp/call.ts";
import { mcpServer } from "../mcp/server.ts";
import type { Identify } from "./auth.ts";
import { readBounded, refuseExcess } from "./body.ts";
import { standardHeaders } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { HttpRefusal } from "./http-refusal.ts";

export interface McpRouteDeps {
  identify: Identify;
  readSquadList: ReadSquadList;
  log: Log;
  /** The whole API, as a function: what a tool asks is checked, counted and logged like any call. */
  answer: (request: Request, peer: string) => Promise<Response>;
}

/** What a message may hold: a table becomes a batch that is larger. */
const MAX_MESSAGE_BYTES = MAX_BATCH_BODY_BYTES;
const NOWHERE = "http://api.invalid";

/** Whose message it is: the SDK carries it from the request to the tools. */
interface Asker {
  accountId: string;
  call: CallApi;
}

/** Answers POST /mcp: one message of the Model Context Protocol, with an API key as bearer. */
export function mcpRoute(deps: McpRouteDeps): (exchange: Exchange) => Promise<Response> {
  const handler: McpHttpHandler = createMcpHandler(
    ({ authInfo }) => {
      const asker = authInfo?.extra?.asker as Asker | undefined;
      if (!asker) throw new Error("a message without its sender");
      const { accountId, call } = asker;
      return mcpServer({ call, readTable: (bytes) => deps.readSquadList(accountId, bytes) });
    },
    {
      // Nothing changes that somebody could subscribe to.
      maxSubscriptions: 0,
      maxRequestBodySize: MAX_MESSAGE_BYTES,
      onerror: (error) => deps.log.warn("mcp_message_refused", { error: error.message }),
    },
  );
  return async (exchange) => {
    const { request, clientAddress } = exchange;
    const key = bearerOf(request.headers) ?? request.headers.get("x-api-key") ?? "";
    const headers = new Headers(request.headers);
    headers.set("x-api-key", key);
    const keyed = new Request(exchange.url, { headers });
    const { rate, refusal, caller } = await deps.identify({ ...exchange, request: keyed });
    if (refusal) throw refusal.code === "INVALID_API_KEY" ? new HttpRefusal(refusal, CHALLENGE) : refusal;
    const body = await readBounded(request, BODY_TIMEOUT_MS, MAX_MESSAGE_BYTES);
    refuseExcess(new TextDecoder().decode(body));
    headers.delete("content-length");
    const message = new Request(exchange.url, {
      method: "POST",
      headers,
      body: body as Uint8Array<ArrayBuffer>,
    });
    const asker: Asker = {
      accountId: caller.account.id,
      call: (path, call) => deps.answer(requestOf(NOWHERE, key, path, call), clientAddress),
    };
    const authInfo = { token: "", clientId: caller.keyId, scopes: [], extra: { asker } };
    const response = await handler.fetch(message, { authInfo });
    for (const [name, value] of Object.entries(standardHeaders({ ...exchange, rate })))
      response.headers.set(name, value);
    return response;
  };
}

const CHALLENGE = { "WWW-Authenticate": 'Bearer realm="cardpress"' };

function bearerOf(headers: Headers): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
}
