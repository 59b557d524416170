/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { KIT } from "../../web/kit.ts";
import { SHARE_ASSETS } from "./assets.ts";

/** A page for readers without a key. */
export function Document(props: {
  head: ComponentChildren;
  kind?: "frame" | "gallery";
  children: ComponentChildren;
}) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        {props.head}
        <link rel="icon" href={KIT.url("icon.svg")} type="image/svg+xml" />
        <link rel="stylesheet" href={SHARE_ASSETS.url("share.css")} />
      </head>
      <body class={props.kind}>{props.children}</body>
    </html>
  );
}
