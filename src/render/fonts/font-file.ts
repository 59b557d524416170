/** One subset of a bundled family: its bytes and the @font-face rule with its characters. */
export interface FontFile {
  name: string;
  path: string;
  css: string;
}
