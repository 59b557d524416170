// Files carried inside a compiled binary: SQL as its text, pictures and models as a path to read them from.
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.png" {
  const path: string;
  export default path;
}
