import type { Json } from "./operations-of.ts";

// Each call of the API as the clients make it, written from its example in the OpenAPI document.

/** What the TypeScript client calls each operation. Those in Python and PHP are named after the operation. */
const IN_TYPESCRIPT: Record<string, string> = {
  createImage: "images.create",
  listImages: "images.list",
  getImage: "images.get",
  changeImage: "images.change",
  deleteImage: "images.delete",
  remakeImage: "images.remake",
  printImage: "images.print",
  deletePlayer: "deletePlayer",
  listConsents: "consents.list",
  recordConsent: "consents.record",
  getConsent: "consents.get",
  withdrawConsent: "consents.withdraw",
  createPhoto: "photos.upload",
  createBatch: "batches.create",
  listBatches: "batches.list",
  getBatch: "batches.get",
  deleteBatch: "batches.cancel",
  remakeBatch: "batches.remake",
  printBatch: "batches.print",
  getBatchPictures: "batches.pictures",
  createSet: "sets.create",
  listSets: "sets.list",
  getSet: "sets.get",
  changeSet: "sets.change",
  deleteSet: "sets.delete",
  getChecklist: "sets.checklist",
  printChecklist: "sets.printChecklist",
  printAlbum: "sets.printAlbum",
  getManifest: "sets.manifest",
  getPacks: "sets.packs",
  listPresets: "presets",
  getUsage: "usage",
  createWebhookEndpoint: "webhookEndpoints.create",
  listWebhookEndpoints: "webhookEndpoints.list",
  getWebhookEndpoint: "webhookEndpoints.get",
  changeWebhookEndpoint: "webhookEndpoints.change",
  deleteWebhookEndpoint: "webhookEndpoints.delete",
  rotateWebhookSecret: "webhookEndpoints.rotateSecret",
  testWebhookEndpoint: "webhookEndpoints.test",
  listEvents: "events.list",
  getEvent: "events.get",
  redeliverEvent: "events.redeliver",
};

/** What the clients call otherwise than the operation. */
const RENAMED: Record<string, string> = { createPhoto: "uploadPhoto" };

export interface ClientCall {
  tab: "TypeScript" | "Python" | "PHP";
  language: "ts" | "python" | "php";
  /** The call alone. */
  call: string;
  text: string;
}

/** An operation's call in each client; none for what is opened without a key. `body`: an example of one. */
export function clientCalls(operation: Json, body: unknown): ClientCall[] {
  const { operationId, parameters = [] } = operation;
  const inTypescript = IN_TYPESCRIPT[operationId];
  if (inTypescript === undefined) return [];
  const isList = parameters.some((one: Json) => one.name === "after");
  const name = isList ? walkName(operationId) : (RENAMED[operationId] ?? operationId);
  const snake = name.replace(/[A-Z]/g, (letter: string) => `_${letter.toLowerCase()}`);
  const examples = (place: string): [name: string, example: unknown][] =>
    parameters
      .filter((one: Json) => one.in === place && one.required)
      .map((one: Json) => [one.name, one.example]);
  const path = examples("path").map(([, example]) => example);
  const query = examples("query");
  const isForm = operation.requestBody?.content["multipart/form-data"] !== undefined;
  const sent = isForm || body === undefined ? [] : [body];
  const call = (write: (value: unknown, indent?: string) => string, file: string, values: unknown[]) =>
    isForm ? file : values.map((value) => write(value)).join(", ");
  // One that the query must have stands alone, several are an object.
  const asked = query.length > 1 ? [Object.fromEntries(query)] : query.map(([, value]) => value);
  const flat = [...path, ...query.map(([, value]) => value), ...sent];
  const calls = {
    typescript: `cards.${inTypescript}(${call(typescript, "file", [...path, ...asked, ...sent])})`,
    python: `cards.${snake}(${call(python, "content", flat)})`,
    php: `$cards->${name}(${call(php, "$content", flat)})`,
  };
  return [
    {
      tab: "TypeScript",
      language: "ts",
      call: calls.typescript,
      text: isList
        ? `for await (const one of ${calls.typescript}) console.log(one);`
        : `await ${calls.typescript};`,
    },
    {
      tab: "Python",
      language: "python",
      call: calls.python,
      text: isList ? `for one in ${calls.python}:\n    print(one)` : calls.python,
    },
    {
      tab: "PHP",
      language: "php",
      call: calls.php,
      text: isList ? `foreach (${calls.php} as $one) print_r($one);` : `${calls.php};`,
    },
  ];
}

/** The walk through all pages of a list: `everyImage` for `listImages`. */
export const walkName = (name: string): string =>
  name.replace(/^list/, "every").replace(/(?<=tch|x)es$|s$/, "");

interface Writing {
  /** A field of an object. */
  field: (name: string, value: string) => string;
  open: string;
  close: string;
  words: { true: string; false: string; null: string };
  quoted: (text: string) => string;
}

function writer({ field, open, close, words, quoted }: Writing) {
  const write = (value: unknown, indent = ""): string => {
    if (typeof value === "string") return quoted(value);
    if (value === null || typeof value === "boolean") return words[`${value}`];
    if (typeof value !== "object") return String(value);
    const inner = `${indent}  `;
    const isList = Array.isArray(value);
    const lines = isList
      ? value.map((one) => write(one, inner))
      : Object.entries(value).map(([name, one]) => field(name, write(one, inner)));
    const [first, last] = isList ? ["[", "]"] : [open, close];
    if (lines.length === 0) return first + last;
    const short = lines.join(", ");
    if (short.length < 60 && !short.includes("\n"))
      return `${first}${first === "{" ? " " : ""}${short}${last === "}" ? " " : ""}${last}`;
    return `${first}\n${lines.map((line) => `${inner}${line},`).join("\n")}\n${indent}${last}`;
  };
  return write;
}

const isName = (name: string) => /^[A-Za-z_]\w*$/.test(name);
const typescript = writer({
  field: (name, value) => `${isName(name) ? name : JSON.stringify(name)}: ${value}`,
  open: "{",
  close: "}",
  words: { true: "true", false: "false", null: "null" },
  quoted: (text) => JSON.stringify(text),
});
const python = writer({
  field: (name, value) => `${JSON.stringify(name)}: ${value}`,
  open: "{",
  close: "}",
  words: { true: "True", false: "False", null: "None" },
  quoted: (text) => JSON.stringify(text),
});
const phpText = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;
const php = writer({
  field: (name, value) => `${phpText(name)} => ${value}`,
  open: "[",
  close: "]",
  words: { true: "true", false: "false", null: "null" },
  quoted: phpText,
});
