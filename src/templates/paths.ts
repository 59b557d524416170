import type { Field } from "./fields.ts";
import type { TemplateManifest } from "./manifest.ts";

/** What every card knows about its player, as named in `data-text`. */
const PLAYER_PATHS = [
  "player.name",
  "player.first_name",
  "player.last_name",
  "player.position",
  "player.position_name",
  "player.number",
  "player.skill_level",
  "player.external_id",
] as const;

/** What a card of a set says of it; nothing of these on other cards. */
const SET_PATHS = ["set.name", "set.season", "set.parallel", "serial"] as const;

/** Optional things besides texts: a partner's badge, colours and theme, and the cut-out photo. */
export const FLAGS = ["badge", "photo", "brand", "theme"] as const;

const PICTURES = ["player", "photo", "badge", "scene", "shadow", "light", "outline", "backdrop"] as const;

export const ZONES = ["face", "body", "frame", "safe", "stage", "rating"] as const;
export type ZoneName = (typeof ZONES)[number];

/** The paths a card.html may name. */
export interface KnownPaths {
  texts: ReadonlySet<string>;
  conditions: ReadonlySet<string>;
  /** What an `<img>` may show: PICTURES, and the codes and pictures among the template's own fields. */
  pictures: ReadonlySet<string>;
  /** The columns of each list, by the list's path. */
  lists: ReadonlyMap<string, Readonly<Record<string, Field>>>;
}

/** The available paths for a template with this manifest. */
export function knownPaths(manifest: Pick<TemplateManifest, "fields">): KnownPaths {
  const texts = new Set<string>([...PLAYER_PATHS, ...SET_PATHS, "theme.text"]);
  const conditions = new Set<string>([...texts, ...FLAGS]);
  const pictures = new Set<string>(PICTURES);
  const lists = new Map<string, Record<string, Field>>();
  for (const [name, field] of Object.entries(manifest.fields ?? {})) {
    const path = `fields.${name}`;
    conditions.add(path);
    if (field.type === "list") lists.set(path, field.of);
    else if (field.type !== "image") texts.add(path);
    if (field.type === "qr" || field.type === "image") pictures.add(path);
  }
  return { texts, conditions, pictures, lists };
}
