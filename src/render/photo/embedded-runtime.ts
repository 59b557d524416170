/**
 * The native ONNX runtime's compressed files inside this program, by name; null when running from source.
 * scripts/build.ts replaces this module with one that carries the files for the target processor.
 */
export const EMBEDDED_RUNTIME: Record<string, string> | null = null;
