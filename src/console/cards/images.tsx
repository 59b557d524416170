/** @jsxImportSource preact */

import { ENVIRONMENTS, type Environment } from "../../core/account.ts";
import { PUBLIC_STATUSES, type PublicStatus } from "../../core/image-state.ts";
import { formatPosition, parsePosition } from "../../core/list-position.ts";
import { countImages, listImages, MAX_COUNTED } from "../../store/images/image-reads.ts";
import { findImagesByExternalId } from "../../store/images/image-search.ts";
import type { Image } from "../../store/images/images.ts";
import {
  Card,
  count,
  Empty,
  EnvironmentSegments,
  PageHead,
  Pager,
  refreshing,
  Segments,
  Time,
} from "../elements.tsx";
import {
  addressOf,
  type Days,
  DaysForm,
  daysInWords,
  Filters,
  momentsOf,
  noDays,
  readDays,
  SearchForm,
} from "../filters.tsx";
import { shell } from "../layout.tsx";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { Example, MakeOrUpload } from "../ways.tsx";
import { isOpen, playerName, StatusBadge, Thumb } from "./image-parts.tsx";

const PAGE_SIZE = 24;

interface Filter extends Days {
  environment: Environment;
  status: PublicStatus | undefined;
  view: "grid" | "table";
  search: string;
}

/** The filters in the URL; unknown values fall back to the first choice. */
function readFilter({ query }: MemberVisit): Filter {
  return {
    environment: ENVIRONMENTS.find((known) => known === query.get("environment")) ?? "live",
    status: PUBLIC_STATUSES.find((known) => known === query.get("status")),
    view: query.get("view") === "table" ? "table" : "grid",
    search: (query.get("search") ?? "").trim().slice(0, 255),
    ...readDays(query),
  };
}

function address(filter: Filter, change: Partial<Filter> & { after?: string } = {}): string {
  const { environment, status, view, search, from, to, after } = { after: undefined, ...filter, ...change };
  const shown = view === "table" ? view : undefined;
  return addressOf("/console/images", { environment, status, view: shown, search, from, to, after });
}

