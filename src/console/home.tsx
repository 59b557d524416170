/** @jsxImportSource preact */
import { isLow } from "../app/credits/credit-warning.ts";
import { type Credits, creditsOf } from "../app/credits/credits.ts";
import { type Endpoint, listEndpoints } from "../app/webhooks/manage-webhooks.ts";
import type { UsageDay } from "../store/credits/usage.ts";
import { listImages } from "../store/images/image-reads.ts";
import type { Image } from "../store/images/images.ts";
import { type ApiKey, listKeys } from "../store/people/keys.ts";
import { openAccount } from "../store/people/sessions.ts";
import { membershipsOf } from "../store/people/users.ts";
import { Icon } from "../web/icons.tsx";
import { isOpen } from "./cards/image-parts.tsx";
import { Grid } from "./cards/images.tsx";
import { CreditMeter, UsageChart } from "./chart.tsx";
import { planNote } from "./credits/credits.tsx";
import { daysOf } from "./credits/usage.tsx";
import { budgetTrouble } from "./credits/usage-alerts.tsx";
import { Card, count, counted, Empty, Notice, PageHead, refreshing, Stat } from "./elements.tsx";
import { narrowPage, shell } from "./layout.tsx";
import { faultsOf } from "./outcomes.ts";
import { notFound } from "./page-error.ts";
import { redirect } from "./respond.ts";
import { canWrite, field, type MemberVisit, member, signedIn, type UserVisit } from "./visit.ts";
import { Ways } from "./ways.tsx";
import { MEMBERS_READ, WhatsNew } from "./whats-new.tsx";

const LATEST_SHOWN = 5;

interface FirstStep {
  title: string;
  text: string;
  href: string;
  action: string;
  done: boolean;
}

