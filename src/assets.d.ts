// Files imported as text are carried inside a compiled binary.
declare module "*.sql" {
  const text: string;
  export default text;
}
