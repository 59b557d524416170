import type { CallToolResult } from "@modelcontextprotocol/server";

/** What a tool asks of the API. */
export interface ApiCall {
  method?: "GET" | "POST";
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** Calls the API of one service with the key of the person who uses the tools. */
export type CallApi = (path: string, call?: ApiCall) => Promise<Response>;

// biome-ignore lint/suspicious/noExplicitAny: answers are read as any client reads them.
export type Data = any;

/** What the API refused, as it said it. */
export class ApiRefusal extends Error {
  constructor(
    readonly error: {
      code: string;
      message: string;
      request_id?: string;
      docs_url?: string;
      details?: readonly { field: string; message: string }[];
    },
    readonly retryAfter: string | null,
  ) {
    super(error.message);
    this.name = "ApiRefusal";
  }
}

/** The request that a call makes. */
export function requestOf(baseUrl: string, key: string, path: string, call: ApiCall = {}): Request {
  const { method = "GET", body, headers = {} } = call;
  return new Request(baseUrl + path, {
    method,
    headers: {
      "X-API-Key": key,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** The `data` of an answer. Throws an ApiRefusal for an error. */
export async function dataOf(response: Response): Promise<Data> {
  const text = await response.text();
  try {
    const { data, error } = JSON.parse(text) as { data: Data; error: ApiRefusal["error"] | null };
    if (error === null) return data;
    throw new ApiRefusal(error, response.headers.get("retry-after"));
  } catch (error) {
    if (error instanceof ApiRefusal) throw error;
    throw new Error(
      `The service answered with status ${response.status} and no JSON: is there another server at its address?`,
    );
  }
}

/** A refusal in the words a model can act on: what is wrong with which field, and when to try again. */
export function refusalText({ error, retryAfter }: ApiRefusal): string {
  const { code, message, details = [], docs_url, request_id } = error;
  return [
    `${code}: ${message}`,
    ...details.map((detail) => `- ${detail.field} ${detail.message}`),
    ...(retryAfter === null ? [] : [`Try again in ${retryAfter} seconds.`]),
    ...(docs_url === undefined ? [] : [`More: ${docs_url}`]),
    ...(request_id === undefined ? [] : [`Request ${request_id}`]),
  ].join("\n");
}

export const text = (value: unknown, ...notes: string[]): CallToolResult => ({
  content: [typeof value === "string" ? value : JSON.stringify(value), ...notes].map((line) => ({
    type: "text",
    text: line,
  })),
});
