/** @jsxImportSource preact */
import {
  endNotice,
  MAX_NOTICE_MESSAGE_CHARS,
  MAX_NOTICE_TITLE_CHARS,
  postNotice,
} from "../../app/operations/status.ts";
import { noticesSince, type StatusNotice } from "../../store/overviews/status.ts";
import { Badge, Card, Empty, Field, Notice, PageHead, PostForm, Time } from "../elements.tsx";
import { typedInto } from "../flash.ts";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { field, operator, takeFlash, type UserVisit } from "../visit.ts";

const PATH = "/console/operator/status";
const NOTICES_SHOWN = 50;

function Row({ visit, notice }: { visit: UserVisit; notice: StatusNotice }) {
  const { id, title, message, postedAt, resolvedAt } = notice;
  return (
    <li>
      <div class="grow">
        <strong>{title}</strong>{" "}
        {resolvedAt === null ? <Badge tone="busy">Open</Badge> : <Badge>Resolved</Badge>}
        <p>{message}</p>
        <p class="note">
          Posted <Time at={postedAt} />
          {resolvedAt !== null && (
            <>
              , resolved <Time at={resolvedAt} />
            </>
          )}
        </p>
      </div>
      {resolvedAt === null && (
        <PostForm visit={visit} action={`${PATH}/${id}/resolve`}>
          <button type="submit" class="button button-small" aria-label={`Resolve: ${title}`}>
            Resolve
          </button>
        </PostForm>
      )}
    </li>
  );
}

async function statusPage(visit: UserVisit): Promise<Response> {
  const { config, store } = visit.deps;
  const notices = await noticesSince(store.read, 0, NOTICES_SHOWN);
  const flash = await takeFlash(visit);
  const typed = typedInto(PATH, flash);
  return shell(
    visit,
    "Status page",
    <>
      <PageHead
        title="Status page"
        lead="What partners read of the service's state: in order or not, the last 90 days, and your notices."
      >
        {config.statusPage && (
          <a class="button" href="/status">
            Open /status
          </a>
        )}
      </PageHead>
      {!config.statusPage && (
        <Notice tone="info" title="It is switched off.">
          Set <code>CARDPRESS_STATUS_PAGE=on</code> and start the service again. From then on it also records
          its availability; notices posted before are shown too.
        </Notice>
      )}
      <Card title="Post a notice" note="Anybody can read it. Name no partner.">
        <PostForm visit={visit} action={PATH} class="form narrow-form">
          <Field label="Title" id="title">
            <input
              id="title"
              name="title"
              required
              maxLength={MAX_NOTICE_TITLE_CHARS}
              value={typed?.get("title") ?? ""}
            />
          </Field>
          <Field
            label="Message"
            id="message"
            hint="What partners notice, since when, and what they need to do."
          >
            <textarea
              id="message"
              name="message"
              rows={4}
              required
              maxLength={MAX_NOTICE_MESSAGE_CHARS}
              aria-describedby="message-hint"
            >
              {typed?.get("message") ?? ""}
            </textarea>
          </Field>
          <div>
            <button type="submit" class="button button-primary">
              Post
            </button>
          </div>
        </PostForm>
      </Card>
      <Card title="Notices">
        {notices.length === 0 ? (
          <Empty title="None yet">
            Say beforehand when you take the service down, and afterwards what happened.
          </Empty>
        ) : (
          <ul class="list">
            {notices.map((notice) => (
              <Row key={notice.id} visit={visit} notice={notice} />
            ))}
          </ul>
        )}
      </Card>
    </>,
    { flash },
  );
}

async function post(visit: UserVisit): Promise<Response> {
  const message = field(visit, "message").replace(/\r\n?/g, "\n");
  await postNotice(visit.deps, { title: field(visit, "title"), message, by: visit.user.id });
  await visit.flashes.put(visit.session.id, { notice: "The notice is posted." });
  return redirect(PATH, visit.exchange);
}

async function resolve(visit: UserVisit): Promise<Response> {
  if (!(await endNotice(visit.deps, { id: visit.params.id ?? "", by: visit.user.id }))) throw notFound();
  await visit.flashes.put(visit.session.id, { notice: "The notice is resolved." });
  return redirect(PATH, visit.exchange);
}

export const statusRoutes = [
  operator.get(PATH, statusPage),
  operator.post(PATH, post),
  operator.post(`${PATH}/:id/resolve`, resolve),
];
