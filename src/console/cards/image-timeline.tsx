/** @jsxImportSource preact */
import { isCanceled } from "../../core/image-state.ts";
import type { LedgerEntry } from "../../store/credits/ledger.ts";
import type { Image } from "../../store/images/images.ts";
import { Time } from "../elements.tsx";

interface Step {
  title: string;
  at: number | null;
  note?: string;
  tone?: "good" | "bad" | "busy";
}

/** What happened to an image, according to its row and ledger entries. */
export function timeline(image: Image, entries: LedgerEntry[]): Step[] {
  const reserved = entries.find((e) => e.kind === "reserve");
  const settled = entries.find((e) => e.kind === "settle");
  const released = entries.find((e) => e.kind === "release");
  const steps: Step[] = [
    {
      title: "Accepted",
      at: image.createdAt,
      note: reserved ? "One credit reserved." : "Test images cost no credit.",
    },
  ];
  if (image.renders > 0)
    steps.push({
      title: image.renders === 1 ? "Rendered" : `Rendered in ${image.renders} attempts`,
      at: null,
      ...(image.renders > 1
        ? { note: "An attempt was cut short on our side and was repeated by itself." }
        : {}),
    });
  if (image.state === "waiting") steps.push({ title: "Waiting for its photo", at: null, tone: "busy" });
  if (image.state === "queued") steps.push({ title: "Waiting for a renderer", at: null, tone: "busy" });
  if (image.state === "rendering") steps.push({ title: "Being rendered", at: image.updatedAt, tone: "busy" });
  if (image.state === "completed")
    steps.push({
      title: "Completed",
      at: image.completedAt,
      tone: "good",
      ...(settled ? { note: "The credit was used." } : {}),
    });
  if (image.state === "failed")
    steps.push({
      at: image.completedAt,
      ...(isCanceled(image) ? { title: "Canceled" } : { title: "Failed", tone: "bad" }),
      ...(released ? { note: "The credit came back." } : {}),
    });
  if (image.purgedAt !== null)
    steps.push({ title: "Picture removed", at: image.purgedAt, note: "Its time was over." });
  else if (image.expiresAt !== null) steps.push({ title: "Picture expires", at: image.expiresAt });
  return steps;
}

export function Timeline({ steps }: { steps: Step[] }) {
  return (
    <ol class="timeline">
      {steps.map((step) => (
        <li key={step.title} class={step.tone && `step-${step.tone}`}>
          <strong>{step.title}</strong>
          {step.at !== null && <Time at={step.at} />}
          {step.note && <p>{step.note}</p>}
        </li>
      ))}
    </ol>
  );
}
