import { MOVING_FORMATS, type MovingFormat } from "../../core/card.ts";
import { type CreateImageRequest, storedRequestValidator } from "../../core/image-request.ts";
import { latestImages } from "../../store/images/image-search.ts";
import type { Image } from "../../store/images/images.ts";
import { findKit, listKits } from "../../store/people/brand-kits.ts";
import { isPrintSize } from "../choices.tsx";
import type { MemberVisit } from "../visit.ts";
import { isThere } from "./image-parts.tsx";
import { type MakeState, OF_THE_TEAM, requestFrom, sizesOf, stateOf, withKit } from "./make-form.ts";
import { fieldsOf } from "./playground-form.ts";
import { formFacts } from "./playground-inputs.tsx";
import { inputsOf } from "./playground-own.tsx";

// The player of the match: a card and its clip of somebody who has a card, in the look of the last one.

/** Among how many of the newest images players, and the look of the last match, are looked for. */
const IMAGES_READ = 300;

/** What the cards of this page carry as metadata, by which the next one finds their look. */
const OCCASION = { occasion: "player_of_the_match" };

/** Fields of templates that are about the match or the team, and stay from one match to the next. */
const OF_THE_MATCH = [
  ...OF_THE_TEAM,
  "home",
  "away",
  "opponent",
  "competition",
  "date",
  "kick_off",
  "venue",
  "ground",
];

/** Somebody who has a card: the newest one that can be looked at, or that there is. */
export interface KnownPlayer {
  image: Image;
  request: CreateImageRequest;
}

/** The last player of a match: what their card was asked for with, and how it moves. */
interface LastMatch {
  request: CreateImageRequest;
  clip: MovingFormat | undefined;
}

interface Known {
  /** By shirt number. */
  players: KnownPlayer[];
  last: LastMatch | undefined;
}

/** Whom the newest images show, and how the last player of a match looked. */
export async function knownPlayers({ deps, account }: MemberVisit): Promise<Known> {
  const images = await latestImages(deps.store.read, { accountId: account.id, limit: IMAGES_READ });
  const known = images.flatMap((image): KnownPlayer[] => {
    const request = storedRequestValidator.check(image.request);
    return request.ok ? [{ image, request: request.value }] : [];
  });
  const ofMatches = known.filter(({ request }) => request.metadata?.occasion === OCCASION.occasion);
  const clip = ofMatches.flatMap(({ request }) => movingFormat(request.style.format)).at(0);
  const last = ofMatches[0] && { request: ofMatches[0].request, clip };
  const byId = new Map<string, KnownPlayer>();
  for (const one of known.toSorted((a, b) => rankOf(b) - rankOf(a)))
    if (!byId.has(one.image.externalId)) byId.set(one.image.externalId, one);
  const players = [...byId.values()].sort(byNumber);
  return { players, last };
}

const movingFormat = (format: string | undefined) => MOVING_FORMATS.filter((one) => one === format);

/** Live cards show the player, and finished ones are there to be seen. */
const rankOf = ({ image }: KnownPlayer) => (image.environment === "live" ? 2 : 0) + (isThere(image) ? 1 : 0);

/** Who has no card to be seen comes last: the photo would be refused once more. */
function byNumber(first: KnownPlayer, second: KnownPlayer): number {
  const [one, other] = [first.request.player, second.request.player];
  const seen = Number(isThere(second.image)) - Number(isThere(first.image));
  return seen || one.number - other.number || (one.name < other.name ? -1 : 1);
}

/** What may be chosen beside the player; empty or null for as last time. */
export interface MatchChoices {
  preset: string;
  kit: string | null;
  size: string;
  clip: string;
  publish_on: string;
  publish_zone: string;
}

export const choicesIn = (sent: URLSearchParams): MatchChoices => ({
  preset: sent.get("preset") ?? "",
  kit: sent.get("kit"),
  size: sent.get("size") ?? "",
  clip: sent.get("clip") ?? "",
  publish_on: sent.get("publish_on") ?? "",
  publish_zone: sent.get("publish_zone") ?? "",
});

export interface MatchState extends MakeState {
  /** How the clip is made. */
  clip: MovingFormat;
  /** The sizes in which a card can move. */
  sizes: [label: string, px: string][];
}

/** The form for one player: who it is from their own card, how it looks from the last match. */
export async function matchState(
  visit: MemberVisit,
  { request }: KnownPlayer,
  { last, ...choices }: MatchChoices & Pick<Known, "last">,
): Promise<MatchState> {
  const facts = await formFacts(visit);
  const player = fieldsOf(request, facts);
  const { external_id, name, position, number, skill_level, source_image_url, focus } = player;
  const look = last ? fieldsOf(last.request, facts) : player;
  const kit = await kitFor(visit, choices.kit, last);
  const kept = withKit(look, kit, facts.presets);
  const fields = {
    ...kept,
    ...{ external_id, name, position, number, skill_level, source_image_url, focus },
    preset: facts.presets.find((one) => one === choices.preset) ?? kept.preset,
    // The number in a set and the back belong to the card that is collected.
    set: "",
    back: "",
    // As a png and as it moves, it has no layers either.
    layers: "",
    publish_on: choices.publish_on,
    publish_zone: choices.publish_zone,
  };
  const ofMatch = Object.entries(inputsOf(last?.request.fields)).filter(([input]) =>
    OF_THE_MATCH.some((one) => input === `fields.${one}`),
  );
  const own = { ...inputsOf(request.fields), ...Object.fromEntries(ofMatch) };
  const state = await stateOf(visit, { fields, own, kit: kit?.id ?? "" });
  const sizes = sizesOf(state.look).filter(([, px]) => !isPrintSize(px));
  const wanted = [choices.size, `${look.width}x${look.height}`];
  const size = wanted.find((px) => sizes.some(([, known]) => known === px)) ?? sizes[0]?.[1];
  const [width = "", height = ""] = (size ?? ANY_SIZE).split("x");
  const clip = movingFormat(choices.clip)[0] ?? last?.clip ?? "webm";
  return { ...state, fields: { ...state.fields, width, height }, clip, sizes };
}

/** Of a template whose own sizes are all for print. */
const ANY_SIZE = "1024x1280";

async function kitFor({ deps, account }: MemberVisit, chosen: string | null, last: LastMatch | undefined) {
  if (chosen) return findKit(deps.store.read, { accountId: account.id, id: chosen });
  if (chosen === "" || last) return undefined;
  const kits = await listKits(deps.store.read, account.id);
  return kits.length === 1 ? kits[0] : undefined;
}

/** The bodies of the two creates, unchecked: the card as it stands, and as it moves. */
export function requestsFrom(state: MatchState): { still: unknown; clip: unknown } {
  const as = (format: string) => ({
    ...(requestFrom({ ...state, fields: { ...state.fields, format } }) as object),
    metadata: OCCASION,
  });
  return { still: as("png"), clip: as(state.clip) };
}
