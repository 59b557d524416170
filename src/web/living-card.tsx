/** @jsxImportSource preact */
import { h } from "preact";

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
  /** Whether its picture waits until the reader comes near. */
  isLazy?: boolean;
}

/** A card as `<cardpress-card>`, for pages that load CARD_ELEMENT_VERSION; without script its picture. */
export function LivingCard({ picture, alt, width, height, still, back, isLazy }: LivingCardProps) {
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
  return h("cardpress-card", back === null ? {} : { back }, shown);
}
