import { expect, test } from "bun:test";
import { readCredits } from "../../src/console/operator/accounts.tsx";

test.each([
  ["1500", 1500],
  ["1,500", 1500],
  ["1 500", 1500],
  ["12,345,678", 12_345_678],
  ["0", 0],
])("credits written %p are %p", (text, credits) => {
  expect(readCredits(text, "Credits a month", 0)).toBe(credits);
});

test.each([
  "",
  " ",
  ",",
  "1,5",
  "1 2",
  "1,50,000",
  ",500",
  "1500,000",
  "1,000 000",
  "1.5",
  "-5",
  "1e3",
  "2000000000",
])("credits written %p are refused by name, never guessed at", (text) => {
  expect(() => readCredits(text, "Credits a month", 0)).toThrow("Credits a month must be a whole number");
});
