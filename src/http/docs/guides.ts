import authentication from "./guides/authentication.md" with { type: "text" };
import cardOptions from "./guides/card-options.md" with { type: "text" };
import credits from "./guides/credits.md" with { type: "text" };
import idempotency from "./guides/idempotency.md" with { type: "text" };
import overview from "./guides/overview.md" with { type: "text" };
import pagination from "./guides/pagination.md" with { type: "text" };
import photos from "./guides/photos.md" with { type: "text" };
import quickstart from "./guides/quickstart.md" with { type: "text" };
import rateLimits from "./guides/rate-limits.md" with { type: "text" };
import testing from "./guides/testing.md" with { type: "text" };
import webhooks from "./guides/webhooks.md" with { type: "text" };
import type { NavGroup } from "./layout.tsx";

export interface Guide {
  path: string;
  text: string;
  description: string;
}

export const GUIDES: readonly Guide[] = [
  {
    path: "/docs",
    text: overview,
    description:
      "Guides and reference of the cardpress API: football player cards from a photo and a few details.",
  },
  {
    path: "/docs/quickstart",
    text: quickstart,
    description: "From nothing to a card in four steps, with curl and TypeScript.",
  },
  {
    path: "/docs/authentication",
    text: authentication,
    description: "Live and test keys, how to keep, rotate and revoke them.",
  },
  {
    path: "/docs/testing",
    text: testing,
    description: "Test keys cost nothing, and choose how an image ends.",
  },
  {
    path: "/docs/photos",
    text: photos,
    description: "What is accepted, and what makes a good card.",
  },
  {
    path: "/docs/card-options",
    text: cardOptions,
    description: "Sizes, formats, themes, colours and badges.",
  },
  {
    path: "/docs/webhooks",
    text: webhooks,
    description: "Be told when an image is ready, and verify who tells you.",
  },
  {
    path: "/docs/idempotency",
    text: idempotency,
    description: "Send a request again without making, or paying, two images.",
  },
  {
    path: "/docs/credits",
    text: credits,
    description: "When a credit is reserved, used and given back.",
  },
  {
    path: "/docs/rate-limits",
    text: rateLimits,
    description: "Budgets a minute, the headers that report them, and what to do at 429.",
  },
  {
    path: "/docs/pagination",
    text: pagination,
    description: "Walk through your images with cursors that stay right.",
  },
];

export const NAVIGATION: NavGroup[] = [
  {
    title: "Start",
    items: [
      { path: "/docs", title: "Overview" },
      { path: "/docs/quickstart", title: "Quickstart" },
      { path: "/docs/authentication", title: "Authentication and keys" },
      { path: "/docs/testing", title: "Testing" },
    ],
  },
  {
    title: "Cards",
    items: [
      { path: "/docs/photos", title: "Photos that work well" },
      { path: "/docs/card-options", title: "Card options" },
    ],
  },
  {
    title: "Build on it",
    items: [
      { path: "/docs/webhooks", title: "Webhooks" },
      { path: "/docs/idempotency", title: "Idempotency" },
      { path: "/docs/credits", title: "Credits" },
      { path: "/docs/rate-limits", title: "Rate limits" },
      { path: "/docs/pagination", title: "Pagination" },
    ],
  },
  {
    title: "Reference",
    items: [
      { path: "/docs/reference", title: "API reference" },
      { path: "/docs/errors", title: "Errors" },
    ],
  },
];
