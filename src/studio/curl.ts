import { curlCreate } from "../http/curl.ts";
import { type Fields, imageFields } from "../templates/fields.ts";

/** What the studio adds to turn a sample into a request: the addresses only a partner knows. */
export interface CurlOptions {
  baseUrl: string;
  preset: string;
  size: readonly [width: number, height: number];
  format: string;
  /** The template's own fields. */
  fields: Fields | undefined;
}

type Body = Record<string, Record<string, unknown> | undefined>;

/**
 * A command that requests the shown card from a cardpress service. Photo, badge and pictures are placeholder
 * addresses and the key is read from the environment, since the studio knows none of them.
 */
export function curlCommand(sample: Body, { baseUrl, preset, size, format, fields }: CurlOptions): string {
  const { photo: _, ...player } = sample.player ?? {};
  const { badge, ...branding } = sample.branding ?? {};
  const body = {
    type: "player_card",
    player: { external_id: "player-1", ...player, source_image_url: "https://example.com/photo.jpg" },
    style: { ...sample.style, preset, width: size[0], height: size[1], format },
    ...(Object.keys(branding).length > 0 || badge
      ? { branding: { ...(badge ? { club_badge_url: "https://example.com/badge.png" } : {}), ...branding } }
      : {}),
    ...(sample.fields ? { fields: withAddresses(sample.fields, imageFields(fields)) } : {}),
  };
  return curlCreate(baseUrl, body);
}

/** The fields, with addresses for pictures that the sample names as files; an empty name is none. */
function withAddresses(
  fields: Record<string, unknown>,
  pictures: readonly string[],
): Record<string, unknown> {
  const sent = Object.entries(fields).filter(([name, value]) => !pictures.includes(name) || value);
  return Object.fromEntries(
    sent.map(([name, value]) => [name, pictures.includes(name) ? `https://example.com/${name}.png` : value]),
  );
}
