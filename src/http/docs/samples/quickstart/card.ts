import { randomUUID } from "node:crypto";

const api = "{{base_url}}";
const key = process.env.CARDPRESS_KEY ?? "";

async function call(path: string, init: RequestInit = {}) {
  const headers = { ...init.headers, "X-API-Key": key };
  const response = await fetch(api + path, { ...init, headers });
  const { success, data, error } = await response.json();
  if (!success) throw new Error(`${error.code}: ${error.message} (${error.request_id})`);
  return data;
}

let image = await call("/v1/images", {
  method: "POST",
  headers: { "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
  body: JSON.stringify({
    type: "player_card",
    player: {
      external_id: "player-10442",
      name: "Eileen Collins",
      position: "ST",
      number: 9,
      skill_level: 87,
      source_image_url: `${api}/docs/samples/player.png`,
    },
    style: { preset: "{{preset}}", background_theme: "stadium night" },
  }),
});

while (image.status === "processing") {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  image = await call(`/v1/images/${image.image_id}`);
}
if (image.status === "failed") throw new Error(image.failure.message);
console.log(image.result.image_url);
