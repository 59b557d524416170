/** What an address of an on-demand picture needs besides the card. */
export interface AddressOptions {
  /** The service's address, such as `https://cards.example.org`. */
  baseUrl: string;
  /** The id of the key that signs: `key_...`. */
  keyId: string;
  /** The key's signing secret, not the key. */
  secret: string;
  /** When the address expires, at most 366 days ahead; a number is Unix time in seconds. */
  expires: Date | number;
}

/**
 * A card in an address, without what is null; `fields.NAME` are those of the preset, `metadata.KEY` your own.
 */
export interface AddressCard {
  preset: string;
  external_id: string;
  name: string;
  position: string;
  number: number;
  skill_level: number;
  /** Address of the photo. */
  photo: string;
  /** Address of the badge. */
  badge?: string | null | undefined;
  width?: number;
  height?: number;
  /** Smaller, in pixels. It is signed with the rest: appended to a finished address it would break it. */
  w?: 256 | 512 | 1024;
  format?: "png" | "webp" | "jpeg";
  /** Which side the address gives of a card with both; without it the card has its front alone. */
  side?: "front" | "back";
  background_theme?: string | null | undefined;
  composition?: string | null | undefined;
  primary_color?: string | null | undefined;
  secondary_color?: string | null | undefined;
  [own: `fields.${string}` | `metadata.${string}`]: string | number | boolean | null | undefined;
}

/**
 * The address of a card that is made when somebody opens it, for pages and mails: it can be shown to anybody,
 * and nothing in it can be changed.
 */
export async function signedCardUrl(card: AddressCard, options: AddressOptions): Promise<string> {
  const { preset, ...parameters } = card;
  const { expires } = options;
  const exp = typeof expires === "number" ? expires : Math.floor(expires.getTime() / 1000);
  const pairs = Object.entries({ ...parameters, key: options.keyId, exp })
    .flatMap(([name, value]) => (value == null ? [] : [[encoded(name), encoded(value)] as const]))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const path = `/v1/render/${encoded(preset)}`;
  const text = `${path}?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`;
  const bytes = (of: string) => new TextEncoder().encode(of);
  const key = await crypto.subtle.importKey(
    "raw",
    bytes(options.secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(text)));
  const hex = Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${options.baseUrl.replace(/\/+$/, "")}${text}&sig=${hex}`;
}

/** As RFC 3986 says: `encodeURIComponent` leaves five more letters as they are. */
function encoded(value: string | number | boolean): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
