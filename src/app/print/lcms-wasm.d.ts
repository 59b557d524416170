/** The part of lcms-wasm that is used here; it comes without types. Handles are addresses; 0 is a failure. */
declare module "lcms-wasm" {
  export interface Lcms {
    cmsOpenProfileFromMem(bytes: Uint8Array, length: number): number;
    cmsCreate_sRGBProfile(): number;
    cmsCloseProfile(profile: number): void;
    cmsGetProfileInfoASCII(profile: number, info: number, language: string, country: string): string;
    cmsCreateTransform(
      from: number,
      fromFormat: number,
      to: number,
      toFormat: number,
      intent: number,
      flags: number,
    ): number;
    cmsDoTransform(transform: number, input: Uint8Array, pixels: number): Uint8Array;
  }
  export const cmsInfoDescription: number;
  export const INTENT_RELATIVE_COLORIMETRIC: number;
  export const cmsFLAGS_BLACKPOINTCOMPENSATION: number;
  export const TYPE_RGB_8: number;
  export const TYPE_CMYK_8: number;
  export function instantiate(options: { wasmBinary: Uint8Array }): Promise<Lcms>;
}
