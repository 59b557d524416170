/** @jsxImportSource preact */
import type { Static } from "@sinclair/typebox";
import { cardsOfBatch } from "../../app/sets/fill-set.ts";
import { makeSet, type NewSet } from "../../app/sets/manage-sets.ts";
import { ENVIRONMENTS, type Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { storedRequest } from "../../core/image-request.ts";
import { MAX_ACCOUNT_NAME_CHARS, MAX_SEASON_CHARS } from "../../core/limits.ts";
import { formatPosition, parsePosition } from "../../core/list-position.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { compileValidator } from "../../core/validate.ts";
import { CreateSetRequest } from "../../http/set-schemas.ts";
import { newSet } from "../../http/sets.ts";
import { type Batch, findBatch } from "../../store/images/batches.ts";
import { type CardSet, listSets } from "../../store/sets/card-sets.ts";
import {
  Breakable,
  Card,
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
import { ParallelRows, type SentParallel, sentParallels } from "./parallel-rows.tsx";
import { fillPath, parallelsOf, problemOf } from "./set-words.ts";

const PAGE_SIZE = 25;

/** What a form says of a new set. */
interface SentSet {
  name: string;
  season: string;
  environment: string;
  parallels: SentParallel[];
  players: string;
  /** The batch whose players these are, of which cards are made next. */
  from: string;
}

const EMPTY: SentSet = {
  name: "",
  season: "",
  environment: "live",
  parallels: [
    { name: "base", size: "", until: "" },
    { name: "gold", size: "50", until: "" },
  ],
  players: "",
  from: "",
};

function SetForm({ visit, of }: { visit: MemberVisit; of: SentSet }) {
  return (
    <PostForm visit={visit} action="/console/sets" class="form" id="new">
      <input type="hidden" name="from" value={of.from} />
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
      <ParallelRows parallels={of.parallels} />
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

/** The batch that a new set is to have the players of. */
async function batchOf({ deps, account, query }: MemberVisit): Promise<Batch | undefined> {
  const id = query.get("from") ?? "";
  for (const environment of id === "" ? [] : ENVIRONMENTS) {
    const batch = await findBatch(deps.store.read, { accountId: account.id, environment, id });
    if (batch) return batch;
  }
  return undefined;
}

/** The form as it is opened: with the players of a batch, or empty. */
async function formOf(
  { deps }: MemberVisit,
  batch: Batch | undefined,
  environment: Environment,
): Promise<SentSet> {
  if (!batch) return { ...EMPTY, environment };
  const cell = (text: string) => text.replaceAll(/[,;\t\r\n]+/g, " ");
  const players = (await cardsOfBatch(deps, batch.id)).map(({ request, externalId }) => {
    const { name, number } = storedRequest(request).player;
    return [externalId, cell(name), number].join(", ");
  });
  return { ...EMPTY, environment, players: players.join("\n"), from: batch.id };
}

async function setsPage(visit: MemberVisit, sent?: { of: SentSet; problem: string }): Promise<Response> {
  const { deps, account, query } = visit;
  const batch = await batchOf(visit);
  const asked = sent?.of.environment ?? query.get("environment") ?? batch?.environment;
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
            A set is for cards that people collect. Each player has a base card and rarer ones, of which there
            are, say, 50 in gold, numbered from 1/50 to 50/50. From it come a checklist and an album to print,
            packs, and <a href="/docs/sets#a-gallery">a gallery that your website can show</a>. Write below
            who is in it, or open a <a href="/console/batches">squad</a> and make a set of its cards.
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
          <SetForm visit={visit} of={sent?.of ?? (await formOf(visit, batch, environment))} />
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

/** What the form says, as the API takes it. Throws INVALID_REQUEST. */
function readSet({ name, season, parallels, players }: SentSet): NewSet {
  const lines = (text: string) => text.split(/\r?\n/).flatMap((line) => line.trim() || []);
  const body = {
    name,
    ...(season === "" ? {} : { season }),
    parallels: parallels.map(({ name, size, until }) => ({
      name,
      size: size === "" ? null : Number(size),
      ...(until === "" ? {} : { closes_at: `${until}:00Z` }),
    })),
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

/** A field of the body as the person who filled in the form finds it: "players.2.number" is line 3. */
function inWords(path: string): string {
  const [list, at, own] = path.split(".");
  if (at === undefined) return list === "players" ? "The checklist" : `The field ${list}`;
  if (list === "parallels")
    return `Parallel ${Number(at) + 1}: ${own?.replace("closes_at", "its end") ?? ""}`;
  return `Line ${Number(at) + 1} of the checklist: ${own?.replace("external_id", "the id") ?? ""}`;
}

async function make(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, session, exchange } = visit;
  const of: SentSet = {
    name: field(visit, "name"),
    season: field(visit, "season"),
    environment: field(visit, "environment") === "live" ? "live" : "test",
    parallels: sentParallels(visit.form),
    players: field(visit, "players"),
    from: field(visit, "from"),
  };
  try {
    const scope = { accountId: account.id, environment: of.environment as Environment };
    const { set } = await makeSet(deps, scope, readSet(of), { by: user.id });
    await visit.flashes.put(session.id, { notice: `The set ${set.name} is made.` });
    const [first] = set.parallels;
    // A user who came from cards goes on to make them.
    const isOfCards = of.from !== "" && first !== undefined;
    return redirect(isOfCards ? fillPath(set, first.name, of.from) : `/console/sets/${set.id}`, exchange);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return setsPage(visit, { of, problem: problemOf(error) });
  }
}

export const setsRoutes = [
  member.get("/console/sets", (visit) => setsPage(visit)),
  member.post("/console/sets", make),
];
