import { byId, el, toast } from "./dom.ts";
import { createPane, type Pane } from "./pane.ts";
import { server } from "./server.ts";
import { notify, pictureRequest, set, sizeOf, studio, template, view } from "./state.ts";
import { waitingFor } from "./wait.ts";

/** The longer side of a sample's thumbnail: twice its displayed size. */
const THUMB_PX = 280;

/** Delay after a save, in milliseconds: the next save's picture must not wait for thumbnails. */
const THUMBS_AFTER_MS = 500;

let thumbTimer: ReturnType<typeof setTimeout> | undefined;
const thumbs = new Map<string, Pane>();

/** The list of samples with their thumbnails, and the drop target for a photo. */
export function drawRail(isFresh: boolean): void {
  const samples = template()?.samples ?? [];
  const list = el(
    "ul",
    { class: "samples" },
    ...samples.map(({ name, text, problem }) => {
      const thumb = thumbs.get(name) ?? createPane();
      thumbs.set(name, thumb);
      const isChosen = name === view.sample;
      return el(
        "li",
        {},
        el(
          "button",
          {
            type: "button",
            "data-sample": name,
            "aria-current": isChosen ? "true" : null,
            title: problem ?? "Show this sample (j, k)",
            click: () => set({ sample: name, data: "" }),
          },
          thumb.element,
          el(
            "span",
            {},
            el("strong", {}, name.replaceAll("_", " ")),
            el("small", { class: problem ? "bad" : "" }, problem ? "does not fit" : playerOf(text)),
          ),
          isChosen && view.data !== "" && el("i", { class: "edited", title: "Edited, not saved" }),
        ),
      );
    }),
  );
  byId("rail").replaceChildren(el("h2", {}, "Samples"), list, photoBox());
  if (!isFresh) return;
  clearTimeout(thumbTimer);
  thumbTimer = setTimeout(drawThumbs, THUMBS_AFTER_MS);
}

/** Thumbnails are drawn after everything the designer is looking at. */
function drawThumbs(): void {
  const [width, height] = sizeOf(Object.keys(template()?.sizes ?? {})[0] ?? "");
  const scale = THUMB_PX / Math.max(width, height);
  for (const { name, text, problem } of template()?.samples ?? []) {
    if (problem) continue;
    const size: [number, number] = [Math.round(width * scale), Math.round(height * scale)];
    const { photo: _, ...request } = pictureRequest(`rail:${name}`, 7, size);
    void thumbs.get(name)?.draw({ ...request, body: JSON.parse(text), format: "png" });
  }
}

function playerOf(text: string): string {
  try {
    return String(JSON.parse(text).player?.name ?? "");
  } catch {
    return "";
  }
}

/** Takes a photo from the designer's disk through the real detection and cutout. */
function photoBox(): HTMLElement {
  const input = el("input", {
    type: "file",
    accept: "image/jpeg,image/png,image/webp",
    id: "photo-file",
    class: "offstage",
    change: (event: Event) => {
      const [file] = (event.target as HTMLInputElement).files ?? [];
      if (file) void usePhoto(file);
    },
  });
  return el(
    "div",
    { class: "own-photo" },
    el("h2", {}, "Photo"),
    studio.photo
      ? el(
          "p",
          { class: "photo-name" },
          el("span", {}, studio.photo.name),
          el(
            "button",
            { type: "button", class: "quiet", title: "Back to the sample's photo", click: dropPhoto },
            "Remove",
          ),
        )
      : el(
          "label",
          { class: "dropzone", for: "photo-file" },
          el("strong", {}, "Drop a photo"),
          el("span", {}, "anywhere, or choose one"),
        ),
    input,
  );
}

function dropPhoto(): void {
  studio.photo = null;
  notify(new Set(["photo"]));
}

/** Shows every picture with this photo until it is removed. */
export async function usePhoto(file: File): Promise<void> {
  try {
    const { id } = await waitingFor("Taking the photo", server.photo(file));
    studio.photo = { id, name: file.name };
    notify(new Set(["photo"]));
  } catch (error) {
    toast((error as Error).message, "bad");
  }
}
