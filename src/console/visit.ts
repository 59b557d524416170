import type { AcceptedBatch, BatchCommand } from "../app/batches/accept-batch.ts";
import type { ReadSquadList } from "../app/batches/list-reader.ts";
import type { PreviewDeps } from "../app/batches/preview-card.ts";
import type { RemadeBatch, RemakeCommand } from "../app/batches/remake-cards.ts";
import type { AcceptImage } from "../app/images/accept-image.ts";
import type { ProgressTracker } from "../app/images/progress.ts";
import type { SmallerPictures } from "../app/images/smaller-pictures.ts";
import type { UploadDeps } from "../app/images/upload-photo.ts";
import type { DiskGauge } from "../app/operations/doctor/disk-use.ts";
import type { RequestLog } from "../app/operations/request-log.ts";
import type { OidcClient } from "../app/people/oidc-client.ts";
import type { PasskeyService } from "../app/people/passkeys.ts";
import type { PasswordResets } from "../app/people/password-resets.ts";
import type { Press } from "../app/print/cmyk-process.ts";
import type { WebhookContext } from "../app/webhooks/manage-webhooks.ts";
import type { Exchange } from "../http/exchange.ts";
import type { RateLimiter } from "../http/rate-limit.ts";
import type { Release } from "../release.ts";
import type { ShortLivedState, Values } from "../state/state.ts";
import type { Account } from "../store/people/accounts.ts";
import type { Session } from "../store/people/sessions.ts";
import type { MemberRole, User } from "../store/people/users.ts";
import type { TemplateRegistry } from "../templates/registry.ts";
import type { ListStore } from "./batches/list-store.ts";
import type { NewPhotoStore } from "./cards/new-photos.ts";
import type { Flash, FlashStore, SecretKind } from "./flash.ts";
import type { ResetLimit, SignInLimit } from "./people/sign-in-limit.ts";
import { isHtmxRequest } from "./respond.ts";

/** What the console needs of the running service. */
export interface ConsoleDeps extends WebhookContext, PreviewDeps, UploadDeps {
  /** Finished pictures in other sizes. */
  smaller: SmallerPictures;
  accept: AcceptImage;
  acceptBatch: (command: BatchCommand) => Promise<AcceptedBatch>;
  remakeCards: (command: RemakeCommand) => Promise<RemadeBatch>;
  readSquadList: ReadSquadList;
  press: Press | undefined;
  progress: ProgressTracker;
  disk: DiskGauge;
  state: ShortLivedState;
  templates: TemplateRegistry;
  limiter: RateLimiter;
  requests: RequestLog;
  passwordResets: Pick<PasswordResets, "request">;
  release: Release;
}

/** An uploaded file with its original name. */
export interface SentFile {
  name: string;
  bytes: Uint8Array;
}

/** One request to the console. */
export interface Visit {
  readonly deps: ConsoleDeps;
  readonly exchange: Exchange;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The fields of a POST; empty for a GET. */
  readonly form: URLSearchParams;
  /** The file of an upload form; null when none was chosen, and for all other requests. */
  readonly file: SentFile | null;
  /** The cookie's token, valid or not. */
  readonly token: string | undefined;
  readonly flashes: FlashStore;
  readonly lists: ListStore;
  readonly newPhotos: NewPhotoStore;
  readonly signIns: SignInLimit;
  readonly resets: ResetLimit;
  readonly passkeys: PasskeyService;
  /** The sign-in provider, if there is one, and which sign-ins there have been used. */
  readonly provider: { client: OidcClient; used: Values<true> } | undefined;
  readonly now: number;
}

/** A visit by a signed-in user. */
export interface UserVisit extends Visit {
  readonly user: User;
  readonly session: Session;
  /** The account whose console is open, if any. */
  readonly account: Account | null;
  /** `visitor`: an operator looking in, who may change nothing. Null without an account. */
  readonly role: MemberRole | "visitor" | null;
}

/** A visit to an account's console. */
export interface MemberVisit extends UserVisit {
  readonly account: Account;
  readonly role: MemberRole | "visitor";
}

/**
 * Who is admitted. `member`: members read and write, viewers and visiting operators only read. `owner`: only
 * owners write. `operator`: operators only. Everyone else is answered as if the path did not exist.
 */
export type Access = "anyone" | "user" | "member" | "owner" | "operator";

export interface ConsoleRoute {
  method: "GET" | "POST";
  /** Such as `/console/keys/:id`. */
  path: string;
  access: Access;
  /** Set for forms with a file: the maximum size of the body in bytes. */
  maxUploadBytes?: number;
  handle: (visit: Visit) => Promise<Response>;
}

type Handler<V> = (visit: V) => Promise<Response>;

function route<V extends Visit>(access: Access) {
  // The cast is justified by admit(), which lets no visit through without what its access level guarantees.
  const of = (method: "GET" | "POST") => (path: string, handle: Handler<V>) => ({
    method,
    path,
    access,
    handle: handle as unknown as Handler<Visit>,
  });
  return {
    get: of("GET"),
    post: of("POST"),
    /** A form with a file. */
    upload: (path: string, maxUploadBytes: number, handle: Handler<V>) => ({
      ...of("POST")(path, handle),
      maxUploadBytes,
    }),
  };
}

export const anyone = route<Visit>("anyone");
export const signedIn = route<UserVisit>("user");
export const member = route<MemberVisit>("member");
export const owner = route<MemberVisit>("owner");
export const operator = route<UserVisit>("operator");

/** A trimmed form field; "" when missing. */
export function field(visit: Visit, name: string): string {
  return (visit.form.get(name) ?? "").trim();
}

/** What this page shows once. A self-refreshing fragment takes nothing, because nobody would see it. */
export async function takeFlash(
  { flashes, session, exchange }: UserVisit,
  ...own: SecretKind[]
): Promise<Flash> {
  return isHtmxRequest(exchange.request) ? {} : flashes.take(session.id, ...own);
}

/** Whether a visitor may change things in this account. */
export function canWrite({ role }: Pick<UserVisit, "role">): boolean {
  return role === "owner" || role === "developer";
}
