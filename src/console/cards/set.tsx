/** @jsxImportSource preact */

import { SHEET_NAMES } from "../../app/print/imposition.ts";
import { type ChecklistEntry, checklistOf, removeSet } from "../../app/sets/manage-sets.ts";
import { manifestOf, packsOf } from "../../app/sets/set-files.ts";
import { albumPages, checklistPages } from "../../app/sets/set-pages.ts";
import { isClosed, setAttachment } from "../../core/card-set.ts";
import { csvField } from "../../core/csv.ts";
import { Refusal } from "../../core/errors.ts";
import { PRINT_SIZE_NAMES, printSizeLabel } from "../../core/print-sizes.ts";
import { readPackWish, readPagesWish } from "../../http/sets.ts";
import { type CardSet, playersOfSet } from "../../store/sets/card-sets.ts";
import { setOfId } from "../batches/list-set.tsx";
import {
  Breakable,
  Card,
  Confirm,
  count,
  counted,
  EnvironmentBadge,
  Field,
  Notice,
  PageHead,
} from "../elements.tsx";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { privateFile, privateTable, redirect } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { GalleryOfSet, switchGallery } from "./gallery.tsx";
import { historyPath } from "./image.tsx";
import { fillPath, parallelsOf, parallelText, problemOf } from "./set-words.ts";

async function ownSet(visit: MemberVisit): Promise<CardSet> {
  const set = await setOfId(visit, visit.params.id ?? "");
  if (!set) throw notFound();
  return set;
}

const isEmpty = (players: ChecklistEntry[]) =>
  players.every(({ parallels }) => parallels.every(({ made, processing }) => made + processing === 0));

/** What could not be made of a set, by the card of the page that offers it. */
type Problem = { packs?: string; pages?: string };

async function setPage(visit: MemberVisit, problem?: Problem): Promise<Response> {
  const set = await ownSet(visit);
  const players = await checklistOf(visit.deps, set);
  const path = `/console/sets/${set.id}`;
  return shell(
    visit,
    set.name,
    <>
      <PageHead title={set.name} lead={[set.season, parallelsOf(set)].filter((text) => text).join(" · ")}>
        <EnvironmentBadge environment={set.environment} />
        {canWrite(visit) && isEmpty(players) && (
          <Confirm
            visit={visit}
            id="delete-set"
            action={`${path}/delete`}
            button="Delete"
            title="Delete this set?"
            confirm="Delete it"
            small={false}
          >
            <p>No card of it was made.</p>
          </Confirm>
        )}
        {!isEmpty(players) && (
          <a class="button" href={`${path}/manifest.csv`}>
            Manifest for the printer
          </a>
        )}
        {canWrite(visit) && (
          <a class="button" href={`/console/lists/new?set=${set.id}`}>
            Make the cards from a squad list
          </a>
        )}
      </PageHead>
      {isEmpty(players) && (
        <Notice tone="info">
          No cards yet. They are made below from cards that the players have already, or from a squad list
          with the players of the checklist; developers make them with the API, too:{" "}
          <a href="/docs/sets">how sets work</a>.
        </Notice>
      )}
      {canWrite(visit) && <Runs set={set} players={players} now={visit.now} />}
      <Card title="Checklist" note={counted(players.length, "player")} flush>
        <Checklist set={set} players={players} />
      </Card>
      <Card
        title="Pages for collectors"
        note="A checklist with a box for each parallel, and an album with a numbered place for each player, in the cards' true size. Print at 100 %."
      >
        {problem?.pages && <Notice tone="bad">{problem.pages}</Notice>}
        <PagesForm path={path} />
      </Card>
      {(set.galleryName !== null || !isEmpty(players)) && <GalleryOfSet visit={visit} set={set} />}
      {!isEmpty(players) && (
        <Card
          title="Packs"
          note="Drawn from a seed that you announce, so that anybody can draw them again. Draw once all cards are made."
        >
          {problem?.packs && <Notice tone="bad">{problem.packs}</Notice>}
          <PackForm visit={visit} path={path} />
        </Card>
      )}
    </>,
    { status: problem ? 422 : 200 },
  );
}

