/** @jsxImportSource preact */
import type { Image } from "../../store/images/images.ts";
import { labelOf } from "../card-words.ts";
import { Card, Time } from "../elements.tsx";
import { CardPicture, playerName } from "./image-parts.tsx";

/** With more differences it is another card altogether. */
const SHOWN_CHANGES = 12;

/** Every value of a request by its path, such as `style.width`. */
function values(value: unknown, place = ""): Map<string, string> {
  if (value === null || typeof value !== "object") return new Map([[place, String(value)]]);
  const parts = Object.entries(value).map(([name, each]) => values(each, place ? `${place}.${name}` : name));
  return new Map(parts.flatMap((part) => [...part]));
}

/** The differences between two requests, by path. */
function changesBetween(before: unknown, after: unknown): { place: string; from: string; to: string }[] {
  const [was, is] = [values(before), values(after)];
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((place) => was.get(place) !== is.get(place))
    .map((place) => ({ place, from: was.get(place) ?? "", to: is.get(place) ?? "" }));
}

/** A finished card beside the same player's previous one, and what differs between the requests. */
export function Comparison({ before, after }: { before: Image; after: Image }) {
  const changes = changesBetween(before.request, after.request).slice(0, SHOWN_CHANGES);
  return (
    <Card title="Compared with the one before">
      <div class="pictures">
        <Side image={before} label="Before" />
        <Side image={after} label="Now" />
      </div>
      {changes.length > 0 && (
        <dl class="facts changes">
          {changes.map(({ place, from, to }) => (
            <>
              <dt key={place} title={place}>
                {labelOf(place)}
              </dt>
              <dd>
                <del>{from || "nothing"}</del> <ins>{to || "nothing"}</ins>
              </dd>
            </>
          ))}
        </dl>
      )}
    </Card>
  );
}

function Side({ image, label }: { image: Image; label: string }) {
  return (
    <figure>
      <CardPicture
        image={image}
        className="picture"
        alt={`${label}: the card of ${playerName(image)}`}
        href={`/console/images/${image.id}`}
      />
      <figcaption>
        {label}, <Time at={image.createdAt} style="relative" />
      </figcaption>
    </figure>
  );
}
