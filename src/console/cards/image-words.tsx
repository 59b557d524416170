/** @jsxImportSource preact */
import { storedRequestValidator } from "../../core/image-request.ts";
import type { Image } from "../../store/images/images.ts";
import { compositionText, labelOf, positionText } from "../card-words.ts";
import { Breakable, Card } from "../elements.tsx";

/** What is on a card, as the forms call it; nothing for a request that cannot be read any more. */
export function Words({ image }: { image: Image }) {
  const stored = storedRequestValidator.check(image.request);
  if (!stored.ok) return null;
  const { player, style, branding = {}, fields = {} } = stored.value;
  const facts: [string, unknown][] = [
    ["player.name", player.name],
    ["player.position", positionText(player.position)],
    ["player.number", player.number],
    ["player.skill_level", player.skill_level],
    ["style.background_theme", style.background_theme],
    ["style.composition", compositionText(image.outputComposition ?? style.composition ?? "auto")],
    ["branding.primary_color", branding.primary_color],
    ["branding.secondary_color", branding.secondary_color],
    ...Object.entries(fields).map(([name, value]): [string, unknown] => [`fields.${name}`, value]),
  ];
  // Lists and the like stand in the request below.
  const shown = facts.filter(([, value]) => ["string", "number"].includes(typeof value) && value !== "");
  return (
    <Card title="What it says">
      <dl class="facts">
        {shown.map(([field, value]) => (
          <>
            <dt key={field} title={field}>
              {labelOf(field)}
            </dt>
            <dd>
              <Breakable text={String(value)} />
            </dd>
          </>
        ))}
      </dl>
    </Card>
  );
}
