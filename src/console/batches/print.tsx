/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";

import {
  areFoiled,
  type Printed,
  printable,
  printedBatch,
  printedImage,
  printFile,
} from "../../app/print/print-file.ts";
import { FOIL_NAME, PDFX_STANDARDS, PrintRequest } from "../../app/print/print-request.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { PRINT_SIZE_NAMES, type PrintSizeName, printSizeLabel } from "../../core/print-sizes.ts";
import { PRINTER_NAMES, printerOf } from "../../core/printers.ts";
import { compileValidator } from "../../core/validate.ts";
import type { Batch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { ownImage } from "../cards/image.tsx";
import { playerName } from "../cards/image-parts.tsx";
import { NewPhotos } from "../cards/photoless.tsx";
import { Card, Choice, counted, Empty, Field, Notice, PageHead } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { namedFile } from "./batch.tsx";
import { batchName } from "./batches.tsx";
import { foiledPresets, MakeForPrint, PrintSizeField, printPlan } from "./for-print.tsx";
import { ownBatch } from "./own-batch.ts";
import { printLinks } from "./print-batches.tsx";

/** What a page of print files is about. */
interface Subject {
  printed: Printed;
  id: string;
  /** The page it belongs to, whose address those of its print files begin with. */
  path: string;
  name: string;
  /** What the page says about it. */
  lead: string;
  back: string;
  /** What the page offers where the cards have no bleed, and what that needs first: asked for there alone. */
  remedy(): Promise<Remedy> | Remedy;
  /** The ways to cards that were made for print beside these, or back. */
  beside?: ComponentChildren;
}

interface Remedy {
  needs?: ComponentChildren;
  form: ComponentChildren;
}

async function batchSubject(visit: MemberVisit): Promise<Subject> {
  const batch = await ownBatch(visit);
  const printed = await printedBatch(visit.deps, batch);
  return {
    printed,
    id: batch.id,
    path: `/console/batches/${batch.id}`,
    name: batchName(batch),
    lead: `The cards of ${batchName(batch)} as one PDF, at 300 dots an inch, with their backs.`,
    back: "Back to the squad",
    remedy: () => batchRemedy(visit, batch, printed.images),
    beside: await printLinks(visit, batch),
  };
}

async function batchRemedy(visit: MemberVisit, batch: Batch, images: Image[]): Promise<Remedy> {
  const hasFoil = (await foiledPresets(visit, images)).size > 0;
  const plan = await printPlan(visit, batch, images);
  const path = `/console/batches/${batch.id}/for-print`;
  return {
    needs: <NewPhotos visit={visit} players={plan.photoless} path={path} />,
    form: <MakeForPrint {...{ visit, batch, plan, hasFoil }} />,
  };
}

async function imageSubject(visit: MemberVisit): Promise<Subject> {
  const image = await ownImage(visit);
  return {
    printed: printedImage(image),
    id: image.id,
    path: `/console/images/${image.id}`,
    name: playerName(image),
    lead: `The card of ${playerName(image)} as a PDF, at 300 dots an inch, with its back if it has one.`,
    back: "Back to the image",
    remedy: () => ({
      form: canWrite(visit) && (
        <form method="get" action={`/console/images/${image.id}/again`} class="form">
          <PrintSizeField name="print" />
          <div class="actions">
            <button type="submit" class="button button-primary">
              Make it again for print
            </button>
            <p class="note">{image.environment === "live" ? "One credit." : "Test cards are free."}</p>
          </div>
        </form>
      ),
    }),
  };
}

/** What print files there can be, or why there can be none. */
async function printPage(visit: MemberVisit, { printed, path, name, ...words }: Subject): Promise<Response> {
  const { images } = printed;
  const { cards, size } = printable(images);
  const remedy = size === undefined && cards.length > 0 ? await words.remedy() : undefined;
  return shell(
    visit,
    `${name}, print file`,
    <>
      <PageHead
        title="Print file"
        lead={`${words.lead} The file is free${remedy ? "; making cards again for it is not, as said below" : ""}.`}
      >
        <a class="button" href={path}>
          {words.back}
        </a>
      </PageHead>
      {words.beside}
      {remedy?.needs}
      <Card>
        {cards.length === 0 ? (
          <NoPicture images={images} />
        ) : size === undefined ? (
          <>
            <Empty title={images.length === 1 ? "This card has no bleed" : "These cards have no bleed"}>
              A printer cuts off a little on every side, so cards for print are made larger from the start.
              Make them in a size for print: {PRINT_SIZE_NAMES.map(printSizeLabel).join(", ")}.
            </Empty>
            {remedy?.form}
          </>
        ) : (
          <PrintForm
            action={`${path}/print.pdf`}
            images={images}
            cards={cards}
            size={size}
            hasPress={visit.deps.press !== undefined}
            hasFoil={await areFoiled(visit.deps.blobs, cards.slice(0, 1))}
          />
        )}
      </Card>
    </>,
  );
}

/** Why no card has a picture to print. */
function NoPicture({ images: [image, ...others] }: { images: Image[] }) {
  if (others.length > 0)
    return <Empty title="None of these cards has a picture">Only finished cards can be printed.</Empty>;
  if (image?.state === "failed")
    return (
      <Empty title="This card failed">It has no picture to print. Its page says why, and what helps.</Empty>
    );
  if (image?.state === "completed")
    return <Empty title="This card's picture has expired">Make the card again to print it.</Empty>;
  return <Empty title="This card is not finished">It can be printed once it has a picture.</Empty>;
}

/** The choices there are for these cards, as a form. */
function PrintForm(props: {
  action: string;
  images: Image[];
  cards: Image[];
  size: PrintSizeName;
  hasPress: boolean;
  hasFoil: boolean;
}) {
  const { action, images, cards, size, hasPress, hasFoil } = props;
  const missing = images.length - cards.length;
  return (
    <form method="get" action={action} class="form">
      {missing > 0 && (
        <Notice tone="warn">
          {counted(missing, "card")} of {images.length} {missing === 1 ? "has" : "have"} no picture and will
          not be in the file.
        </Notice>
      )}
      <p>
        {counted(cards.length, "card")} of {printSizeLabel(size)}.
      </p>
      <Choice
        legend="By the published rules of"
        name="printer"
        options={[["", "Nobody: as chosen below"], ...printersFor(size, hasPress)]}
        chosen=""
      />
      <Unoffered size={size} hasPress={hasPress} />
      <OwnRules {...{ cards, hasPress }} />
      {hasFoil && (
        <Field
          label="Foil"
          id="foil"
          hint="What the printer calls the spot colour of foil, such as Foil, for a plate with what these cards have of it. Empty: none."
        >
          <input id="foil" name="foil" type="text" pattern={FOIL_NAME} aria-describedby="foil-hint" />
        </Field>
      )}
      <button type="submit" class="button button-primary">
        Download PDF
      </button>
    </form>
  );
}

/** What a printer's rules settle; shown while none is chosen, whose rules stand in for all of it. */
function OwnRules({ cards, hasPress }: { cards: Image[]; hasPress: boolean }) {
  return (
    <div class="form own-rules">
      <Choice
        legend="For"
        name="sheet"
        options={[
          ["", "A printer of cards: each side on a page of its own, with bleed"],
          ["a4", "Sheets of A4, to cut by hand"],
          ["letter", "Sheets of US Letter, to cut by hand"],
        ]}
        chosen=""
      />
      <Choice
        legend="Crop marks"
        name="marks"
        options={[
          ["", "None, as most printers of cards want it"],
          ["yes", "Lines that show where to cut"],
        ]}
        chosen=""
      />
      {cards.some(({ backOutputName }) => backOutputName !== null) && (
        <Choice
          legend="Cards with a back"
          name="order"
          options={[
            ["front_first", "Front first"],
            ["back_first", "Back first"],
          ]}
          chosen="front_first"
        />
      )}
      {hasPress && (
        <Choice
          legend="Colours"
          name="colour"
          options={[
            ["rgb", "sRGB, as the pictures have them"],
            ["pdfx_4", "CMYK in the inks of the press that was set up here (PDF/X-4)"],
            ["pdfx_1a", "The same as PDF/X-1a, which some printers insist on"],
          ]}
          chosen="rgb"
        />
      )}
    </div>
  );
}

/** Why other printers are not offered; nothing where all are. */
function Unoffered({ size, hasPress }: { size: PrintSizeName; hasPress: boolean }) {
  const others = PRINTER_NAMES.map(printerOf).flatMap((printer) => {
    if (printer.size && printer.size !== size)
      return [`${printer.name} takes ${printSizeLabel(printer.size)}`];
    if (printer.colour === "cmyk" && !hasPress)
      return [`${printer.name} takes CMYK, for which the operator has to set up a press`];
    return [];
  });
  if (others.length === 0) return null;
  return <p class="note">Not for these cards: {others.join("; ")}.</p>;
}

/** The printers who take cards of this size, and what they ask for. */
function printersFor(size: PrintSizeName, hasPress: boolean): [name: string, label: string][] {
  return PRINTER_NAMES.flatMap((key): [string, string][] => {
    const printer = printerOf(key);
    if ((printer.size && printer.size !== size) || (printer.colour === "cmyk" && !hasPress)) return [];
    const rules = [
      printer.sheets.length > 0 ? "sheets of A4" : "each side on a page of its own",
      printer.marks ? "crop marks" : "no crop marks",
      ...(printer.order === "back_first" ? ["backs first"] : []),
      ...(printer.standard
        ? [`${PDFX_LABELS[printer.standard]} with at most ${printer.inkLimit} % ink`]
        : []),
    ];
    return [[key, `${printer.name}: ${rules.join(", ")}`]];
  });
}

const PDFX_LABELS = { pdfx_4: "PDF/X-4", pdfx_1a: "PDF/X-1a" } as const;

const printRequest = compileValidator(PrintRequest, "address");

/** What the form, or an address, asks for. A printer's rules stand in for all other choices but foil. */
function askedFor(query: URLSearchParams): PrintRequest {
  const given = (name: string) => query.get(name) || undefined;
  const [colour, marks] = [given("colour"), given("marks")];
  const standard = PDFX_STANDARDS.find((one) => one === colour);
  const choices = given("printer")
    ? { printer: given("printer") }
    : {
        sheet: given("sheet"),
        marks: marks === "yes" ? true : marks,
        order: given("order"),
        ...(standard ? { colour: "cmyk", standard } : { colour }),
      };
  const asked = { ...choices, foil: given("foil"), incomplete: true };
  const checked = printRequest.check(
    Object.fromEntries(Object.entries(asked).filter(([, v]) => v !== undefined)),
  );
  if (!checked.ok) throw invalidRequest(checked.details);
  return checked.value;
}

async function file(visit: MemberVisit, { printed, id, name }: Subject): Promise<Response> {
  const pdf = await printFile(visit.deps, printed, askedFor(visit.query));
  return namedFile(visit, pdf, { name, plainName: id, extension: "pdf" });
}

export const printRoutes = [
  member.get("/console/batches/:id/print", async (visit) => printPage(visit, await batchSubject(visit))),
  member.get("/console/batches/:id/print.pdf", async (visit) => file(visit, await batchSubject(visit))),
  member.get("/console/images/:id/print", async (visit) => printPage(visit, await imageSubject(visit))),
  member.get("/console/images/:id/print.pdf", async (visit) => file(visit, await imageSubject(visit))),
];
