/** @jsxImportSource preact */

import { refuseFullUploads, uploadPhoto } from "../../app/images/upload-photo.ts";
import { type KitStyle, removeKit, saveKit } from "../../app/people/brand-kits.ts";
import { ASKED_COMPOSITIONS } from "../../core/card.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_ACCOUNT_NAME_CHARS, MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { uploadAt, uploadUrl } from "../../core/own-photos.ts";
import { findPhoto } from "../../store/images/photos.ts";
import { type BrandKit, findKit, listKits } from "../../store/people/brand-kits.ts";
import { compositionText, labelOf, presetText } from "../card-words.ts";
import { Options, ThemeField } from "../choices.tsx";
import { Breakable, Card, Confirm, Empty, Field, Notice, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { looksOf, TemplateChoice } from "../template-choice.tsx";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { Example } from "../ways.tsx";
import { ColourInput } from "./colour-input.tsx";
import { PHOTO_TYPES } from "./photo-drop.tsx";
import { photoThumb } from "./thumbs.ts";

const EMPTY: KitStyle = {
  name: "",
  preset: "",
  composition: "auto",
  backgroundTheme: "",
  primaryColor: "",
  secondaryColor: "",
  badgeUrl: "",
};

/** The upload that is a kit's badge; undefined where it has another one, or none. */
const badgeId = ({ deps }: MemberVisit, { badgeUrl }: Pick<KitStyle, "badgeUrl">) =>
  uploadAt(badgeUrl, deps.config);

/** A colour as a drawing, which needs no style of its own on the page. */
function Swatch({ colour, label }: { colour: string; label: string }) {
  return (
    <svg class="swatch" viewBox="0 0 40 40" role="img" aria-label={`${label} ${colour || "not set"}`}>
      {colour === "" ? (
        <path d="M4 36 36 4" class="swatch-none" />
      ) : (
        <rect width="40" height="40" fill={colour} />
      )}
    </svg>
  );
}

function KitTile({ visit, kit }: { visit: MemberVisit; kit: BrandKit }) {
  return (
    <li class="card kit">
      <div class="kit-look">
        <Swatch colour={kit.primaryColor} label="Main colour" />
        <Swatch colour={kit.secondaryColor} label="Second colour" />
        {badgeId(visit, kit) !== undefined && (
          <img src={`/console/kits/${kit.id}/badge`} alt="Badge" loading="lazy" height={40} />
        )}
      </div>
      <h2>
        <a href={`/console/kits/${kit.id}`}>
          <Breakable text={kit.name} />
        </a>
      </h2>
      <p class="note">
        <Breakable
          text={[
            presetText(kit.preset),
            kit.composition === "auto" ? "" : compositionText(kit.composition),
            kit.backgroundTheme,
          ]
            .filter((text) => text !== "")
            .join(", ")}
        />
      </p>
    </li>
  );
}

async function KitForm({
  visit,
  action,
  of,
  button,
}: {
  visit: MemberVisit;
  action: string;
  of: KitStyle;
  button: string;
}) {
  const looks = await looksOf(visit.deps.templates);
  const [only, ...others] = looks;
  const upload = badgeId(visit, of);
  return (
    <PostForm visit={visit} action={action} class="form" encType="multipart/form-data">
      <Field label="Name" id="name" hint="Such as Home, Away or Academy.">
        <input
          id="name"
          name="name"
          type="text"
          required
          value={of.name}
          maxLength={MAX_ACCOUNT_NAME_CHARS}
          aria-describedby="name-hint"
        />
      </Field>
      <div class="field-pair">
        <Field label="Main colour" id="primary_color">
          <ColourInput label="Main colour" id="primary_color" name="primary_color" value={of.primaryColor} />
        </Field>
        <Field label="Second colour" id="secondary_color">
          <ColourInput
            label="Second colour"
            id="secondary_color"
            name="secondary_color"
            value={of.secondaryColor}
          />
        </Field>
      </div>
      <Field
        label="Badge"
        id="file"
        hint={`JPEG, PNG or WebP, at most 5 MB; kept as long as the kit.${upload ? " The one above is chosen: another takes its place." : ""}`}
      >
        {upload !== undefined && (
          <img class="kit-badge" src={`/console/make/photos/${upload}/thumb`} alt="The badge so far" />
        )}
        <input
          id="file"
          name="file"
          type="file"
          class="drop"
          accept={PHOTO_TYPES}
          aria-describedby="file-hint"
        />
      </Field>
      <Field label="Or its address" id="badge_url">
        <input id="badge_url" name="badge_url" type="text" value={of.badgeUrl} />
      </Field>
      {others.length === 0 && ["", only?.manifest.name].includes(of.preset) && (
        <input type="hidden" name="preset" value={only?.manifest.name} />
      )}
      <TemplateChoice looks={looks} chosen={of.preset} />
      <Field label="Composition" id="composition">
        <select id="composition" name="composition">
          <Options names={ASKED_COMPOSITIONS} chosen={of.composition} text={compositionText} />
        </select>
      </Field>
      <ThemeField value={of.backgroundTheme} />
      {canWrite(visit) && (
        <div class="actions">
          <button type="submit" class="button button-primary">
            {button}
          </button>
        </div>
      )}
    </PostForm>
  );
}

interface Shown {
  /** What is in the form; of a refused one what was sent. */
  of: KitStyle;
  problem?: string;
}

async function kitsPage(visit: MemberVisit, { of, problem }: Shown = { of: EMPTY }): Promise<Response> {
  const kits = await listKits(visit.deps.store.read, visit.account.id);
  return shell(
    visit,
    "Brand kits",
    <>
      <PageHead
        title="Brand kits"
        lead="A brand kit is what all cards of a team have in common: its colours, badge, template and background, saved once and chosen for a squad list or a single card."
      />
      {kits.length === 0 ? (
        <Card>
          <Empty title="No brand kits yet" picture={<Example name="kits" />}>
            The same player in two kits.{" "}
            {canWrite(visit)
              ? "Save the first one below."
              : "Owners and developers of the account save them here."}
          </Empty>
        </Card>
      ) : (
        <ul class="kits">
          {kits.map((kit) => (
            <KitTile key={kit.id} visit={visit} kit={kit} />
          ))}
        </ul>
      )}
      {canWrite(visit) ? (
        <Card title="New kit">
          {problem && <Notice tone="bad">{problem}</Notice>}
          {await KitForm({ visit, action: "/console/kits", of, button: "Save the kit" })}
        </Card>
      ) : (
        kits.length > 0 && <p class="note">Owners and developers of the account save further kits.</p>
      )}
    </>,
    { status: problem ? 422 : 200 },
  );
}

async function ownKit({ deps, account, params }: MemberVisit): Promise<BrandKit> {
  const kit = await findKit(deps.store.read, { accountId: account.id, id: params.id ?? "" });
  if (!kit) throw notFound();
  return kit;
}

async function kitPage(visit: MemberVisit, sent?: Shown): Promise<Response> {
  const kit = await ownKit(visit);
  const path = `/console/kits/${kit.id}`;
  return shell(
    visit,
    kit.name,
    <>
      <PageHead title={kit.name} lead="What changes here holds for cards made from now on.">
        {canWrite(visit) && (
          <Confirm
            visit={visit}
            id="delete-kit"
            action={`${path}/delete`}
            button="Delete"
            title="Delete this kit?"
            confirm="Delete it"
            small={false}
          >
            <p>Cards made with it stay as they are.</p>
          </Confirm>
        )}
      </PageHead>
      <Card>
        {sent?.problem && <Notice tone="bad">{sent.problem}</Notice>}
        {await KitForm({ visit, action: path, of: sent?.of ?? kit, button: "Save" })}
      </Card>
    </>,
    { status: sent?.problem ? 422 : 200 },
  );
}

function sentStyle(visit: MemberVisit): KitStyle {
  return {
    name: field(visit, "name"),
    preset: field(visit, "preset"),
    composition: field(visit, "composition") || "auto",
    backgroundTheme: field(visit, "background_theme"),
    primaryColor: field(visit, "primary_color"),
    secondaryColor: field(visit, "secondary_color"),
    badgeUrl: field(visit, "badge_url"),
  };
}

/** Saves what was sent; shown again with what is wrong with it. */
async function save(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, file, session, exchange } = visit;
  const id = visit.params.id === undefined ? undefined : (await ownKit(visit)).id;
  const style = sentStyle(visit);
  try {
    if (file) {
      await refuseFullUploads(deps, account);
      const upload = { account, environment: "live", bytes: file.bytes, use: "badge" } as const;
      // Where the kit is refused, the form has it still; the saved kit keeps it for as long as itself.
      style.badgeUrl = uploadUrl(deps.config, (await uploadPhoto(deps, upload)).id);
    }
    const kit = await saveKit(deps, { accountId: account.id, by: user.id, id, style });
    await visit.flashes.put(session.id, { notice: `The kit ${kit.name} is saved.` });
    return redirect("/console/kits", exchange);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const details = (error.details ?? []).map((one) => `${labelOf(one.field)} ${one.message}`);
    const problem = details.length > 0 ? details.join(" ") : error.message;
    return id === undefined
      ? kitsPage(visit, { of: style, problem })
      : kitPage(visit, { of: style, problem });
  }
}

async function remove(visit: MemberVisit): Promise<Response> {
  const { id, name, accountId } = await ownKit(visit);
  await removeKit(visit.deps, { accountId, by: visit.user.id, id });
  await visit.flashes.put(visit.session.id, { notice: `The kit ${name} is deleted.` });
  return redirect("/console/kits", visit.exchange);
}

async function badge(visit: MemberVisit): Promise<Response> {
  const kit = await ownKit(visit);
  const { deps, account, now } = visit;
  const scope = { accountId: account.id, environment: "live", id: badgeId(visit, kit) ?? "", now } as const;
  const photo = await findPhoto(deps.store.read, scope);
  if (!photo) throw notFound();
  return photoThumb(visit, photo.sha256);
}

export const kitRoutes = [
  member.get("/console/kits", (visit) => kitsPage(visit)),
  member.upload("/console/kits", MAX_UPLOAD_BODY_BYTES, save),
  member.get("/console/kits/:id", (visit) => kitPage(visit)),
  member.get("/console/kits/:id/badge", badge),
  member.upload("/console/kits/:id", MAX_UPLOAD_BODY_BYTES, save),
  member.post("/console/kits/:id/delete", remove),
];
