/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { type NotesPart, notesSince, type Readers, type ReleaseNotes } from "../core/release-notes.ts";
import { markSeenVersion } from "../store/people/users.ts";
import { Card, PostForm } from "./elements.tsx";
import { ownPath } from "./own-path.ts";
import { redirect } from "./respond.ts";
import { field, signedIn, type UserVisit } from "./visit.ts";

/** An operator reads what partners and designers will ask about, too. */
export const OPERATORS_READ: readonly Readers[] = [
  "upgrade",
  "operators",
  "partners",
  "designers",
  "everybody",
];
/** What a partner's people can see changing. */
export const MEMBERS_READ: readonly Readers[] = ["partners"];

/** The rest is in the changelog. */
const HEADLINES_SHOWN = 8;

/** A line of Markdown: code and bold; links by their text. */
function Inline({ text }: { text: string }) {
  const parts = text.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1").split(/(`[^`]+`|\*\*[^*]+\*\*)/);
  return (
    <>
      {parts.map((part): ComponentChildren => {
        if (part.startsWith("`")) return <code key={part}>{part.slice(1, -1)}</code>;
        return part.startsWith("**") ? <strong key={part}>{part.slice(2, -2)}</strong> : part;
      })}
    </>
  );
}

function Part({ part }: { part: NotesPart }) {
  const shown = part.readers === "upgrade" ? part.headlines : part.headlines.slice(0, HEADLINES_SHOWN);
  const more = part.headlines.length - shown.length;
  return (
    <section class={part.readers === "upgrade" ? "news-part news-first" : "news-part"}>
      {/* Who reads this has upgraded. */}
      <h3>{part.readers === "upgrade" ? "What the upgrade changed" : part.title}</h3>
      <ul>
        {shown.map((line) => (
          <li key={line}>
            <Inline text={line} />
          </li>
        ))}
        {more > 0 && <li class="note">{`and ${more} more`}</li>}
      </ul>
    </section>
  );
}

/** The parts for these readers, what is to be done before an upgrade first; releases without any left out. */
function partsFor(releases: ReleaseNotes[], readers: readonly Readers[]): ReleaseNotes[] {
  const rank = (part: NotesPart) => readers.indexOf(part.readers);
  return releases
    .map(({ version, parts }) => ({
      version,
      parts: parts.filter((part) => rank(part) >= 0).sort((a, b) => rank(a) - rank(b)),
    }))
    .filter(({ parts }) => parts.length > 0);
}

/**
 * After an upgrade, once for each user: what changed since the version they last saw. Nothing for those who
 * came with this version, as on a fresh install.
 */
export function WhatsNew({ visit, readers }: { visit: UserVisit; readers: readonly Readers[] }) {
  const { version, changelog } = visit.deps.release;
  if (visit.user.seenVersion === version || visit.role === "visitor") return null;
  const releases = partsFor(notesSince(changelog, version, visit.user.seenVersion), readers);
  if (releases.length === 0) return null;
  return (
    <Card
      title={`New in cardpress ${version}`}
      note="Shown until you have read it."
      actions={
        <>
          <a class="button button-small" href="/docs/changelog">
            Changelog
          </a>
          <PostForm visit={visit} action="/console/whats-new/seen">
            <input type="hidden" name="next" value={visit.exchange.url.pathname} />
            <button type="submit" class="button button-small button-primary">
              Got it
            </button>
          </PostForm>
        </>
      }
    >
      {releases.map((release) => (
        <div key={release.version} class="news">
          {releases.length > 1 && <p class="news-version">{release.version}</p>}
          <div class="news-parts">
            {release.parts.map((part) => (
              <Part key={part.title} part={part} />
            ))}
          </div>
        </div>
      ))}
    </Card>
  );
}

async function seen(visit: UserVisit): Promise<Response> {
  const { deps, user } = visit;
  await deps.store.write("seen version", (tx) => markSeenVersion(tx, user.id, deps.release.version), {
    concurrent: true,
  });
  return redirect(ownPath(field(visit, "next")), visit.exchange);
}

export const whatsNewRoutes = [signedIn.post("/console/whats-new/seen", seen)];
