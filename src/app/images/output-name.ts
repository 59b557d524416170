import { fillPath, SHARED_PATHS } from "../../core/api-paths.ts";
import { isVideoType, PICTURE_FORMATS, type PictureFormatName } from "../../core/picture-formats.ts";

/** Knowing the id must not be enough to open the picture, so the name has an unguessable part. */
export function outputName(imageId: string, format: PictureFormatName, unguessable: string): string {
  return `${imageId}-${unguessable}.${PICTURE_FORMATS[format].extension}`;
}

/** The id of the image that a picture of this name was made for. */
export function imageOfOutput(name: string): string {
  return name.slice(0, name.indexOf("-"));
}

/** What a picture's name and the address of its card's page have in common: the name without its ending. */
export function shareName(outputName: string): string {
  return outputName.replace(/\.\w+$/, "");
}

type Output = { outputContentType: string | null };

/** Whether it is a video, which no `<img>` shows. */
export const isVideo = ({ outputContentType }: Output): boolean => isVideoType(outputContentType);

/** Whether a page can show it; a file for the printer has none. */
export const isShareable = (image: Output): boolean =>
  isVideo(image) || (image.outputContentType?.startsWith("image/") ?? false);

/** The address of a card's page, which is as hard to guess as that of its picture. */
export function shareUrl(baseUrl: string, outputName: string): string {
  return baseUrl + fillPath(SHARED_PATHS.card, { card: shareName(outputName) });
}
