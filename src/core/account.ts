// Account vocabulary: who owns credits, and what each role may do for the owner.

/** What an account pays for; its limits by minute and by day are in limits.ts. */
export const TIERS = ["starter", "growth", "scale"] as const;

/** Every key, image and webhook endpoint belongs to one; the key's prefix selects it. */
export const ENVIRONMENTS = ["live", "test"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** A suspended account keeps its data, and its keys are answered with 403. */
export const ACCOUNT_STATUSES = ["active", "suspended"] as const;

/** An owner also manages the account's members. */
export const MEMBER_ROLES = ["owner", "developer"] as const;
