import { tryBucket } from "../../../blobs/try-bucket.ts";
import type { Config } from "../../../config.ts";
import { readBucketNote } from "../../../system/bucket-note.ts";
import { type DataFolder, holdsOwnFiles } from "../../../system/data-folder.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Removed at once; a name that no blob has. */
const PROBE_KEY = "probe/doctor";

/** Whether the bucket of a data folder is its own, and lets this key do all that the service does. */
export async function checkBucket(
  { bucket: settings }: Config,
  folder: DataFolder,
): Promise<Omit<Diagnosis, "check">> {
  if (!settings) return { status: "ok", message: "photos and pictures are in the data folder" };
  const where = `${settings.bucket} at ${settings.endpoint}`;
  const { openBucket } = await import("../../../blobs/bucket.ts");
  const fault = await tryBucket(await openBucket(settings), PROBE_KEY);
  if (fault)
    return {
      status: "failed",
      message: `the key cannot ${fault.doing === "reach" ? "reach the bucket" : `${fault.doing} an object in`} ${where}: ${fault.error.message}. Look whether the bucket is there, whether its quota is used up, and whether the key may read, write, list and remove in it.`,
    };
  const works = `${where} takes, gives, lists and removes files`;
  const isFilled = readBucketNote(folder.bucketNote)?.state === "filled";
  if (isFilled && holdsOwnFiles(folder))
    return {
      status: "warning",
      message: `${works}, but ${folder.root} still holds those from before they were moved there. Once you do not want to go back: stop the service, and "cardpress migrate --files bucket --remove-source".`,
    };
  return { status: "ok", message: works };
}
