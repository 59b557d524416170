import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeNotices } from "../../../src/app/mail/notices.ts";
import { type MailTransport, sendDueMails, writeMail } from "../../../src/app/mail/outbox.ts";
import { smtpTransport } from "../../../src/app/mail/smtp.ts";
import { sweep } from "../../../src/app/operations/sweep.ts";
import { addMember, addOperator, issueSetupLink } from "../../../src/app/people/manage-users.ts";
import { createEndpoint } from "../../../src/app/webhooks/manage-webhooks.ts";
import { MAIL_LEASE_MS, MAIL_RETENTION_MS, MAIL_RETRY_MS } from "../../../src/core/limits.ts";
import { HOUR_MS } from "../../../src/core/time.ts";
import { setPassword } from "../../../src/store/people/users.ts";
import { changeEndpoint } from "../../../src/store/webhooks/webhooks.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { acceptLive } from "../accepting.ts";
import { type MailBox, mailBox } from "./smtp-server.ts";

const FROM = "cardpress <cards@example.com>";

let workspace: TestWorkspace;
let box: MailBox;
let transport: MailTransport;
beforeEach(async () => {
  [workspace, box] = await Promise.all([testWorkspace(), mailBox()]);
  const mail = { smtpUrl: box.url, from: FROM };
  workspace = { ...workspace, config: { ...workspace.config, mail } };
  transport = smtpTransport(mail);
});
afterEach(async () => {
  transport.close();
  await Promise.all([workspace.close(), box.close()]);
});

const rows = () => workspace.store.read.db.select().from(workspace.store.read.t.mails);
const send = () => sendDueMails(workspace, transport);

/** A mail's text as its reader sees it: long lines are folded on the way. */
function textOf(mail: string): string {
  const body = mail.slice(mail.indexOf("\r\n\r\n") + 4);
  return body.replace(/=\r\n/g, "").replace(/=3D/g, "=");
}

const header = (mail: string, name: string) => new RegExp(`^${name}: (.*)$`, "mi").exec(mail)?.[1]?.trim();

function write(occasion = "test"): Promise<boolean> {
  const text = { subject: "Grüße", body: "Zeile\n" };
  return workspace.store.write("test", (tx) =>
    writeMail(tx, workspace, { kind: "digest", occasion, recipient: "ana@example.com", text }),
  );
}

test("who is invited gets the link by mail, from our sender, and it is kept nowhere after", async () => {
  const { account } = await testAccount(workspace, { name: "Harbour Rovers" });
  const { setupUrl } = await addMember(workspace, {
    accountId: account.id,
    email: "ana@rovers.example",
    vouched: true,
  });
  expect((await rows()).map(({ body }) => body).join()).not.toContain("/console/setup/");
  expect(await send()).toBe(1);
  const [mail = ""] = box.received;
  expect(textOf(mail)).toContain(setupUrl ?? "none");
  expect([header(mail, "from"), header(mail, "to")]).toEqual([FROM, "ana@rovers.example"]);
  expect(header(mail, "subject")).toBe("You are invited to Harbour Rovers on cardpress");
  expect(header(mail, "auto-submitted")).toBe("auto-generated");
  expect(await rows()).toMatchObject([{ state: "sent", body: "", attempts: 1, kind: "invitation" }]);
  expect(await send()).toBe(0);
});

test("operators are invited too, and a new link for a password is mailed to whom it is for", async () => {
  const { user } = await addOperator(workspace, { email: "boss@service.example" });
  const { setupUrl } = await issueSetupLink(workspace, { userId: user.id });
  await send();
  const reset =
    box.received.find((mail) => header(mail, "subject") === "Set a new password on cardpress") ?? "";
  expect(textOf(reset)).toContain(setupUrl);
  expect(box.received).toHaveLength(2);
});

test("without an SMTP server nothing is written, and links are given as before", async () => {
  const silent = { ...workspace, config: { ...workspace.config, mail: undefined } };
  const { setupUrl } = await addOperator(silent, { email: "boss@service.example" });
  expect(setupUrl).toContain("/console/setup/");
  await writeNotices(silent);
  expect(await rows()).toEqual([]);
});

