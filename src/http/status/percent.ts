/** In per cent with two digits, never rounded up to a hundred. */
export const percent = (share: number): number => Math.floor(share * 10_000) / 100;
