import type { Page } from "puppeteer-core";
import { addMember, addOperator } from "../../src/app/people/manage-users.ts";
import { completeSetup, startSession } from "../../src/app/people/sign-in.ts";
import type { ConsoleRoute } from "../../src/console/visit.ts";
import type { Workspace } from "../../src/service/workspace.ts";
import type { MemberRole, User } from "../../src/store/people/users.ts";

export const PASSWORD = "a pitch of wet grass";

type Deps = Pick<Workspace, "store" | "clock" | "random" | "config" | "secrets">;

/** A member with a password. */
export async function testMember(
  deps: Deps,
  accountId: string,
  email: string,
  role: MemberRole = "owner",
): Promise<User> {
  const { setupUrl } = await addMember(deps, { accountId, email, role, vouched: true });
  return completeSetup(deps, { token: tokenOf(setupUrl), password: PASSWORD, email });
}

export async function testOperator(deps: Deps, email: string): Promise<User> {
  const { setupUrl } = await addOperator(deps, { email });
  return completeSetup(deps, { token: tokenOf(setupUrl), password: PASSWORD, email });
}

export function tokenOf(setupUrl: string | null): string {
  return setupUrl?.split("/").pop() ?? "";
}

/** The address of a route, with an id of each kind, such as `images`, in the place of its parameter. */
export function addressOf({ path }: Pick<ConsoleRoute, "path">, ids: Record<string, string>): string {
  const kind = path.split("/")[path.includes("/operator/") ? 3 : 2] ?? "";
  const values: Record<string, string | undefined> = {
    id: ids[kind],
    user: ids.user,
    token: "A".repeat(43),
    name: kind === "templates" ? "club_card" : "img_none.png",
    layout: "portrait",
  };
  return path.replace(/:(\w+)/g, (_, name) => values[name] ?? "none");
}

export interface Client {
  cookie: string;
  get(path: string): Promise<Response>;
  /** Sends a form from our own origin with the session's token, unless headers or fields say otherwise. */
  post(path: string, fields?: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  /** Sends a form with a file. */
  upload(path: string, file: File, fields?: Record<string, string>): Promise<Response>;
}

/** Somebody signed in, without a browser. */
export async function client(deps: Deps, baseUrl: string, user: User): Promise<Client> {
  const { token } = await startSession(deps, user, undefined);
  const cookie = `cardpress=${token}`;
  const get = (path: string) => fetch(baseUrl + path, { headers: { cookie }, redirect: "manual" });
  const page = await (await get("/console/profile")).text();
  const csrf = /name="_csrf" value="([\w-]+)"/.exec(page)?.[1] ?? "";
  return {
    cookie,
    get,
    post: (path, fields = {}, headers = {}) =>
      fetch(baseUrl + path, {
        method: "POST",
        redirect: "manual",
        headers: { cookie, origin: baseUrl, ...headers },
        body: new URLSearchParams({ _csrf: csrf, ...fields }),
      }),
    upload: (path, file, fields = {}) => {
      const body = new FormData();
      for (const [name, value] of Object.entries({ _csrf: csrf, ...fields })) body.append(name, value);
      body.append("file", file);
      return fetch(baseUrl + path, {
        method: "POST",
        redirect: "manual",
        headers: { cookie, origin: baseUrl },
        body,
      });
    },
  };
}

/** Signs a user in, replacing the browser's previous session. */
export async function signIn(page: Page, baseUrl: string, email: string): Promise<void> {
  await page.deleteCookie({ name: "cardpress", url: baseUrl });
  await page.goto(`${baseUrl}/console/sign-in`);
  await page.type("#email", email);
  await page.type("#password", PASSWORD);
  await submit(page, "main form button[type=submit]");
}

/** Presses a button and waits for the page it leads to. */
export async function submit(page: Page, selector: string): Promise<void> {
  await Promise.all([page.waitForNavigation(), page.click(selector)]);
}

/** What a reader sees: unlike textContent, without hidden deps. */
export function textOf(page: Page, selector = "main"): Promise<string> {
  // biome-ignore lint/performance/useDomNodeTextContent: only innerText leaves out what is not shown.
  return page.$eval(selector, (element) => (element as HTMLElement).innerText);
}