test("a server that is away for a while costs nothing but time, and its mails are the same ones then", async () => {
  await write();
  box.refuse = { code: 451, message: "Greylisted" };
  await send();
  expect(await rows()).toMatchObject([{ state: "pending", attempts: 1 }]);
  expect((await rows())[0]?.lastError).toContain("Greylisted");
  // Not before its time.
  expect(await send()).toBe(0);
  box.refuse = undefined;
  workspace.clock.advance(MAIL_RETRY_MS[0]);
  await send();
  const [mail = ""] = box.received;
  const [row] = await rows();
  expect(header(mail, "message-id")).toBe(`<${row?.id}@example.com>`);
  expect(row?.state).toBe("sent");
});

test("tries are bounded, and what is given up is reported and keeps no link", async () => {
  await write();
  box.refuse = { code: 451, message: "Try later" };
  for (const pauseMs of [0, ...MAIL_RETRY_MS]) {
    workspace.clock.advance(pauseMs);
    await send();
  }
  expect(await rows()).toMatchObject([{ state: "failed", attempts: MAIL_RETRY_MS.length + 1, body: "" }]);
  workspace.clock.advance(30 * 24 * HOUR_MS);
  expect(await send()).toBe(0);
});

test("several machines that send at once send each mail once", async () => {
  for (let n = 0; n < 12; n++) await write(`occasion ${n}`);
  const sent: string[] = [];
  // Slow enough that each machine looks while the others are sending.
  const machine: MailTransport = {
    send: async ({ id }) => {
      sent.push(id);
      await rows();
      return "sent";
    },
    close: () => {},
  };
  const attempted = await Promise.all([1, 2, 3].map(() => sendDueMails(workspace, machine)));
  for (;;) {
    const more = await sendDueMails(workspace, machine);
    attempted.push(more);
    if (more === 0) break;
  }
  expect(sent.toSorted()).toEqual((await rows()).map(({ id }) => id).toSorted());
  expect(attempted.reduce((sum, n) => sum + n)).toBe(12);
});

test("what a machine was sending when it died is sent by another, and the first one's late end changes nothing", async () => {
  await write();
  const died = Promise.withResolvers<"sent" | { refused: string }>();
  const begun = Promise.withResolvers<void>();
  const dying: MailTransport = {
    send: () => {
      begun.resolve();
      return died.promise;
    },
    close: () => {},
  };
  const stuck = sendDueMails(workspace, dying);
  await begun.promise;
  workspace.clock.advance(MAIL_LEASE_MS - 1);
  expect(await send()).toBe(0);
  workspace.clock.advance(1);
  expect(await send()).toBe(1);
  expect(box.received).toHaveLength(1);
  died.resolve({ refused: "late" });
  await stuck;
  expect(await rows()).toMatchObject([{ state: "sent", attempts: 1, lastError: null }]);
});

test("an address that is refused for good is not tried again, but a wrong password of ours is", async () => {
  await write("first");
  box.refuse = { code: 550, message: "No such mailbox" };
  await send();
  expect(await rows()).toMatchObject([{ state: "failed", attempts: 1 }]);
  await write("second");
  const wrong = smtpTransport({ smtpUrl: box.url.replace("secret", "wrong"), from: FROM });
  await sendDueMails(workspace, wrong);
  wrong.close();
  expect((await rows()).find(({ occasion }) => occasion === "second")).toMatchObject({ state: "pending" });
});

test("a mail whose transaction is rolled back was never written, and one occasion is one mail", async () => {
  const failing = workspace.store.write("test", async (tx) => {
    const text = { subject: "s", body: "b" };
    await writeMail(tx, workspace, { kind: "digest", occasion: "x", recipient: "ana@example.com", text });
    throw new Error("something else went wrong");
  });
  await expect(failing).rejects.toThrow();
  expect(await rows()).toEqual([]);
  expect([await write(), await write()]).toEqual([true, false]);
});

