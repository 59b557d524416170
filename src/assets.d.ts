// Files carried inside a compiled binary: SQL as its text, pictures and models as a path to read them from.
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.png" {
  const path: string;
  export default path;
}
declare module "*.svg" {
  const path: string;
  export default path;
}
declare module "*.jpg" {
  const path: string;
  export default path;
}
/** `import path from "x.woff2" with { type: "file" }`: a path that also works inside a compiled binary. */
declare module "*.woff2" {
  const path: string;
  export default path;
}
declare module "*.br" {
  const path: string;
  export default path;
}
declare module "*.webp" {
  const path: string;
  export default path;
}
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*.md" {
  const text: string;
  export default text;
}
