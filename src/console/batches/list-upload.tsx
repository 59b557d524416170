/** @jsxImportSource preact */
import { basename } from "node:path";
import { guessMapping, targetsFor } from "../../app/batches/squad-cards.ts";
import { csvField } from "../../core/csv.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_ACCOUNT_NAME_CHARS, MAX_BATCH_CARDS } from "../../core/limits.ts";
import { MAX_LIST_BYTES } from "../../core/list-limits.ts";
import { SAMPLE_PHOTO_PATHS, samplePhotoUrl } from "../../core/sample-photo.ts";
import { listKits } from "../../store/people/brand-kits.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import { hasFoil } from "../../templates/load.ts";
import { Card, counted, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { privateFile, redirect } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { withKit } from "./list-columns.tsx";
import { mappingWithSet, sentSet, setLabel, setOfId } from "./list-set.tsx";
import type { Draft } from "./list-store.ts";
import { withNewerFile } from "./replace-list.ts";
import { listName } from "./waiting-lists.tsx";

/**
 * @param replaced the list in whose place the file comes, if any
 * @param set the set that its cards belong to, if any
 */
function ListForm({
  visit,
  replaced,
  set,
}: {
  visit: MemberVisit;
  replaced?: Draft;
  set?: CardSet | undefined;
}) {
  const action = replaced ? `/console/lists/${replaced.id}/file` : "/console/lists";
  return (
    <PostForm visit={visit} action={action} class="form" encType="multipart/form-data">
      {set && <input type="hidden" name="set" value={set.id} />}
      <div class="field">
        <label for="file">File</label>
        <input
          id="file"
          name="file"
          type="file"
          class="drop"
          required
          accept=".csv,.tsv,.txt,.xlsx,text/csv,application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
          aria-describedby="file-hint"
        />
        <p class="hint" id="file-hint">
          Drop it here, or choose it. The first row names the columns, in any words and order.
        </p>
      </div>
      <div class="actions">
        <button type="submit" class="button button-primary">
          Read the list
        </button>
        {replaced ? (
          <a class="button" href={`/console/lists/${replaced.id}`}>
            Keep the list as it is
          </a>
        ) : (
          <a class="button" href={set ? `/console/sets/${set.id}/squad.csv` : "/console/lists/example.csv"}>
            {set ? "Download the checklist to fill in" : "Download an example"}
          </a>
        )}
      </div>
    </PostForm>
  );
}

/** Where another file takes the place of a list's own. */
async function filePage(visit: MemberVisit): Promise<Response> {
  const replaced = await visit.lists.get(visit);
  const photos = replaced.photos?.length ?? 0;
  return shell(
    visit,
    "Another file",
    <>
      <PageHead
        title={`Another file for ${listName(replaced)}`}
        lead={`It takes the place of the list${photos > 0 ? `; its ${counted(photos, "photo stays", "photos stay")}` : ""}. Columns with the same heading stay as you chose them.`}
      />
      <Card
        title="Squad list"
        note={`CSV or Excel (.xlsx), one player a row, at most ${MAX_BATCH_CARDS.toLocaleString("en-US")} players.`}
      >
        {canWrite(visit) && <ListForm visit={visit} replaced={replaced} />}
      </Card>
    </>,
  );
}

async function uploadPage(visit: MemberVisit): Promise<Response> {
  const set = await setOfId(visit, visit.query.get("set") ?? "");
  return shell(
    visit,
    "New squad",
    <>
      <PageHead
        title={set ? `Cards of ${setLabel(set)}` : "New squad"}
        lead="Upload a squad list. You choose its columns, see every fault and three cards, and know the price before anything is made."
      />
      <Card
        title="Squad list"
        note={`CSV or Excel (.xlsx), one player a row, at most ${MAX_BATCH_CARDS.toLocaleString("en-US")} players.`}
      >
        {canWrite(visit) ? (
          <ListForm visit={visit} set={set} />
        ) : (
          <p>Members who may make cards upload it here.</p>
        )}
      </Card>
      <Card title="What each player needs">
        <dl class="facts">
          <dt>Id</dt>
          <dd>
            Yours, and another one for each player: you find the card by it, and no card is made twice.
            Without a column of ids the names are the ids{set && ", and find the players of the checklist"}.
          </dd>
          <dt>Name</dt>
          <dd>In one column, or first and last name in two.</dd>
          <dt>Position, number, rating</dt>
          <dd>Such as ST or Striker, 9 and 87. A rating may be the same for all.</dd>
          <dt>Photo</dt>
          <dd>
            Its public HTTPS address in a column, or the file itself: the next step takes a folder or ZIP of
            photos and finds whose each is by id, name or shirt number.
          </dd>
        </dl>
      </Card>
    </>,
  );
}

/** The list that was sent, and its name. Throws INVALID_REQUEST that says what to do. */
async function sentList({ file, deps, account }: MemberVisit): Promise<Pick<Draft, "list" | "name">> {
  if (!file) throw new Refusal("INVALID_REQUEST", "Choose a file: a CSV file or an Excel workbook (.xlsx).");
  if (file.bytes.length > MAX_LIST_BYTES)
    throw new Refusal(
      "INVALID_REQUEST",
      `The file has ${(file.bytes.length / 1024 ** 2).toFixed(1)} MB, and may have ${MAX_LIST_BYTES / 1024 ** 2}. Leave out sheets and pictures, or save the list as CSV.`,
    );
  return { list: await deps.readSquadList(account.id, file.bytes), name: nameOf(file.name) };
}

async function upload(visit: MemberVisit): Promise<Response> {
  const { deps } = visit;
  const { list, name } = await sentList(visit);
  const presets = await deps.templates.listed();
  // With one kit there is nothing to choose.
  const [kit, ...others] = await listKits(deps.store.read, visit.account.id);
  const look = kit && others.length === 0 ? kit : undefined;
  const preset = presets.find((name) => name === look?.preset) ?? presets[0] ?? "";
  const template = await deps.templates.current(preset);
  const { manifest } = template;
  const [[width, height] = [1024, 1280]] = Object.values(manifest.sizes);
  const guessed = guessMapping(
    list,
    targetsFor(manifest.fields, { back: template.back !== null, foil: hasFoil(template) }),
  );
  const set = await sentSet(visit);
  const { draft, replaced } = await visit.lists.put(visit, {
    id: deps.random.id("lst"),
    name,
    list,
    mapping: withKit(set ? mappingWithSet(guessed, set, list) : guessed, look),
    ...(look && { kit: look.id }),
    ...(set && { set }),
    style: { preset, width, height, format: "png" },
  });
  if (replaced)
    await visit.flashes.put(visit.session.id, {
      notice: `As many lists wait as may, so this one takes the place of ${listName(replaced)}, whose test cards you have made. Those stay under Squads.`,
    });
  return redirect(`/console/lists/${draft.id}`, visit.exchange);
}

async function replace(visit: MemberVisit): Promise<Response> {
  const newer = await sentList(visit);
  // Worked out from the list as it is then: photos may have come while the file was read.
  const { id } = await visit.lists.change(visit, (draft) => withNewerFile(visit, draft, newer));
  return redirect(`/console/lists/${id}`, visit.exchange);
}

/** "squad 2026.xlsx" as "squad 2026". */
function nameOf(fileName: string): string {
  const name = basename(fileName.replaceAll("\\", "/"))
    .replace(/\.\w{1,5}$/, "")
    .replaceAll(/\p{Cc}/gu, "");
  return [...name.toWellFormed()].slice(0, MAX_ACCOUNT_NAME_CHARS).join("");
}

/** Three players with every column filled in; their photos are the service's own. */
function example(visit: MemberVisit): Response {
  const [portrait, wholeBody, farAway] = SAMPLE_PHOTO_PATHS.map((path) =>
    samplePhotoUrl(visit.deps.config, path),
  );
  const rows = [
    [
      "id",
      "name",
      "position",
      "number",
      "rating",
      "photo",
      "theme",
      "primary colour",
      "second colour",
      "badge",
      "composition",
    ],
    [
      "player-1",
      "Eileen Collins",
      "ST",
      "9",
      "87",
      portrait,
      "stadium night",
      "#1B3FAB",
      "#F2C14E",
      "",
      "auto",
    ],
    ["player-2", "María Núñez", "GK", "1", "82", wholeBody, "", "#1B3FAB", "#F2C14E", "", "auto"],
    ["player-3", "Kim Andersson", "LW", "11", "74", farAway, "ice", "#1B3FAB", "#F2C14E", "", "auto"],
  ];
  // The byte order mark by which spreadsheets recognise UTF-8.
  const text = `\ufeff${rows.map((row) => row.map((cell) => csvField(cell ?? "")).join(",")).join("\r\n")}\r\n`;
  return privateFile(visit.exchange, text, {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": 'attachment; filename="cardpress-squad.csv"',
  });
}

/**
 * A slightly too large file gets a message on the page; a much too large one is not read. The form's other
 * fields take up to 64 KB.
 */
const MAX_LIST_UPLOAD_BYTES = 4 * MAX_LIST_BYTES + 64 * 1024;

export const listUploadRoutes = [
  member.get("/console/lists/new", uploadPage),
  member.get("/console/lists/example.csv", async (visit) => example(visit)),
  member.upload("/console/lists", MAX_LIST_UPLOAD_BYTES, upload),
  member.get("/console/lists/:id/file", filePage),
  member.upload("/console/lists/:id/file", MAX_LIST_UPLOAD_BYTES, replace),
];
