import type { PictureAnswer, PictureRequest } from "../messages.ts";
import { el } from "./dom.ts";
import { Refused, server } from "./server.ts";
import { waitingFor } from "./wait.ts";

type Drawn = Extract<PictureAnswer, { kind: "drawn" }>;

/** One picture of the page: requests, decodes, then swaps it in, so that nothing flickers. */
export interface Pane {
  element: HTMLElement;
  /** The picture on the screen; null before the first. */
  drawn: Drawn | null;
  /** Resolves once the picture is on the screen, which is what the time from save to picture measures. */
  draw(request: PictureRequest): Promise<Drawn | null>;
}

/** @param onDrawn called once a new picture is on the screen */
export function createPane(onDrawn: (drawn: Drawn, pane: Pane) => void = () => {}): Pane {
  const picture = el("div", { class: "picture" });
  const note = el("p", { class: "refusal", hidden: true });
  const element = el("figure", { class: "pane", "data-state": "empty" }, picture, note);
  let newest = 0;
  const pane: Pane = {
    element,
    drawn: null,
    draw: async (request) => {
      newest += 1;
      const mine = newest;
      element.dataset.busy = "";
      try {
        const answer = await waitingFor(reasonOf(request, pane.drawn), server.picture(request));
        if (mine !== newest || answer.kind === "superseded") return null;
        if (answer.kind !== "drawn") {
          element.dataset.state = answer.kind;
          note.textContent = answer.kind === "refused" ? answer.message : "";
          note.hidden = answer.kind !== "refused";
          return null;
        }
        const image = el("img", { alt: "", draggable: "false", width: answer.width, height: answer.height });
        image.src = answer.url;
        await image.decode();
        if (mine !== newest) return null;
        picture.replaceChildren(image);
        note.hidden = true;
        element.dataset.state = "drawn";
        pane.drawn = answer;
        onDrawn(answer, pane);
        document.dispatchEvent(new Event("drawn"));
        return answer;
      } catch (error) {
        if (mine !== newest) return null;
        element.dataset.state = "refused";
        note.textContent =
          error instanceof Refused ? error.message : "The studio does not answer. Is it still running?";
        note.hidden = false;
        return null;
      } finally {
        if (mine === newest) delete element.dataset.busy;
      }
    },
  };
  return pane;
}

/** What a picture is waited for: its drawing alone takes no time that anybody would ask about. */
function reasonOf({ pane, photo }: PictureRequest, drawn: Drawn | null): string {
  const isOnStage = pane.endsWith(":card");
  if (photo !== undefined && isOnStage) return "Finding and cutting out the player";
  if (drawn === null && isOnStage) return "Starting the renderer";
  return isOnStage ? "Drawing" : "Drawing the other pictures";
}
