import { dirname } from "node:path";

/**
 * Files that take long and rarely break. Each day a third of them is run, another one the next day, and all
 * of them in a long run. A change of what one is about has it run at once: beside each are the places it is
 * about, as the beginnings of their paths.
 */
type Files = Record<string, readonly string[]>;

const CARD = ["src/render/card/", "src/system/page-scripts.ts", "src/templates/", "templates/"];
const PHOTO = ["src/render/photo/", "src/render/browser/", "src/system/page-scripts.ts"];
/** What all pages of the console are made of. */
const PAGES = ["src/web/", "src/console/layout.tsx", "src/console/elements.tsx", "src/console/assets/"];
const LISTS = [...PAGES, "src/console/batches/"];
const CARDS = [...PAGES, "src/console/cards/"];
const PEOPLE = [...PAGES, "src/console/people/", "src/app/people/"];
const POOL = ["src/render/pool", "src/render/worker.ts", "src/render/protocol.ts", "src/render/browser/"];

/** Each third takes about as long, with what is asked of PostgreSQL and Ceph that day. */
export const THIRDS: readonly Files[] = [
  {
    "test/render/pool.test.ts": POOL,
    "test/render/photo/photo-input.test.ts": PHOTO,
    "test/render/card/clear-players.test.ts": CARD,
    "test/http/print.test.ts": ["src/app/print/", "src/http/print.ts", "src/cli/print.ts"],
    "test/clients/card-element.test.ts": ["clients/card/", "src/web/card-element", "src/http/share/"],
    "test/disk/disk.test.ts": ["src/system/", "src/store/engine/", "src/blobs/"],
    "test/cli/template.test.ts": ["src/cli/template", "src/app/operations/publish-template.ts"],
    "test/cli/webhook.test.ts": ["src/cli/webhook", "src/app/webhooks/"],
    "test/render/card/layers.test.ts": CARD,
    "test/render/photo/matte-model.test.ts": [...PHOTO, "src/app/operations/doctor/check-matte.ts"],
    "test/http/samples.test.ts": ["src/http/docs/samples", "src/core/webhook-signature.ts"],
    "test/app/operations/doctor/doctor-cluster.test.ts": ["src/app/operations/doctor/", "src/cli/doctor.ts"],
    "test/console/accessibility.test.ts": PAGES,
    "test/console/list-looked.test.ts": LISTS,
    "test/mcp/mcp.test.ts": ["src/mcp/", "src/http/mcp.ts", "src/cli/mcp.ts"],
    "test/service/upgrade.test.ts": ["db/", "src/store/engine/"],
    "test/render/card/foil.test.ts": CARD,
    "test/render/card/sets-on-cards.test.ts": CARD,
    "test/console/for-print.test.ts": [...LISTS, "src/app/print/"],
    "test/console/template-choice.test.ts": [...CARDS, "src/console/template-choice.tsx"],
    "test/console/consent.test.ts": PEOPLE,
    "test/console/players.test.ts": [...CARDS, "src/app/people/consent.ts"],
    "test/render/placeholders/placeholder-words.test.ts": [...CARD, "src/render/placeholders/"],
    "test/render/card/metadata.test.ts": [...CARD, ...PHOTO],
    "test/render/card/face-target.test.ts": [...CARD, ...PHOTO],
    "test/console/kits.test.ts": [...CARDS, "src/app/people/brand-kits.ts"],
    "test/console/list-sets.test.ts": [...LISTS, "src/app/sets/"],
    "test/console/usage.test.ts": [...PAGES, "src/console/credits/"],
  },
  {
    "test/render/photo/photo.test.ts": PHOTO,
    "test/scripts/build.test.ts": ["scripts/build.ts", "src/main.ts", "package.json"],
    "test/deploy/base-path.test.ts": ["src/http/mount.ts", "src/core/base-path.ts", "deploy/"],
    "test/render/card/page-format.test.ts": CARD,
    "test/cli/doctor.test.ts": ["src/app/operations/doctor/", "src/cli/doctor.ts", "src/cli/audit.ts"],
    "test/disk/syncs.test.ts": ["src/system/", "src/store/engine/", "src/blobs/"],
    "test/app/operations/traces.test.ts": ["src/app/operations/trac"],
    "test/app/images/killing-photo.test.ts": POOL,
    "test/render/card/names-on-cards.test.ts": [...CARD, "src/render/fonts/"],
    "test/render/card/capture.test.ts": CARD,
    "test/render/browser/chromium.test.ts": ["src/render/browser/"],
    "test/render/browser/silence.test.ts": ["src/render/browser/", "src/render/photo/"],
    "test/crash/drain.test.ts": ["src/service/", "src/cli/serve.ts", "src/core/stop-limits.ts"],
    "test/console/pages.test.ts": [...CARDS, "src/console/webhooks/", "src/console/api/"],
    "test/console/playground.test.ts": CARDS,
    "test/cli/cli.test.ts": ["src/cli/"],
    "test/console/provider.test.ts": PEOPLE,
    "test/console/menu.test.ts": PAGES,
    "test/console/edit-in-batch.test.ts": [...LISTS, "src/console/cards/"],
    "test/blobs/bucket.test.ts": ["src/blobs/"],
    "test/console/palette.test.ts": [...PAGES, "src/console/palette.tsx", "src/console/find.ts"],
    "test/render/card/codes.test.ts": CARD,
    "test/console/make.test.ts": CARDS,
    "test/console/batches.test.ts": [...LISTS, "src/app/batches/"],
    "test/console/templates.test.ts": [...PAGES, "src/console/operator/", "src/templates/"],
    "test/console/first-run.test.ts": [...PEOPLE, "src/cli/serve.ts", "src/service/"],
    "test/console/waiting-lists.test.ts": LISTS,
    "test/render/card/page-cache.test.ts": ["src/render/card/", "src/render/card-renderer.ts"],
    "test/http/remake-batch.test.ts": ["src/app/batches/", "src/app/credits/", "src/http/remake.ts"],
    "test/scripts/packages.test.ts": ["package.json", "scripts/sbom.ts", "scripts/release"],
    "test/app/people/password-hash.test.ts": ["src/app/people/"],
    "test/cli/permissions.test.ts": ["src/system/", "src/cli/", "src/service/"],
    "test/render/photo/networks.test.ts": PHOTO,
    "test/app/batches/list-reader.test.ts": ["src/app/batches/", "src/system/own-limits.ts"],
    "test/app/batches/squad-list.test.ts": ["src/app/batches/"],
    "test/app/print/cmyk-jpeg.test.ts": ["src/app/print/"],
    "test/cli/user.test.ts": ["src/cli/", "src/app/people/"],
    "test/app/images/source-keeper.test.ts": ["src/app/images/", "src/blobs/"],
    "test/render/photo/exposure.test.ts": PHOTO,
    "test/render/card/themes.test.ts": CARD,
    "test/render/card/backs.test.ts": CARD,
    "test/console/data.test.ts": PEOPLE,
    "test/console/forgotten-password.test.ts": PEOPLE,
    "test/http/odd-clients.test.ts": ["src/http/"],
    "test/app/people/manage-users.test.ts": ["src/app/people/", "src/store/people/"],
    "test/app/webhooks/bad-receivers.test.ts": ["src/app/webhooks/", "src/sources/"],
  },
  {
    "test/studio/studio.test.ts": [
      "src/studio/",
      "src/system/page-scripts.ts",
      "src/cli/studio.ts",
      "src/cli/preview-pool.ts",
    ],
    "test/studio/check.test.ts": ["src/studio/", "src/cli/template-check.ts", ...CARD],
    "test/cli/render.test.ts": ["src/cli/render.ts", "src/cli/preview-pool.ts"],
    "test/render/pool-health.test.ts": POOL,
    "test/render/card/moving.test.ts": ["src/render/card/", "src/core/moving-pictures.ts"],
    "test/clients/typescript.test.ts": ["clients/typescript/", "src/http/openapi/"],
    "test/service/folder-bucket.test.ts": ["src/blobs/", "src/app/bucket-files.ts"],
    "test/clients/card-element-engines.test.ts": ["clients/card/", "src/web/card-element"],
    "test/cli/image.test.ts": ["src/cli/image.ts", "src/templates/pinned.ts"],
    "test/app/images/silent-dns.test.ts": ["src/sources/"],
    "test/render/browser/sealed-page.test.ts": ["src/render/browser/"],
    "test/console/operator.test.ts": [...PAGES, "src/console/operator/"],
    "test/console/list-previews.test.ts": LISTS,
    "test/render/card/page.test.ts": [...CARD, "src/render/browser/", "src/render/fonts/"],
    "test/console/sets.test.ts": CARDS,
    "test/console/list-photos.test.ts": LISTS,
    "test/console/again.test.ts": CARDS,
    "test/app/operations/audit/audit.test.ts": ["src/app/operations/audit/", "src/store/", "db/"],
    "test/app/operations/backup/backup.test.ts": [
      "src/app/operations/backup/",
      "src/cli/",
      "src/store/engine/",
    ],
    "test/clients/languages.test.ts": ["clients/", "src/http/openapi/"],
    "test/render/card/built-in-backs.test.ts": CARD,
    "test/console/publication.test.ts": CARDS,
    "test/render/card/repeated-pictures.test.ts": CARD,
    "test/cli/demo.test.ts": ["src/cli/demo", "src/cli/preview-pool.ts", "src/service/"],
    "test/render/card/card-look.test.ts": CARD,
    "test/app/images/clock-jumps.test.ts": ["src/app/images/", "src/core/steady-clock.ts", "src/service/"],
    "test/render/card/strays.test.ts": [...CARD, ...PHOTO],
    "test/render/photo/matte.test.ts": PHOTO,
    "test/http/base-path.test.ts": [...PAGES, "src/core/base-path.ts", "src/http/mount.ts", "src/console/"],
    "test/app/sets/set-pages.test.ts": ["src/app/sets/", "src/app/print/", ...CARD],
    "test/console/proxy.test.ts": [...PEOPLE, "src/http/client-address.ts", "src/http/host.ts"],
    "test/deploy/proxies.test.ts": ["deploy/", "src/http/mount.ts", "src/http/client-address.ts"],
    "test/render/card/display-name.test.ts": CARD,
    "test/app/mail/mail.test.ts": ["src/app/mail/", "src/core/mail.ts"],
    "test/console/operator-search.test.ts": [...PAGES, "src/console/operator/"],
    "test/app/exports/own-bucket.test.ts": ["src/app/exports/", "src/blobs/"],
    "test/cli/bucket.test.ts": ["src/cli/", "src/app/exports/"],
    "test/store/engine/upgrade.test.ts": ["db/", "src/store/engine/"],
    "test/render/card/colours.test.ts": CARD,
    "test/render/card/themes-on-cards.test.ts": CARD,
    "test/render/document.test.ts": ["src/render/", "src/app/sets/"],
    "test/app/people/oidc-sign-in.test.ts": ["src/app/people/"],
    "test/app/operations/audit/sealed-history.test.ts": ["src/app/operations/audit/", "src/store/", "db/"],
    "test/app/operations/backup/scheduled-backup.test.ts": ["src/app/operations/backup/", "src/system/"],
    "test/cli/backup.test.ts": ["src/app/operations/backup/", "src/cli/"],
    "test/http/status-page.test.ts": ["src/http/status", "src/web/", "src/app/operations/status.ts"],
    "test/console/filters.test.ts": [...CARDS, "src/console/filters.tsx"],
    "test/console/whats-new.test.ts": [...PAGES, "src/console/whats-new.tsx", "CHANGELOG.md"],
    "test/http/metrics.test.ts": ["src/http/metrics", "src/core/metrics.ts", "src/app/operations/gauges.ts"],
    "test/app/people/passkeys.test.ts": ["src/app/people/", "src/store/people/"],
    "test/app/webhooks/manage-webhooks.test.ts": ["src/app/webhooks/", "src/store/webhooks/"],
  },
];

