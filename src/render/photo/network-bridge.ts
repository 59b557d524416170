import { readSync, writeSync } from "node:fs";
import type { CDPSession, Page } from "puppeteer-core";
import { MAX_NETWORK_PICTURE_PIXELS } from "../../core/limits.ts";
import { isNetwork, type NetworkName, type NetworkPicture, type Networks } from "./networks.ts";

/** The function the page calls to make a request; the answer comes back separately. */
const BINDING = "askNetwork";

/** How the page is called with the answer: the lengths of the outputs, or what went wrong. */
const ANSWER = "function (lengths, problem) { photoPage.answered(lengths, problem); }";

/**
 * Lets a page run networks in this process. The page writes a picture into a shared file and calls the
 * binding; this side reads the picture, runs the network and writes its outputs, as floats, over the picture.
 * @param file the shared file's descriptor
 * @returns a function that closes the bridge
 */
export async function bridgeNetworks(page: Page, networks: Networks, file: number): Promise<() => void> {
  const session = await page.createCDPSession();
  let open = true;
  const { result } = await session.send("Runtime.evaluate", { expression: "globalThis" });
  const answer = (lengths: number[], problem: string | null) =>
    session.send("Runtime.callFunctionOn", {
      functionDeclaration: ANSWER,
      objectId: String(result.objectId),
      arguments: [{ value: lengths }, { value: problem }],
    });
  session.on("Runtime.bindingCalled", async ({ name, payload }) => {
    if (name !== BINDING || !open) return;
    const lengths = await answerAsked(networks, file, payload, () => open).catch(String);
    // A page that has closed needs no answer.
    if (open)
      await (typeof lengths === "string" ? answer([], lengths) : answer(lengths, null)).catch(() => {});
  });
  await allowToAsk(session);
  return () => {
    open = false;
  };
}

async function allowToAsk(session: CDPSession): Promise<void> {
  await session.send("Runtime.enable");
  await session.send("Runtime.addBinding", { name: BINDING });
}

/** Runs the network the page asked for; returns the number of floats in each output. */
async function answerAsked(
  networks: Networks,
  file: number,
  payload: string,
  isOpen: () => boolean,
): Promise<number[]> {
  const { network, width, height } = parsedRequest(payload);
  const rgb = new Uint8Array(width * height * 3);
  if (readSync(file, rgb, 0, rgb.length, 0) !== rgb.length) throw new Error("The picture is not whole.");
  const outputs = await networks.run(network, { rgb, width, height });
  if (!isOpen()) return [];
  let at = 0;
  for (const output of outputs) at += writeSync(file, output, 0, output.byteLength, at);
  return outputs.map(({ length }) => length);
}

/** The page decodes untrusted bytes, so its requests are validated. */
function parsedRequest(payload: string): Omit<NetworkPicture, "rgb"> & { network: NetworkName } {
  const { network, width, height } = JSON.parse(payload);
  const isSide = (side: unknown) => Number.isInteger(side) && Number(side) > 0;
  if (!isNetwork(String(network))) throw new Error(`There is no network ${network}.`);
  if (!isSide(width) || !isSide(height) || width * height > MAX_NETWORK_PICTURE_PIXELS)
    throw new Error(`No network takes ${width} x ${height} pixels.`);
  return { network, width, height };
}
