/** @jsxImportSource preact */
import { ENVIRONMENTS, type Environment } from "../../core/account.ts";
import { ERROR_CODES, type ErrorCode } from "../../core/errors.ts";
import { formatPosition, type ListPosition, parsePosition } from "../../core/list-position.ts";
import { findRequest, listRequests, type RequestRow } from "../../store/overviews/request-log.ts";
import { listKeys } from "../../store/people/keys.ts";
import {
  Badge,
  Breakable,
  Card,
  Code,
  Empty,
  EnvironmentBadge,
  PageHead,
  Pager,
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
import { notFound } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { type MemberVisit, member } from "../visit.ts";

const PAGE_SIZE = 50;

interface Filter extends Days {
  refused: boolean;
  search: string;
  environment: Environment | undefined;
}

function address({ refused, search, environment, from, to }: Filter, after?: string): string {
  const show = refused ? "refused" : undefined;
  return addressOf("/console/requests", { show, environment, search, from, to, after });
}

function Status({ row }: { row: RequestRow }) {
  const tone = row.status >= 500 ? "bad" : row.status >= 400 ? "warn" : "good";
  return <Badge tone={tone}>{String(row.status)}</Badge>;
}

type KeyNames = Map<string, string>;

async function keyNames({ deps, account }: MemberVisit): Promise<KeyNames> {
  const keys = await listKeys(deps.store.read, account.id);
  return new Map(keys.map(({ id, name, last4 }) => [id, `${name} (…${last4})`]));
}

function Table({ rows, keys }: { rows: RequestRow[]; keys: KeyNames }) {
  return (
    <table class="table">
      <caption class="visually-hidden">Requests</caption>
      <thead>
        <tr>
          <th scope="col">Request</th>
          <th scope="col">Answer</th>
          <th scope="col">Player</th>
          <th scope="col" class="minor">
            Key
          </th>
          <th scope="col" class="number minor">
            Took
          </th>
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <th scope="row">
              <a href={`/console/requests/${row.id}`}>
                {row.method} <span class="clip">{row.path}</span>
              </a>
            </th>
            <td data-label="Answer">
              <Status row={row} /> {row.code && <code class="clip">{row.code}</code>}
            </td>
            <td data-label="Player" class="name">
              <span class="clip">{row.externalId ?? "–"}</span>
            </td>
            <td data-label="Key" class="minor">
              {keys.get(row.keyId) ?? "A deleted key"}
            </td>
            <td data-label="Took" class="number minor">
              {`${row.durationMs} ms`}
            </td>
            <td data-label="When">
              <Time at={row.createdAt} style="relative" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const ENVIRONMENT_WORDS = { live: "Live", test: "Test" };

function Toolbar({ filter }: { filter: Filter }) {
  const { refused, search, environment, from, to } = filter;
  const chosen = [
    refused ? "Refused" : "All",
    environment ? ENVIRONMENT_WORDS[environment] : "",
    search,
    ...daysInWords(filter),
  ].filter((text) => text !== "");
  return (
    <Filters chosen={chosen.join(", ")}>
      <Segments
        label="Answers"
        choices={[
          { label: "All", href: address({ ...filter, refused: false }), current: !filter.refused },
          { label: "Refused", href: address({ ...filter, refused: true }), current: filter.refused },
        ]}
      />
      <Segments
        label="Environment"
        choices={[undefined, ...ENVIRONMENTS].map((name) => ({
          label: name ? ENVIRONMENT_WORDS[name] : "Both",
          href: address({ ...filter, environment: name }),
          current: name === environment,
        }))}
      />
      <SearchForm
        action="/console/requests"
        label="Request id, external id or status"
        search={search}
        kept={{ show: refused ? "refused" : undefined, environment, from, to }}
      />
      <DaysForm
        action="/console/requests"
        days={filter}
        kept={{ show: refused ? "refused" : undefined, environment, search }}
      />
    </Filters>
  );
}

async function requestsPage(visit: MemberVisit): Promise<Response> {
  const { deps, account, query } = visit;
  const filter: Filter = {
    refused: query.get("show") === "refused",
    search: (query.get("search") ?? "").trim().slice(0, 255),
    environment: ENVIRONMENTS.find((known) => known === query.get("environment")),
    ...readDays(query),
  };
  const { search, refused, environment } = filter;
  const isNarrowed = address(filter) !== "/console/requests";
  if (/^req_\w+$/.test(search) && (await findRequest(deps.store.read, account.id, search)))
    return redirect(`/console/requests/${search}`, visit.exchange);
  const isStatus = /^[1-5]\d\d$/.test(search);
  const after = parsePosition(query.get("after") ?? "");
  const { requests: rows, next } = await listRequests(deps.store.read, {
    accountId: account.id,
    refused,
    environment,
    ...momentsOf(filter),
    status: isStatus ? Number(search) : undefined,
    externalId: search && !isStatus ? search : undefined,
    after,
    limit: PAGE_SIZE,
  });
  return shell(
    visit,
    "Requests",
    <>
      <PageHead
        title="Requests"
        lead="What your servers asked of the API in the last 30 days, and how it was answered. Of successful reads at most 60 a minute are kept."
      />
      <Toolbar filter={filter} />
      <Card flush>
        {rows.length === 0 ? (
          <Empty title={isNarrowed ? "Nothing found" : "No requests yet"}>
            {emptyWords(filter, isNarrowed, next)}
          </Empty>
        ) : (
          <Table rows={rows} keys={await keyNames(visit)} />
        )}
      </Card>
      <Pager newest={after && address(filter)} older={next && address(filter, formatPosition(next))} />
    </>,
    { wide: true },
  );
}

function emptyWords(filter: Filter, isNarrowed: boolean, next: ListPosition | null) {
  if (!isNarrowed) return "Send one with a key, and it appears here within a second.";
  if (next)
    return (
      <>
        None fits down to <Time at={next.createdAt} />. Go on to older ones below, or name the days.
      </>
    );
  return noDays(filter) ?? "No request of the last 30 days fits.";
}

/** Pretty-printed JSON; anything else unchanged. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

const isErrorCode = (code: string): code is ErrorCode => ERROR_CODES.some((known) => known === code);

async function requestPage(visit: MemberVisit): Promise<Response> {
  const row = await findRequest(visit.deps.store.read, visit.account.id, visit.params.id ?? "");
  if (!row) throw notFound();
  const keys = await keyNames(visit);
  const imageId = /^\/v1\/images\/(img_\w+)/.exec(row.path)?.[1];
  return shell(
    visit,
    "Request",
    <>
      <PageHead
        title={`${row.method} ${row.path}`}
        lead={
          <>
            <Status row={row} /> <EnvironmentBadge environment={row.environment} /> <code>{row.id}</code>
          </>
        }
      />
      <Card title="Details">
        <dl class="facts">
          <dt>When</dt>
          <dd>
            <Time at={row.createdAt} />, took {row.durationMs} ms
          </dd>
          <dt>Key</dt>
          <dd>{keys.get(row.keyId) ?? "A deleted key"}</dd>
          {row.externalId && (
            <>
              <dt>Player</dt>
              <dd>
                <a
                  href={`/console/images?search=${encodeURIComponent(row.externalId)}&environment=${row.environment}`}
                >
                  {row.externalId}
                </a>
              </dd>
            </>
          )}
          {imageId && (
            <>
              <dt>Image</dt>
              <dd>
                <a href={`/console/images/${imageId}`}>{imageId}</a>
              </dd>
            </>
          )}
          {row.code && (
            <>
              <dt>Code</dt>
              <dd>
                {isErrorCode(row.code) ? <a href={`/docs/errors/${row.code}`}>{row.code}</a> : row.code}
              </dd>
            </>
          )}
        </dl>
      </Card>
      {row.details && row.details.length > 0 && (
        <Card title="What was wrong">
          <ul class="list">
            {row.details.map(({ field, message }) => (
              <li key={field}>
                <code>
                  <Breakable text={field} />
                </code>{" "}
                <span>
                  <Breakable text={message} />
                </span>
              </li>
            ))}
          </ul>
        </Card>
      )}
      {row.body !== null && (
        <Code id="body" label="Body as sent, without secrets" text={readable(row.body)} />
      )}
    </>,
    { wide: true },
  );
}

export const requestRoutes = [
  member.get("/console/requests", requestsPage),
  member.get("/console/requests/:id", requestPage),
];
