/** @jsxImportSource preact */
import { creditsAvailable } from "../app/credits.ts";
import { dayOf } from "../core/time.ts";
import { listImages } from "../store/images.ts";
import { listKeys } from "../store/keys.ts";
import { openAccount } from "../store/sessions.ts";
import { sumUsage } from "../store/usage.ts";
import { membershipsOf } from "../store/users.ts";
import { CreditMeter } from "./chart.tsx";
import { Card, count, Empty, PageHead, Stat } from "./elements.tsx";
import { Icon } from "./icons.tsx";
import { ImageTable } from "./images.tsx";
import { narrowPage, shell } from "./layout.tsx";
import { notFound } from "./page-error.ts";
import { redirect } from "./respond.ts";
import { field, type MemberVisit, member, signedIn, type UserVisit } from "./visit.ts";

interface FirstStep {
  title: string;
  text: string;
  href: string;
  action: string;
  done: boolean;
}

function FirstSteps({ steps }: { steps: FirstStep[] }) {
  const next = steps.find((step) => !step.done);
  return (
    <Card title="First steps">
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
    </Card>
  );
}

/** Where the credits come from, in a few words. */
function creditNote({ creditLimit, creditsTopup }: MemberVisit["account"]): string {
  const plan = `of ${count(creditLimit)} a month`;
  return creditsTopup > 0 ? `${plan} and ${count(creditsTopup)} top-up` : plan;
}

async function homePage(visit: MemberVisit): Promise<Response> {
  const { account, parts, now } = visit;
  const { read } = parts.store;
  const scope = (environment: "live" | "test") => ({ accountId: account.id, environment });
  const today = { from: dayOf(now), to: dayOf(now) };
  const [keys, live, test, usage] = await Promise.all([
    listKeys(read, account.id),
    listImages(read, { ...scope("live"), limit: 6 }),
    listImages(read, { ...scope("test"), limit: 6 }),
    sumUsage(read, scope("live"), today),
  ]);
  const left = creditsAvailable(account, now);
  const latest = live.length > 0 ? live : test;
  const steps: FirstStep[] = [
    {
      title: "See a card",
      text: "The playground shows the request as you fill it in, sends it and shows the card.",
      href: "/console/playground",
      action: "Open the playground",
      done: live.length + test.length > 0,
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
      done: live.length > 0,
    },
  ];
  return shell(
    visit,
    "Overview",
    <>
      <PageHead title="Overview" lead={`${account.name}, ${account.tier} plan`}>
        <a class="button" href="/docs">
          Documentation
        </a>
        <a class="button button-primary" href="/console/playground">
          Make a card
        </a>
      </PageHead>
      <Card>
        <dl class="stats">
          <Stat label="Credits left" value={count(left)} note={creditNote(account)} />
          <Stat label="Requests today" value={count(usage.requested)} note="Live, in UTC" />
          <Stat label="Completed today" value={count(usage.completed)} />
          <Stat label="Failed today" value={count(usage.failed)} />
        </dl>
        <CreditMeter left={left} limit={account.creditLimit + account.creditsTopup} />
      </Card>
      {steps.some((step) => !step.done) && <FirstSteps steps={steps} />}
      <Card
        flush
        title={live.length > 0 || test.length === 0 ? "Latest images" : "Latest test images"}
        actions={
          <a
            class="button button-small"
            href={`/console/images?environment=${live.length > 0 ? "live" : "test"}`}
          >
            All images
          </a>
        }
      >
        {latest.length === 0 ? (
          <Empty title="No images yet">The cards you ask for appear here as soon as they are accepted.</Empty>
        ) : (
          <ImageTable images={latest} caption="Latest images" />
        )}
      </Card>
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

/** Opens another of the user's accounts. */
async function chooseAccount(visit: UserVisit): Promise<Response> {
  const { parts, user, session, exchange } = visit;
  const id = field(visit, "account");
  const memberships = await membershipsOf(parts.store.read, user.id);
  if (!memberships.some(({ account }) => account.id === id)) throw notFound();
  await parts.store.write((tx) => openAccount(tx, session.id, id));
  return redirect("/console", exchange);
}

export const homeRoutes = [
  member.get("/console", homePage),
  signedIn.get("/console/no-account", noAccountPage),
  signedIn.post("/console/account", chooseAccount),
];
