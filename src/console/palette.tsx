/** @jsxImportSource preact */
import { Icon } from "../web/icons.tsx";

/** A place or an action that can be gone to by its name. */
export interface PaletteEntry {
  label: string;
  href: string;
}

/** What can be done beside the pages of the navigation. */
const ACTIONS: readonly PaletteEntry[] = [
  { label: "Upload a squad list", href: "/console/lists/new" },
  { label: "Refused requests", href: "/console/requests?show=refused" },
  { label: "Test images", href: "/console/images?environment=test" },
  { label: "Your profile", href: "/console/profile" },
  { label: "Card options", href: "/docs/card-options" },
  { label: "API reference", href: "/docs/reference" },
  { label: "Documentation", href: "/docs" },
];

/** Other words by which people look for a place: what is on it, and what they call it at their club. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  "/console/images": "images pictures players photos",
  "/console/batches": "batches teams lists sheets zip download",
  "/console/lists/new": "team import spreadsheet excel csv photos folder many cards",
  "/console/sets": "collection numbers serials parallels checklist packs stickers",
  "/console/make": "one new card photo player single",
  "/console/match": "man woman game clip video share",
  "/console/playground": "try request api code developer",
  "/console/kits": "colours colors logo badge crest club design style",
  "/console/keys": "token secret developer",
  "/console/webhooks": "endpoints events notifications",
  "/console/bucket": "s3 storage export copy download developer",
  "/console/requests": "log errors developer",
  "/console/usage": "statistics budget limit alert",
  "/console/credits": "price money bill invoice plan balance buy",
  "/console/consent": "privacy permission parents withdraw no photo gdpr",
  "/console/data": "delete erase player export privacy gdpr",
  "/console/members": "people users team invite colleague access",
  "/console/activity": "history who changed audit",
  "/console/profile": "password email passkey sign in",
  "/docs/card-options": "sizes themes positions",
};

/** The keys that do something, each with what. The script knows them by these. */
const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["Ctrl", "K"], "Go to a page, an action or an image (Cmd K on a Mac)"],
  [["/"], "Write into the page's search"],
  [["G", "I"], "Cards"],
  [["G", "B"], "Squads"],
  [["G", "P"], "Playground"],
  [["G", "R"], "Requests"],
  [["Left"], "Previous image"],
  [["Right"], "Next image"],
  [["?"], "These keys"],
];

/** The button that opens the palette; shown by its script. */
export function PaletteButton() {
  return (
    <button type="button" class="icon-button" data-palette hidden aria-label="Go to a page (Ctrl K)">
      <Icon name="search" />
    </button>
  );
}

/** The palette and the table of keys, both closed. Without their script the navigation does the same. */
export function Palette({ places }: { places: readonly PaletteEntry[] }) {
  return (
    <>
      <dialog id="palette" aria-label="Go to">
        <input
          type="text"
          role="combobox"
          aria-label="A page, an action, a player, a squad, a set or an image id"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-autocomplete="list"
          autocomplete="off"
          spellcheck={false}
          placeholder="A page, a player, a squad, a set, an image id"
        />
        <div id="palette-list" role="listbox" aria-label="Places" tabIndex={-1}>
          {[...places, ...ACTIONS].map(({ label, href }, at) => (
            <div
              key={href}
              id={`palette-${at}`}
              role="option"
              aria-selected="false"
              tabIndex={-1}
              data-href={href}
              data-words={OTHER_WORDS[href]}
            >
              {label}
            </div>
          ))}
          <div
            id="palette-search"
            role="option"
            aria-selected="false"
            tabIndex={-1}
            data-search="/console/images?search="
            hidden
          />
        </div>
      </dialog>
      <dialog id="shortcuts" aria-labelledby="shortcuts-title">
        <h2 id="shortcuts-title">Keys</h2>
        <dl class="shortcuts">
          {KEYS.map(([keys, what]) => (
            <div key={what}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
        <label class="check">
          <input type="checkbox" data-single-keys defaultChecked /> Keys without Ctrl
        </label>
        <div class="dialog-actions">
          <button type="button" class="button" data-closes>
            Close
          </button>
        </div>
      </dialog>
    </>
  );
}
