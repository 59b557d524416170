/** @jsxImportSource preact */
import type { Static } from "@sinclair/typebox";
import { makeSet, type NewSet } from "../../app/sets/manage-sets.ts";
import { ENVIRONMENTS, type Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_ACCOUNT_NAME_CHARS, MAX_SEASON_CHARS } from "../../core/limits.ts";
import { formatPosition, parsePosition } from "../../core/list-position.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { isoTime } from "../../core/time.ts";
import { compileValidator } from "../../core/validate.ts";
import { CreateSetRequest } from "../../http/set-schemas.ts";
import { newSet } from "../../http/sets.ts";
import { type CardSet, listSets } from "../../store/sets/card-sets.ts";
import {
  Breakable,
  Card,
  count,
  Empty,
  EnvironmentChoice,
  EnvironmentSegments,
  Field,
  Notice,
  PageHead,
  Pager,
  PostForm,
  Time,
} from "../elements.tsx";
import { shell } from "../layout.tsx";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { Example } from "../ways.tsx";

const PAGE_SIZE = 25;

/** The sizes of a set's parallels in one line. */
export const parallelsOf = ({ parallels }: Pick<CardSet, "parallels">) =>
  parallels
    .map(({ name, size, closesAt }) => {
      if (closesAt !== undefined)
        return `${name} until ${isoTime(closesAt).slice(0, 16).replace("T", " ")} UTC`;
      return size === null ? name : `${name} of ${count(size)}`;
    })
    .join(", ");

/** What a form says of a new set. */
interface SentSet {
  name: string;
  season: string;
  environment: string;
  parallels: string;
  players: string;
}

const EMPTY: SentSet = { name: "", season: "", environment: "live", parallels: "base\ngold 50", players: "" };

function SetForm({ visit, of }: { visit: MemberVisit; of: SentSet }) {
  return (
    <PostForm visit={visit} action="/console/sets" class="form">
      <div class="field-pair">
        <Field label="Name" id="name" hint="As cards show it.">
          <input
            id="name"
            name="name"
            type="text"
            required
            value={of.name}
            maxLength={MAX_ACCOUNT_NAME_CHARS}
            aria-describedby="name-hint"
          />
        </Field>
        <Field label="Season" id="season" hint="Such as 2026/27; may be empty.">
          <input
            id="season"
            name="season"
            type="text"
            value={of.season}
            maxLength={MAX_SEASON_CHARS}
            aria-describedby="season-hint"
          />
        </Field>
      </div>
      <EnvironmentChoice chosen={of.environment} />
      <Field
        label="Parallels"
        id="parallels"
        hint="One a line, with how many cards of each player it has at the end; without one there is no limit, and no numbers. An open edition says until when instead, such as match day until 2026-12-06 18:00 (UTC): its cards are numbered, and counted when it closes."
      >
        <textarea id="parallels" name="parallels" required rows={4} aria-describedby="parallels-hint">
          {of.parallels}
        </textarea>
      </Field>
      <Field
        label="Checklist"
        id="players"
        hint="One player a line: your id, and if you like name and shirt number, with commas between them."
      >
        <textarea
          id="players"
          name="players"
          required
          rows={8}
          placeholder="player-10442, Maya Okafor, 9"
          aria-describedby="players-hint"
        >
          {of.players}
        </textarea>
      </Field>
      <div class="actions">
        <button type="submit" class="button button-primary">
          Make the set
        </button>
      </div>
    </PostForm>
  );
}

async function setsPage(visit: MemberVisit, sent?: { of: SentSet; problem: string }): Promise<Response> {
  const { deps, account, query } = visit;
  const asked = sent?.of.environment ?? query.get("environment");
  const environment: Environment = ENVIRONMENTS.find((known) => known === asked) ?? "live";
  const after = parsePosition(query.get("after") ?? "");
  const scope = { accountId: account.id, environment };
  const found = await listSets(deps.store.read, { ...scope, after, limit: PAGE_SIZE + 1 });
  const sets = found.slice(0, PAGE_SIZE);
  const last = sets.at(-1);
  const address = (change: Record<string, string> = {}) =>
    `/console/sets?${new URLSearchParams({ environment, ...change })}`;
  return shell(
    visit,
    "Sets",
    <>
      <PageHead
        title="Sets"
        lead="The cards of a season: who is in it, in which versions, and which number each card has."
      />
      <div class="toolbar">
        <EnvironmentSegments environment={environment} href={(name) => address({ environment: name })} />
      </div>
      <Card flush>
        {sets.length === 0 ? (
          <Empty
            title={`No ${environment} sets yet`}
            picture={<Example name="squad" />}
            action={
              <a class="button" href="/docs/sets">
                Read about sets
              </a>
            }
          >
            A set is for cards that people collect: of 50 gold ones each has its own number, from 1 to 50.
            Write below who is in it and in which versions. Then choose the set where you upload a squad list,
            or name it in calls of the API.
          </Empty>
        ) : (
          <SetTable sets={sets} />
        )}
      </Card>
      <Pager
        newest={after && address()}
        older={found.length > PAGE_SIZE && last && address({ after: formatPosition(last) })}
      />
      {canWrite(visit) && (
        <Card title="New set" note="It costs nothing, and never changes once it is made.">
          {sent && <Notice tone="bad">{sent.problem}</Notice>}
          <SetForm visit={visit} of={sent?.of ?? { ...EMPTY, environment }} />
        </Card>
      )}
    </>,
    { status: sent ? 422 : 200 },
  );
}

