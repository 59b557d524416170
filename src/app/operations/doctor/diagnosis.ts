/** What one check of `cardpress doctor` found. */
export interface Diagnosis {
  check:
    | "config"
    | "address"
    | "supervision"
    | "files"
    | "disk"
    | "clock"
    | "sandbox"
    | "browser"
    | "matte"
    | "mp4"
    | "templates"
    | "workers"
    | "bucket"
    | "sign-in"
    | "database"
    | "audit"
    | "pictures"
    | "webhooks"
    | "account buckets"
    | "backups";
  status: "ok" | "warning" | "failed";
  /** The finding and, unless it is ok, the remedy. */
  message: string;
}