/** How a server makes cards. Open for developers; others need not read it. */
function FirstSteps({ steps, isOpen }: { steps: FirstStep[]; isOpen: boolean }) {
  const next = steps.find((step) => !step.done);
  return (
    <details class="card fold" open={isOpen}>
      <summary>First steps for developers</summary>
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.href} class={step.done ? "step-done" : undefined}>
            <span class="step-mark">{step.done && <Icon name="check" />}</span>
            <div>
              <strong>{step.title}</strong>
              {step.done && <span class="visually-hidden"> (done)</span>}
              <p class="note">{step.text}</p>
            </div>
            {!step.done && (
              <a class={step === next ? "button button-primary" : "button"} href={step.href}>
                {step.action}
              </a>
            )}
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Where the credits come from, briefly. */
function creditNote(credits: Credits): string {
  const plan = planNote(credits);
  return credits.topup > 0 ? `${plan}, and ${count(credits.topup)} top-up` : plan;
}

/** What needs attention, most urgent first. */
function Troubles({
  credits,
  budget,
  endpoints,
}: {
  credits: Credits;
  budget: Awaited<ReturnType<typeof budgetTrouble>>;
  endpoints: Endpoint[];
}) {
  // Same rule as the credits.low event, so that console and webhook agree.
  const { left } = credits;
  return (
    <>
      {isLow(credits) && (
        <Notice tone="warn" title={left === 0 ? "No credits are left." : "Credits are running low."}>
          {left === 0
            ? "Live requests are refused until the next month begins or credits are added. "
            : `${count(left)} are left until the next month begins. `}
          Ask the operator of this service for a top-up.
        </Notice>
      )}
      {budget && (
        <Notice tone="warn" title={`${budget.percent} % of the month's budget is used.`}>
          {`${count(budget.used)} of ${counted(budget.credits, "credit")}. Cards go on being made. `}
          <a href="/console/usage">Usage</a>
        </Notice>
      )}
      {endpoints.map((endpoint) => (
        <Notice
          key={endpoint.id}
          tone="bad"
          title={endpoint.state === "disabled" ? "A webhook endpoint is disabled." : "Webhooks are failing."}
        >
          <a href={`/console/webhooks/${endpoint.id}`}>{endpoint.url}</a>
          {endpoint.state === "disabled"
            ? " gets no events any more."
            : " has not taken an event since its last failure. Look at the deliveries to see why."}
        </Notice>
      ))}
    </>
  );
}

function stepsOf(keys: ApiKey[], counts: { live: number; test: number }): FirstStep[] {
  return [
    {
      title: "See a request",
      text: "The playground shows the API's request as you fill it in, sends it and shows the card.",
      href: "/console/playground",
      action: "Open the playground",
      done: counts.live + counts.test > 0,
    },
    {
      title: "Create a test key",
      text: "Your server sends it with every request. Test keys cost nothing.",
      href: "/console/keys",
      action: "Create a key",
      done: keys.some((key) => key.environment === "test"),
    },
    {
      title: "Go live",
      text: "A live key makes real cards, one credit each.",
      href: "/console/keys",
      action: "Create a live key",
      done: counts.live > 0,
    },
  ];
}

function Numbers({ credits, days }: { credits: Credits; days: UsageDay[] }) {
  const today = days.at(-1);
  const total = (of: "requested" | "completed") => days.reduce((sum, day) => sum + day[of], 0);
  const failed = days.reduce((sum, day) => sum + faultsOf(day), 0);
  return (
    <>
      <Card>
        <dl class="stats">
          <Stat label="Credits left" value={count(credits.left)} note={creditNote(credits)} />
          <Stat label="Asked for today" value={count(today?.requested ?? 0)} note="Live, in UTC" />
          <Stat label="Completed today" value={count(today?.completed ?? 0)} />
          <Stat label="Failed today" value={count(today ? faultsOf(today) : 0)} />
        </dl>
        <CreditMeter credits={credits} />
      </Card>
      {total("requested") > 0 && (
        <Card
          title="Last 30 days"
          note={`${count(total("completed"))} live ${total("completed") === 1 ? "card" : "cards"} completed, ${count(failed)} failed`}
          actions={
            <a class="button button-small" href="/console/usage">
              Usage
            </a>
          }
        >
          <UsageChart days={days} />
        </Card>
      )}
    </>
  );
}

function Latest({ visit, images, isLive }: { visit: MemberVisit; images: Image[]; isLive: boolean }) {
  return (
    <Card
      title={isLive || images.length === 0 ? "Latest cards" : "Latest test cards"}
      actions={
        <a class="button button-small" href={`/console/images?environment=${isLive ? "live" : "test"}`}>
          All cards
        </a>
      }
    >
      <div {...refreshing(visit, "latest", images.some(isOpen))}>
        {images.length === 0 ? (
          <Empty title="No cards yet">Cards appear here as soon as they are asked for.</Empty>
        ) : (
          <Grid images={images} />
        )}
      </div>
    </Card>
  );
}

async function homePage(visit: MemberVisit): Promise<Response> {
  const { account, deps, now } = visit;
  const { read } = deps.store;
  const latest = (environment: "live" | "test") =>
    listImages(read, { accountId: account.id, environment, limit: LATEST_SHOWN });
  const [keys, live, test, days, endpoints] = await Promise.all([
    listKeys(read, account.id),
    latest("live"),
    latest("test"),
    daysOf(visit, "last_30_days", "live"),
    listEndpoints(deps, { accountId: account.id }),
  ]);
  const credits = await creditsOf(read, account, now);
  const steps = stepsOf(keys, { live: live.length, test: test.length });
  const failing = endpoints.filter(
    ({ state, failingSince }) => state === "disabled" || failingSince !== null,
  );
  const hasCards = live.length + test.length > 0;
  const firstSteps = canWrite(visit) && steps.some((step) => !step.done);
  const isDeveloper = visit.role === "developer";
  return shell(
    visit,
    "Overview",
    <>
      <PageHead title="Overview" lead={`${account.name}, ${account.tier} plan`}>
        {canWrite(visit) && hasCards && (
          <>
            <a class="button" href="/console/match">
              Player of the match
            </a>
            <a class="button" href="/console/make">
              Make one card
            </a>
            <a class="button button-primary" href="/console/lists/new">
              Upload a squad list
            </a>
          </>
        )}
      </PageHead>
      <WhatsNew visit={visit} readers={MEMBERS_READ} />
      <Troubles credits={credits} budget={await budgetTrouble(visit, account)} endpoints={failing} />
      {canWrite(visit) && !hasCards && <Ways />}
      {firstSteps && isDeveloper && <FirstSteps steps={steps} isOpen />}
      <Numbers credits={credits} days={days} />
      {(hasCards || !canWrite(visit)) && (
        <Latest visit={visit} images={live.length > 0 ? live : test} isLive={live.length > 0} />
      )}
      {firstSteps && !isDeveloper && <FirstSteps steps={steps} isOpen={false} />}
    </>,
  );
}

async function noAccountPage(visit: UserVisit): Promise<Response> {
  return narrowPage(
    visit,
    "No account",
    <>
      <h1>You are in no account</h1>
      <p class="lead">{`Ask an owner or the operator to add ${visit.user.email} to an account, then reload this page.`}</p>
      <p class="actions">
        <a class="button button-primary" href="/console">
          Try again
        </a>
      </p>
    </>,
  );
}

/** Switches to another of the user's accounts. */
async function chooseAccount(visit: UserVisit): Promise<Response> {
  const { deps, user, session, exchange } = visit;
  const id = field(visit, "account");
  const memberships = await membershipsOf(deps.store.read, user.id);
  if (!memberships.some(({ account }) => account.id === id)) throw notFound();
  await deps.store.write("choose account", (tx) => openAccount(tx, session.id, id), { concurrent: true });
  return redirect("/console", exchange);
}

export const homeRoutes = [
  member.get("/console", homePage),
  signedIn.get("/console/no-account", noAccountPage),
  signedIn.post("/console/account", chooseAccount),
];