test("owners get one mail for each grant when credits run low, and once that they are out", async () => {
  const { account } = await testAccount(workspace, { name: "Rovers", credits: 5 });
  const add = (email: string, role: "owner" | "developer") =>
    addMember(
      { ...workspace, config: { ...workspace.config, mail: undefined } },
      { accountId: account.id, email, role, vouched: true },
    );
  await add("ana@rovers.example", "owner");
  await add("dev@rovers.example", "developer");
  const subjects = async () => {
    await writeNotices(workspace);
    await send();
    return box.received
      .map((mail) => `${header(mail, "to")}: ${header(mail, "subject")}`)
      .filter((line) => line.includes("credit"));
  };
  for (let n = 0; n < 3; n++) await acceptLive(workspace, account.id);
  expect(await subjects()).toEqual([]);
  await acceptLive(workspace, account.id);
  const low = "ana@rovers.example: Rovers has 1 credit left";
  expect([await subjects(), await subjects()]).toEqual([[low], [low]]);
  await acceptLive(workspace, account.id);
  expect(await subjects()).toEqual([low, "ana@rovers.example: Rovers has no credits left"]);
});

test("members get a mail about an endpoint that fails for an hour, and of its end, without its address", async () => {
  const { account } = await testAccount(workspace);
  await addMember(workspace, {
    accountId: account.id,
    email: "dev@rovers.example",
    role: "developer",
    vouched: true,
  });
  const config = { ...workspace.config, webhookAllowedOrigins: new Set(["http://127.0.0.1:9"]) };
  const { endpoint } = await createEndpoint(
    { ...workspace, config },
    { accountId: account.id, environment: "live", url: "http://127.0.0.1:9/hook?token=hush" },
  );
  const change = (to: Parameters<typeof changeEndpoint>[2]) =>
    workspace.store.write("test", (tx) => changeEndpoint(tx, endpoint.id, to));
  const failingSince = workspace.clock.now();
  await change({ failingSince, updatedAt: failingSince });
  const notices = async () => {
    await writeNotices(workspace);
    await send();
    return box.received.filter((mail) => header(mail, "subject")?.includes("endpoint"));
  };
  expect(await notices()).toEqual([]);
  workspace.clock.advance(HOUR_MS);
  expect(await notices()).toHaveLength(1);
  const disabledAt = workspace.clock.now();
  await change({
    state: "disabled",
    disabledReason: "It answered 410 Gone.",
    disabledAt,
    updatedAt: disabledAt,
  });
  const [failing = "", disabled = ""] = await notices();
  expect(textOf(failing)).toContain("127.0.0.1:9 has not taken any event");
  expect(textOf(disabled)).toContain("410 Gone");
  expect(box.received.join()).not.toContain("hush");
});

test("operators get one digest a day, with yesterday's cards and what needs attention", async () => {
  const { user } = await addOperator(workspace, { email: "boss@service.example" });
  await workspace.store.write("test", (tx) => setPassword(tx, user.id, { passwordHash: "x", isVouched: 1 }));
  await testAccount(workspace, { name: "Out Of Luck", credits: 0 });
  const { account } = await testAccount(workspace, { name: "Nearly There", credits: 1 });
  await acceptLive(workspace, account.id);
  const digests = async () => {
    await writeNotices(workspace);
    await send();
    return box.received.filter((mail) => header(mail, "subject")?.startsWith("cardpress on"));
  };
  workspace.clock.set("2026-11-16T04:59:00.000Z");
  expect(await digests()).toEqual([]);
  workspace.clock.set("2026-11-16T05:00:00.000Z");
  expect([(await digests()).length, (await digests()).length]).toEqual([1, 1]);
  const [mail = ""] = await digests();
  expect(header(mail, "subject")).toContain("2026-11-15");
  expect(textOf(mail)).toContain("Nearly There has no credits left.");
  expect(textOf(mail)).not.toContain("Out Of Luck");
  workspace.clock.set("2026-11-17T05:00:00.000Z");
  expect(await digests()).toHaveLength(2);
});

test("what was mailed is forgotten after a month", async () => {
  await write();
  await send();
  workspace.clock.advance(MAIL_RETENTION_MS + 1);
  await sweep(workspace);
  expect(await rows()).toEqual([]);
});
