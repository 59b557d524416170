/**
 * What stands on the pictures that scripts/placeholders.ts draws: a partner who gets one that all share must
 * not take it for a card of the player they sent.
 */
export const PLACEHOLDER_CARD = {
  name: "Placeholder",
  skill: 88,
  number: 10,
  primary: "#1b2440",
  secondary: "#c9d3e6",
};