/** Each parallel with what there is of it, and the way to the rest. */
function Runs({ set, players, now }: { set: CardSet; players: ChecklistEntry[]; now: number }) {
  return (
    <Card
      title="Make the cards"
      note="From each player's newest card, or from a squad's. The next page says what it costs before anything is made."
    >
      <ul class="runs">
        {set.parallels.map((parallel, at) => {
          const counts = players.map(({ parallels }) => parallels[at] ?? { made: 0, processing: 0 });
          const there = counts.reduce((sum, { made, processing }) => sum + made + processing, 0);
          const all = players.length * (parallel.size ?? 1);
          return (
            <li key={parallel.name}>
              <span>
                <strong>
                  <Breakable text={parallelText(parallel)} />
                </strong>{" "}
                <span class="note">
                  {parallel.size === null
                    ? `${counted(there, "card")} made`
                    : `${count(there)} of ${counted(all, "card")} made`}
                </span>
              </span>
              {!isClosed(parallel, now) && (
                <a class="button button-small" href={fillPath(set, parallel.name)}>
                  Make {parallel.name}
                </a>
              )}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

function Checklist({ set, players }: { set: CardSet; players: ChecklistEntry[] }) {
  return (
    <table class="table">
      <caption class="visually-hidden">Checklist</caption>
      <thead>
        <tr>
          <th scope="col">Player</th>
          <th scope="col" class="number">
            Shirt
          </th>
          {set.parallels.map(({ name }) => (
            <th scope="col" class="number" key={name}>
              <Breakable text={name} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {players.map(({ external_id, name, number, parallels }, at) => (
          <tr key={at}>
            <th scope="row">
              {external_id === null ? (
                "Deleted player"
              ) : (
                <a href={historyPath({ externalId: external_id, environment: set.environment })}>
                  <Breakable text={name ?? external_id} />
                </a>
              )}
            </th>
            <td data-label="Shirt" class="number">
              {number ?? "–"}
            </td>
            {parallels.map((parallel) => (
              <td data-label={parallel.name} class="number" key={parallel.name}>
                {count(parallel.made)}
                {parallel.size !== null && ` of ${count(parallel.size)}`}
                {editionText(parallel)}
                {parallel.processing > 0 && ` (${count(parallel.processing)} in the making)`}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What the count of an open edition means: so far, or for good. */
function editionText({ closes_at, print_run }: ChecklistEntry["parallels"][number]): string {
  if (closes_at === undefined) return "";
  return typeof print_run === "number" ? " in all, closed" : " so far";
}

function PagesForm({ path }: { path: string }) {
  const choices: [name: string, label: string, options: [string, string][]][] = [
    ["sheet", "Paper", SHEET_NAMES.map((name) => [name, name === "a4" ? "A4" : "Letter"])],
    ["size", "Cards of the album", PRINT_SIZE_NAMES.map((name) => [name, printSizeLabel(name)])],
  ];
  return (
    <form method="get" action={`${path}/album.pdf`} class="form">
      <div class="field-pair">
        {choices.map(([name, label, options]) => (
          <Field label={label} id={`pages-${name}`} key={name}>
            <select id={`pages-${name}`} name={name}>
              {options.map(([value, text]) => (
                <option value={value} key={value}>
                  {text}
                </option>
              ))}
            </select>
          </Field>
        ))}
      </div>
      <div class="actions">
        <button type="submit" class="button" formaction={`${path}/checklist.pdf`}>
          Checklist
        </button>
        <button type="submit" class="button">
          Album
        </button>
      </div>
    </form>
  );
}

/** Pages for collectors as a file. */
async function pages(visit: MemberVisit, make: typeof albumPages, name: string): Promise<Response> {
  const set = await ownSet(visit);
  try {
    const bytes = await make(visit.deps, set, readPagesWish(visit.exchange.url, ["sheet", "size"]));
    return privateFile(visit.exchange, bytes, {
      "Content-Type": "application/pdf",
      "Content-Disposition": setAttachment(set, name, "pdf"),
    });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return setPage(visit, { pages: problemOf(error).replaceAll("query ", "") });
  }
}

function PackForm({ visit, path }: { visit: MemberVisit; path: string }) {
  const { query } = visit;
  const numbers: [name: string, label: string, value: string][] = [
    ["packs", "Packs", "20"],
    ["cards", "Cards of a pack", "5"],
    ["copies", "Unnumbered copies", "1"],
  ];
  return (
    <form method="get" action={`${path}/packs.csv`} class="form">
      <Field
        label="Seed"
        id="seed"
        hint="Such as the result of a match that is still to come, with its date."
      >
        <input
          id="seed"
          name="seed"
          type="text"
          required
          value={query.get("seed") ?? ""}
          aria-describedby="seed-hint"
        />
      </Field>
      <div class="field-pair">
        {numbers.map(([name, label, value]) => (
          <Field label={label} id={name} key={name}>
            <input id={name} name={name} type="number" min={1} required value={query.get(name) ?? value} />
          </Field>
        ))}
      </div>
      <div class="actions">
        <button type="submit" class="button">
          Draw packs
        </button>
      </div>
    </form>
  );
}

async function packs(visit: MemberVisit): Promise<Response> {
  const set = await ownSet(visit);
  try {
    const drawn = await packsOf(visit.deps, set, readPackWish(visit.exchange.url));
    const lines = async function* () {
      yield "\ufeffpack,external_id,name,parallel,serial,size,image_id\r\n";
      for (const [at, pack] of drawn.packs.entries())
        yield pack
          .map(({ external_id, name, parallel, serial, size, image_id }) => {
            const cells = [at + 1, external_id, name, parallel, serial, size, image_id];
            return `${cells.map((cell) => csvField(String(cell ?? ""))).join(",")}\r\n`;
          })
          .join("");
    };
    return privateTable(visit.exchange, lines(), setAttachment(set, "packs", "csv"));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return setPage(visit, { packs: problemOf(error).replaceAll("query ", "") });
  }
}

/** The checklist as a squad list, in which the rest is to be filled in. */
async function squad(visit: MemberVisit): Promise<Response> {
  const set = await ownSet(visit);
  const players = await playersOfSet(visit.deps.store.read, set.id);
  const lines = async function* () {
    // The byte order mark by which spreadsheets recognise UTF-8.
    yield "\ufeffid,name,position,number,rating,photo\r\n";
    for (const { externalId, name, number } of players)
      yield `${[externalId, name, "", String(number ?? ""), "", ""].map(csvField).join(",")}\r\n`;
  };
  return privateTable(visit.exchange, lines(), setAttachment(set, "squad", "csv"));
}

async function remove(visit: MemberVisit): Promise<Response> {
  const { deps, user, session, exchange } = visit;
  const { accountId, environment, id } = await ownSet(visit);
  try {
    const { name } = await removeSet(deps, { accountId, environment, id }, user.id);
    await visit.flashes.put(session.id, { notice: `The set ${name} is deleted.` });
    return redirect(`/console/sets?environment=${environment}`, exchange);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return setPage(visit, { packs: problemOf(error) });
  }
}

export const setRoutes = [
  member.get("/console/sets/:id", (visit) => setPage(visit)),
  member.get("/console/sets/:id/manifest.csv", async (visit) => {
    const set = await ownSet(visit);
    return privateTable(visit.exchange, manifestOf(visit.deps, set), setAttachment(set, "manifest", "csv"));
  }),
  member.get("/console/sets/:id/squad.csv", squad),
  member.get("/console/sets/:id/checklist.pdf", (visit) => pages(visit, checklistPages, "checklist")),
  member.get("/console/sets/:id/album.pdf", (visit) => pages(visit, albumPages, "album")),
  member.get("/console/sets/:id/packs.csv", packs),
  member.post("/console/sets/:id/gallery", async (visit) => switchGallery(visit, await ownSet(visit))),
  member.post("/console/sets/:id/delete", remove),
];
