import type { NavItem } from "../../web/frame.tsx";
import { withDeployFiles } from "./deploy-files.ts";
import authentication from "./guides/authentication.md" with { type: "text" };
import batches from "./guides/batches.md" with { type: "text" };
import cardOptions from "./guides/card-options.md" with { type: "text" };
import cardsOnAPage from "./guides/cards-on-a-page.md" with { type: "text" };
import clients from "./guides/clients.md" with { type: "text" };
import comparison from "./guides/comparison.md" with { type: "text" };
import credits from "./guides/credits.md" with { type: "text" };
import dataProtection from "./guides/data-protection.md" with { type: "text" };
import designers from "./guides/designers.md" with { type: "text" };
import idempotency from "./guides/idempotency.md" with { type: "text" };
import mcp from "./guides/mcp.md" with { type: "text" };
import onDemand from "./guides/on-demand.md" with { type: "text" };
import operating from "./guides/operating.md" with { type: "text" };
import operatingCapacity from "./guides/operating-capacity.md" with { type: "text" };
import operatingCluster from "./guides/operating-cluster.md" with { type: "text" };
import operatingSignIn from "./guides/operating-sign-in.md" with { type: "text" };
import overview from "./guides/overview.md" with { type: "text" };
import ownBucket from "./guides/own-bucket.md" with { type: "text" };
import pagination from "./guides/pagination.md" with { type: "text" };
import photos from "./guides/photos.md" with { type: "text" };
import printing from "./guides/printing.md" with { type: "text" };
import quickstart from "./guides/quickstart.md" with { type: "text" };
import rateLimits from "./guides/rate-limits.md" with { type: "text" };
import sets from "./guides/sets.md" with { type: "text" };
import settings from "./guides/settings.md" with { type: "text" };
import testing from "./guides/testing.md" with { type: "text" };
import troubleshooting from "./guides/troubleshooting.md" with { type: "text" };
import versions from "./guides/versions.md" with { type: "text" };
import webhooks from "./guides/webhooks.md" with { type: "text" };

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
    description: "From nothing to a card in three steps, with curl, TypeScript, Python, PHP or Go.",
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
    path: "/docs/batches",
    text: batches,
    description: "Up to a thousand cards together, from a spreadsheet or from your server.",
  },
  {
    path: "/docs/printing",
    text: printing,
    description: "A batch as one PDF with bleed, for a printer of cards or the one in the office.",
  },
  {
    path: "/docs/sets",
    text: sets,
    description: "Checklists, parallels and numbers that are given once.",
  },
  {
    path: "/docs/cards-on-a-page",
    text: cardsOnAPage,
    description: "A card that tilts, shines and turns over, on any page.",
  },
  {
    path: "/docs/on-demand",
    text: onDemand,
    description: "Signed addresses that make a card when they are opened, for link previews and mails.",
  },
  {
    path: "/docs/clients",
    text: clients,
    description: "Clients for TypeScript, Python and PHP, and the way to those for other languages.",
  },
  {
    path: "/docs/mcp",
    text: mcp,
    description: "Tools with which assistants make cards, over HTTP or on your machine.",
  },
  {
    path: "/docs/designers",
    text: designers,
    description: "From an empty folder to a published card template in ten minutes, with HTML and CSS.",
  },
  {
    path: "/docs/own-bucket",
    text: ownBucket,
    description: "Have finished cards put into S3-compatible storage of your own, and deleted there too.",
  },
  {
    path: "/docs/webhooks",
    text: webhooks,
    description: "Get a call when an image is ready, and verify who sent it.",
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
  {
    path: "/docs/data-protection",
    text: dataProtection,
    description: "What is kept of a player, for how long, and how it is deleted.",
  },
  {
    path: "/docs/operating",
    text: withDeployFiles(operating),
    description: "From a bare server to a service with TLS: systemd, proxy, containers, backups, upgrades.",
  },
  {
    path: "/docs/operating/settings",
    text: settings,
    description: "Every environment variable, its default and its meaning.",
  },
  {
    path: "/docs/operating/capacity",
    text: operatingCapacity,
    description: "What a thousand cards need of disk and processor, and what to watch.",
  },
  {
    path: "/docs/operating/sign-in",
    text: operatingSignIn,
    description: "Let people sign in at Keycloak, authentik, Entra ID or Google, with roles by their groups.",
  },
  {
    path: "/docs/operating/several-machines",
    text: operatingCluster,
    description: "When one machine is not enough: PostgreSQL, a bucket, and any number of equal servers.",
  },
  {
    path: "/docs/operating/troubleshooting",
    text: troubleshooting,
    description: "What to do, by what you see.",
  },
  {
    path: "/docs/versions",
    text: versions,
    description:
      "What stays as it is from release to release, what may change, and how long each is looked after.",
  },
  {
    path: "/docs/comparison",
    text: comparison,
    description: "What else makes player cards, and when it is the better choice.",
  },
];

export interface NavGroup {
  title: string;
  items: readonly NavItem[];
}

export const NAVIGATION: readonly NavGroup[] = [
  {
    title: "Start",
    items: [
      { href: "/docs", label: "Overview" },
      { href: "/docs/quickstart", label: "Quickstart" },
      { href: "/docs/authentication", label: "Authentication and keys" },
      { href: "/docs/testing", label: "Testing" },
      { href: "/docs/comparison", label: "Compared with others" },
    ],
  },
  {
    title: "Cards",
    items: [
      { href: "/docs/photos", label: "Photos that work well" },
      { href: "/docs/card-options", label: "Card options" },
      { href: "/docs/batches", label: "Batches" },
      { href: "/docs/sets", label: "Sets" },
      { href: "/docs/printing", label: "Print" },
      { href: "/docs/cards-on-a-page", label: "Cards on a page" },
      { href: "/docs/on-demand", label: "Pictures on demand" },
      { href: "/docs/designers", label: "Design a card" },
    ],
  },
  {
    title: "Build on it",
    items: [
      { href: "/docs/clients", label: "Clients" },
      { href: "/docs/mcp", label: "For assistants (MCP)" },
      { href: "/docs/webhooks", label: "Webhooks" },
      { href: "/docs/own-bucket", label: "Your own bucket" },
      { href: "/docs/idempotency", label: "Idempotency" },
      { href: "/docs/credits", label: "Credits" },
      { href: "/docs/rate-limits", label: "Rate limits" },
      { href: "/docs/pagination", label: "Pagination" },
      { href: "/docs/data-protection", label: "Data protection" },
    ],
  },
  {
    title: "Run it",
    items: [
      { href: "/docs/operating", label: "Install and run" },
      { href: "/docs/operating/settings", label: "Settings" },
      { href: "/docs/operating/capacity", label: "Capacity and monitoring" },
      { href: "/docs/operating/sign-in", label: "Sign-in by OpenID" },
      { href: "/docs/operating/several-machines", label: "Several machines" },
      { href: "/docs/operating/troubleshooting", label: "Troubleshooting" },
    ],
  },
  {
    title: "Reference",
    items: [
      { href: "/docs/reference", label: "API reference" },
      { href: "/docs/errors", label: "Errors" },
      { href: "/docs/versions", label: "Versions and support" },
      { href: "/docs/changelog", label: "Changelog" },
    ],
  },
];
