/**
 * The native ONNX runtime's files inside this program, compressed, by their names; null when it runs from its sources.
 * scripts/build.ts puts a module in this one's place that carries those of the processor it builds for.
 */
export const EMBEDDED_RUNTIME: Record<string, string> | null = null;