export function Grid({ images }: { images: Image[] }) {
  return (
    <ul class="grid">
      {images.map((image) => (
        <li key={image.id}>
          <a href={`/console/images/${image.id}`} class="tile">
            <Thumb image={image} />
            <span class="tile-name ellipsis">{playerName(image)}</span>
            <span class="tile-foot">
              <StatusBadge image={image} />
              <Time at={image.createdAt} style="relative" />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function ImageTable({ images, caption }: { images: Image[]; caption: string }) {
  return (
    <table class="table">
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Player</th>
          <th scope="col">External id</th>
          <th scope="col">Status</th>
          <th scope="col" class="minor">
            Image
          </th>
          <th scope="col">Created</th>
        </tr>
      </thead>
      <tbody>
        {images.map((image) => (
          <tr key={image.id}>
            <th scope="row">
              <a href={`/console/images/${image.id}`}>{playerName(image)}</a>
            </th>
            <td data-label="External id" class="name">
              <span class="clip">{image.externalId}</span>
            </td>
            <td data-label="Status">
              <StatusBadge image={image} />
            </td>
            <td data-label="Image" class="minor">
              <code class="clip">{image.id}</code>
            </td>
            <td data-label="Created">
              <Time at={image.createdAt} style="relative" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Counts = Record<PublicStatus, number>;

/** What the API calls failed includes the canceled. */
const STATUS_WORDS = {
  all: "All",
  processing: "Processing",
  completed: "Completed",
  failed: "Failed or canceled",
};

/** "Completed 1,204"; without a number where nothing was counted. */
function statusLabel(name: PublicStatus | undefined, counts: Counts | null): string {
  const word = STATUS_WORDS[name ?? "all"];
  if (!counts) return word;
  const numbers = name === undefined ? Object.values(counts) : [counts[name]];
  const total = numbers.reduce((sum, each) => sum + each, 0);
  return `${word} ${count(total)}${numbers.some((each) => each >= MAX_COUNTED) ? "+" : ""}`;
}

function Toolbar({ filter, counts }: { filter: Filter; counts: Counts | null }) {
  const { environment, status, view, search, from, to } = filter;
  const chosen = [
    environment === "live" ? "Live" : "Test",
    STATUS_WORDS[status ?? "all"],
    ...[search, ...daysInWords(filter)].filter((text) => text !== ""),
  ].join(", ");
  return (
    <Filters chosen={chosen}>
      <EnvironmentSegments
        environment={environment}
        href={(name) => address(filter, { environment: name })}
      />
      <Segments
        label="Status"
        choices={[undefined, ...PUBLIC_STATUSES].map((name) => ({
          label: statusLabel(name, counts),
          href: address(filter, { status: name }),
          current: name === status,
        }))}
      />
      <SearchForm
        action="/console/images"
        label="Player, external id or image id"
        search={search}
        kept={{ environment, from, to, view: view === "table" ? view : undefined }}
      />
      <DaysForm
        action="/console/images"
        days={filter}
        kept={{ environment, status, search, view: view === "table" ? view : undefined }}
      />
      <span class="grow" />
      <Segments
        label="View"
        choices={[
          { label: "Grid", href: address(filter, { view: "grid" }), current: view === "grid" },
          { label: "Table", href: address(filter, { view: "table" }), current: view === "table" },
        ]}
      />
    </Filters>
  );
}

function NoImages({ visit, filter }: { visit: MemberVisit; filter: Filter }) {
  const { search, status, environment, from, to } = filter;
  if (search || status || from || to)
    return (
      <Empty
        title="Nothing found"
        action={
          <a class="button" href={address(filter, { search: "", status: undefined, from: "", to: "" })}>
            Show all
          </a>
        }
      >
        {noDays(filter) ??
          (search
            ? `No ${environment} image has “${search}” in its player's name, an external id that begins so, or this image id.`
            : status
              ? `No ${environment} image of these days is ${status}.`
              : `No ${environment} image was created in these days.`)}
      </Empty>
    );
  return (
    <Empty
      title={`No ${environment} images yet`}
      picture={<Example name="one-card" />}
      action={canWrite(visit) && <MakeOrUpload />}
    >
      Every card you make comes here, to be looked at, changed and downloaded. Developers make them{" "}
      <a href="/docs/quickstart">from a server</a>, too.
    </Empty>
  );
}

async function imagesPage(visit: MemberVisit): Promise<Response> {
  const filter = readFilter(visit);
  const { store } = visit.deps;
  const scope = { accountId: visit.account.id, environment: filter.environment };
  const after = parsePosition(visit.query.get("after") ?? "");
  const found = filter.search
    ? await findImagesByExternalId(store.read, {
        ...scope,
        ...momentsOf(filter),
        search: filter.search,
        status: filter.status,
        limit: PAGE_SIZE,
      })
    : await listImages(store.read, {
        ...scope,
        ...momentsOf(filter),
        status: filter.status,
        after,
        limit: PAGE_SIZE + 1,
      });
  const counts = filter.search ? null : await countImages(store.read, { ...scope, ...momentsOf(filter) });
  const images = found.slice(0, PAGE_SIZE);
  const last = images.at(-1);
  const next = found.length > PAGE_SIZE && last ? formatPosition(last) : undefined;
  return shell(
    visit,
    "Cards",
    <>
      <PageHead title="Cards" lead="Every card you asked for, newest first." />
      <Toolbar filter={filter} counts={counts} />
      <div {...refreshing(visit, "images", images.some(isOpen))}>
        {images.length === 0 ? (
          <Card>
            <NoImages visit={visit} filter={filter} />
          </Card>
        ) : filter.view === "grid" ? (
          <Grid images={images} />
        ) : (
          <Card flush>
            <ImageTable images={images} caption="Cards" />
          </Card>
        )}
      </div>
      <Pager newest={after && address(filter)} older={next && address(filter, { after: next })} />
    </>,
    { wide: true },
  );
}

export const imagesRoutes = [member.get("/console/images", imagesPage)];
