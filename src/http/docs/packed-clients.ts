/**
 * The packed clients inside this program, by file name; null when running from source, where they are packed
 * when somebody first asks. scripts/build.ts replaces this module with one that carries them.
 */
export const PACKED_CLIENTS: Record<string, string> | null = null;
