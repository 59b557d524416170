/** @jsxImportSource preact */
import { h } from "preact";
import type { LayerAddresses } from "../core/layers.ts";

export interface LivingCardProps {
  picture: string;
  alt: string;
  /** The picture's pixels, so that nothing shifts while it loads. */
  width: number;
  height: number;
  /** Of a picture that moves, one that stands still, for readers who asked for less motion. */
  still?: string | null;
  /** The picture of the other side. */
  back: string | null;
  /** Its parts, which take the picture's place and move against each other. */
  layers?: LayerAddresses | null;
  /** Whether its picture waits until the reader comes near. */
  isLazy?: boolean;
}

/** A card as `<cardpress-card>`, for pages that load CARD_ELEMENT_VERSION; without script its picture. */
export function LivingCard({ picture, alt, width, height, still, back, layers, isLazy }: LivingCardProps) {
  const image = (
    <img src={picture} alt={alt} width={width} height={height} loading={isLazy ? "lazy" : undefined} />
  );
  const shown = still ? (
    <picture>
      <source media="(prefers-reduced-motion: reduce)" srcSet={still} />
      {image}
    </picture>
  ) : (
    image
  );
  const parts = layers ? { layers: layers.layers.join(" "), "foil-mask": layers.foilMask } : {};
  return h("cardpress-card", { ...(back !== null && { back }), ...parts }, shown);
}