/** What proves the engine itself is run on PostgreSQL each time, a third of the others each day. */
export const ALWAYS_ON_POSTGRES: readonly string[] = [
  "test/store/engine/postgres.test.ts",
  "test/store/postgres-plans.test.ts",
  "test/app/credits/ledger.test.ts",
  "test/app/images/leases.test.ts",
  "test/jobs/boss-jobs.test.ts",
  "test/jobs/jobs.test.ts",
];
const ENGINE = ["db/", "src/store/", "src/jobs/", "src/state/"];

const CEPH = ["src/blobs/", "src/app/exports/", "scripts/clustertest/ceph.ts", "scripts/test-s3.ts"];
/** The third with the shortest files. */
const CEPH_TURN = 2;

/** What everything is made with, such as the browser. */
const EVERYTHING = ["bun.lock", "patches/"];

/** What is run today: `isTurn` says whether it is the turn of a third, `changed` holds changed paths. */
export interface Today {
  isTurn(n: number): boolean;
  changed: readonly string[];
}

const touches = (changed: readonly string[], places: readonly string[]) =>
  changed.some((path) => places.some((place) => path.startsWith(place)));

/** Of these files all but those whose turn is on another day. */
export function onSqlite(files: readonly string[], { isTurn, changed }: Today): string[] {
  if (touches(changed, EVERYTHING)) return [...files];
  const helpers = changed.filter((path) => path.startsWith("test/") && !path.includes(".test."));
  const isHelped = (file: string) => helpers.some((path) => dirname(path) === dirname(file));
  const others = THIRDS.flatMap((third, n) => (isTurn(n) ? [] : Object.entries(third)));
  const left = others.filter(([file, places]) => !touches(changed, [file, ...places]) && !isHelped(file));
  const isLeft = new Set(left.map(([file]) => file));
  return files.filter((file) => !isLeft.has(file));
}

/** The same of the files that PostgreSQL is asked for too. */
export function onPostgres(files: readonly string[], { isTurn, changed }: Today): string[] {
  if (touches(changed, [...ENGINE, ...EVERYTHING])) return [...files];
  const isAlways = (file: string) => ALWAYS_ON_POSTGRES.includes(file);
  const others = files.filter((file) => !isAlways(file));
  return files.filter((file) => isAlways(file) || isTurn(others.indexOf(file)) || changed.includes(file));
}

export const isOnCeph = ({ isTurn, changed }: Today): boolean => isTurn(CEPH_TURN) || touches(changed, CEPH);