function SetTable({ sets }: { sets: CardSet[] }) {
  return (
    <table class="table">
      <caption class="visually-hidden">Sets</caption>
      <thead>
        <tr>
          <th scope="col">Set</th>
          <th scope="col">Season</th>
          <th scope="col">Parallels</th>
          <th scope="col">Made</th>
        </tr>
      </thead>
      <tbody>
        {sets.map((set) => (
          <tr key={set.id}>
            <th scope="row">
              <a href={`/console/sets/${set.id}`}>
                <Breakable text={set.name} />
              </a>
            </th>
            <td data-label="Season">{set.season || "–"}</td>
            <td data-label="Parallels">
              <Breakable text={parallelsOf(set)} />
            </td>
            <td data-label="Made">
              <Time at={set.createdAt} style="relative" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const validator = compileValidator(CreateSetRequest, "the set");

/** Such as "match day until 2026-12-06 18:00"; without a time the whole day. */
const OPEN_EDITION = /^(.*?\S)\s+until\s+(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}))?(?:\s*(?:UTC|Z))?$/i;

/** What the form says, as the API takes it. Throws INVALID_REQUEST. */
function readSet({ name, season, parallels, players }: SentSet): NewSet {
  const lines = (text: string) => text.split(/\r?\n/).flatMap((line) => line.trim() || []);
  const body = {
    name,
    ...(season === "" ? {} : { season }),
    parallels: lines(parallels).map((line) => {
      const [, edition, day, time = "23:59"] = OPEN_EDITION.exec(line) ?? [];
      if (edition) return { name: edition, size: null, closes_at: `${day}T${time}:00Z` };
      const [, called = line, size] = /^(.*?\S)\s+(?:of\s+)?(\d+)$/.exec(line) ?? [];
      return { name: called, size: size === undefined ? null : Number(size) };
    }),
    players: lines(players).map((line) => {
      const [id = "", called = "", number = ""] = line.split(/[,;\t]/).map((cell) => cell.trim());
      return {
        external_id: id,
        ...(called === "" ? {} : { name: called }),
        ...(number === "" ? {} : { number: Number(number) }),
      };
    }),
  };
  const checked = validator.check(body);
  if (!checked.ok)
    throw invalidRequest(checked.details.map((one) => ({ ...one, field: inWords(one.field) })));
  return newSet(checked.value as Static<typeof CreateSetRequest>);
}

/** A field of the body as whoever filled in the form finds it: "players.2.number" is line 3. */
function inWords(path: string): string {
  const [list, at, own] = path.split(".");
  if (at === undefined) return list === "players" ? "The checklist" : `The field ${list}`;
  return `Line ${Number(at) + 1} of the ${list === "players" ? "checklist" : "parallels"}: ${own?.replace("external_id", "the id") ?? ""}`;
}

/** Why a set or its packs were refused. */
export const problemOf = ({ message, details = [] }: Refusal) =>
  details.length > 0 ? details.map((one) => `${one.field} ${one.message}`).join(" ") : message;

async function make(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, session, exchange } = visit;
  const of: SentSet = {
    name: field(visit, "name"),
    season: field(visit, "season"),
    environment: field(visit, "environment") === "live" ? "live" : "test",
    parallels: field(visit, "parallels"),
    players: field(visit, "players"),
  };
  try {
    const scope = { accountId: account.id, environment: of.environment as Environment };
    const { set } = await makeSet(deps, scope, readSet(of), { by: user.id });
    await visit.flashes.put(session.id, { notice: `The set ${set.name} is made.` });
    return redirect(`/console/sets/${set.id}`, exchange);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return setsPage(visit, { of, problem: problemOf(error) });
  }
}

export const setsRoutes = [
  member.get("/console/sets", (visit) => setsPage(visit)),
  member.post("/console/sets", make),
];
