import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Photos with one player each. */
const PLAYERS = ["astronaut.png", "skier.jpg", "yoga.jpg", "unsplash_man.jpg", "astronaut_dark.png"];
/**
 * A server of endlessly many photos: bytes appended to a picture make it a different file that looks the
 * same.
 * @param newShare fraction of the cards whose photo has never been seen before, for which the networks run
 */
export function manyPhotos(newShare: number) {
  const folder = join(import.meta.dir, "../../test/photos");
  const files = PLAYERS.map((name) => readFileSync(join(folder, name)));
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const [, which = "0", mark = ""] = new URL(request.url).pathname.split("/");
      const photo = files[Number(which) % files.length] ?? Buffer.alloc(0);
      return new Response(Buffer.concat([photo, Buffer.from(mark === "same" ? "" : `\n${mark}`)]));
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  return {
    origin,
    url: (n: number, chance: number) => `${origin}/${n % files.length}/${chance < newShare ? n : "same"}`,
    stop: () => server.stop(true),
  };
}
