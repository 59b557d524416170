import { createHmac } from "node:crypto";

const api = "{{base_url}}";
const keyId = process.env.CARDPRESS_KEY_ID ?? "";
const secret = process.env.CARDPRESS_SIGNING_SECRET ?? "";

/** The address of a card that is made when somebody opens it. */
function cardAddress(preset: string, card: Record<string, string | number>, days = 30): string {
  const exp = Math.floor(Date.now() / 1000) + days * 86_400;
  const pairs = Object.entries({ ...card, key: keyId, exp }).map(([name, value]): [string, string] => [
    encoded(name),
    encoded(value),
  ]);
  pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  const text = `/v1/render/${preset}?${pairs.map((pair) => pair.join("=")).join("&")}`;
  return `${api}${text}&sig=${createHmac("sha256", secret).update(text).digest("hex")}`;
}

/** As RFC 3986 says: all but letters, digits and -._~ is percent-encoded. */
function encoded(value: string | number): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

console.log(
  cardAddress("{{preset}}", {
    external_id: "player-10442",
    name: "Eileen O'Collins",
    position: "ST",
    number: 9,
    skill_level: 87,
    photo: `${api}/docs/samples/player.png`,
    background_theme: "stadium night",
    format: "jpeg",
  }),
);
