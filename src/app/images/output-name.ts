import { PICTURE_FORMATS, type PictureFormatName } from "../../core/picture-formats.ts";

/** Knowing the id must not be enough to open the picture, so the name has an unguessable part. */
export function outputName(imageId: string, format: PictureFormatName, unguessable: string): string {
  return `${imageId}-${unguessable}.${PICTURE_FORMATS[format].extension}`;
}

/** The id of the image that a picture of this name was made for. */
export function imageOfOutput(name: string): string {
  return name.slice(0, name.indexOf("-"));
}
