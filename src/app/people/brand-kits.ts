import { colourNamed } from "../../core/colour-names.ts";
import { Refusal } from "../../core/errors.ts";
import { KIT_BADGE_LIFETIME_MS, MAX_ACCOUNT_NAME_CHARS, MAX_BRAND_KITS } from "../../core/limits.ts";
import { checkedName } from "../../core/name.ts";
import { uploadAt } from "../../core/own-photos.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { samplePhotoUrl } from "../../core/sample-photo.ts";
import { expirePhoto, findPhoto } from "../../store/images/photos.ts";
import {
  type BrandKit,
  countKits,
  deleteKit,
  findKit,
  isBadgeOfKit,
  isKitNameTaken,
  putKit,
} from "../../store/people/brand-kits.ts";
import type { Tx } from "../../store/store.ts";
import type { AppContext } from "../context.ts";
import { type CardTemplates, checkCard } from "../images/check-card.ts";
import { logAction } from "../operations/activity.ts";

/** What a kit says of a card; empty text leaves it to the card. */
export type KitStyle = Omit<BrandKit, "id" | "accountId" | "createdAt" | "updatedAt">;

interface KitDeps extends AppContext {
  templates: CardTemplates;
}

interface KitCommand {
  accountId: string;
  /** Who saves it. */
  by: string;
  /** The kit to write over; absent for a new one. */
  id?: string | undefined;
  style: KitStyle;
}

/**
 * The kit as it is saved, checked as a card that asks for it would be. Throws INVALID_REQUEST by its fields.
 */
async function checkedKit(deps: KitDeps, style: KitStyle): Promise<KitStyle> {
  const name = checkedName("name of the kit", style.name, MAX_ACCOUNT_NAME_CHARS);
  const colour = (text: string) => colourNamed(text) ?? text.toUpperCase();
  const kit = {
    ...style,
    name,
    primaryColor: style.primaryColor === "" ? "" : colour(style.primaryColor),
    secondaryColor: style.secondaryColor === "" ? "" : colour(style.secondaryColor),
  };
  const { details } = await checkCard(sampleWith(kit, deps), deps.config, deps.templates);
  if (details) throw invalidRequest(details);
  return kit;
}

/** The kit that is written over, if one is. Throws INVALID_REQUEST where there is no place for this one. */
async function kitBefore(
  tx: Tx,
  { accountId, id }: Pick<KitCommand, "accountId" | "id">,
  name: string,
): Promise<BrandKit | undefined> {
  const before = id === undefined ? undefined : await findKit(tx, { accountId, id });
  if (id !== undefined && !before)
    throw new Refusal("INVALID_REQUEST", "The kit was deleted meanwhile. Make a new one.");
  if (!before && (await countKits(tx, accountId)) >= MAX_BRAND_KITS)
    throw new Refusal(
      "INVALID_REQUEST",
      `An account has at most ${MAX_BRAND_KITS} brand kits. Delete one that is of no use any more.`,
    );
  if (await isKitNameTaken(tx, { accountId, id: id ?? "", name }))
    throw new Refusal("INVALID_REQUEST", `There is a kit called ${name} already. Choose another name.`);
  return before;
}

/** Saves a brand kit. Throws INVALID_REQUEST. */
export async function saveKit(deps: KitDeps, { accountId, by, id, style }: KitCommand): Promise<BrandKit> {
  const { store, clock, random } = deps;
  const kit = await checkedKit(deps, style);
  const { name } = kit;
  return store.write("save kit", async (tx) => {
    const now = clock.now();
    const before = await kitBefore(tx, { accountId, id }, name);
    const saved: BrandKit = {
      ...kit,
      id: before?.id ?? random.id("kit"),
      accountId,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    await putKit(tx, saved);
    await keepBadge(tx, deps, saved, now);
    if (before && before.badgeUrl !== saved.badgeUrl) await dropBadge(tx, deps, before, now);
    await logAction(tx, { by, accountId, action: "kit.saved", subject: name }, { now, random });
    return saved;
  });
}

/** Deletes a brand kit; cards made with it stay as they are. */
export async function removeKit(
  deps: AppContext,
  { accountId, by, id }: { accountId: string; by: string; id: string },
): Promise<void> {
  const { store, clock, random } = deps;
  await store.write("delete kit", async (tx) => {
    const now = clock.now();
    const gone = await deleteKit(tx, { accountId, id });
    if (!gone) return;
    await dropBadge(tx, deps, gone, now);
    await logAction(tx, { by, accountId, action: "kit.deleted", subject: gone.name }, { now, random });
  });
}

/** A badge that was sent to this service stays as long as its kit, however it came here. */
async function keepBadge(
  tx: Tx,
  { config }: AppContext,
  { accountId, badgeUrl }: BrandKit,
  now: number,
): Promise<void> {
  const id = uploadAt(badgeUrl, config);
  const photo = id && (await findPhoto(tx, { accountId, environment: "live", id, now }));
  if (photo) await expirePhoto(tx, { accountId, id: photo.id, at: now + KIT_BADGE_LIFETIME_MS });
}

/** A badge that was sent to this service is kept for kits alone, and as long as one has it. */
async function dropBadge(
  tx: Tx,
  { config }: AppContext,
  { accountId, badgeUrl }: BrandKit,
  now: number,
): Promise<void> {
  const id = uploadAt(badgeUrl, config);
  if (id === undefined || (await isBadgeOfKit(tx, { accountId, badgeUrl }))) return;
  await expirePhoto(tx, { accountId, id, at: now });
}

/** What a kit says, as a create request names it; what it leaves to the card is absent. */
export function kitFields(kit: KitStyle): {
  style: { background_theme?: string; composition?: string };
  branding: { primary_color?: string; secondary_color?: string; club_badge_url?: string };
} {
  const given = (entries: Record<string, string>) =>
    Object.fromEntries(Object.entries(entries).filter(([, text]) => text !== ""));
  return {
    style: given({ background_theme: kit.backgroundTheme, composition: kit.composition }),
    branding: given({
      primary_color: kit.primaryColor,
      secondary_color: kit.secondaryColor,
      club_badge_url: kit.badgeUrl,
    }),
  };
}

/** A card of somebody with what a kit says. */
function sampleWith(kit: KitStyle, { config }: AppContext): unknown {
  const { style, branding } = kitFields(kit);
  return {
    type: "player_card",
    player: {
      external_id: "kit",
      name: "Kit",
      position: "ST",
      number: 9,
      skill_level: 80,
      source_image_url: samplePhotoUrl(config),
    },
    style: { preset: kit.preset, ...style },
    branding,
  };
}
