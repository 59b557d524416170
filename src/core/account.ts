// Account vocabulary: who owns credits, and what each role may do for the owner.

/** What an account pays for; its limits by minute and by day are in limits.ts. */
export const TIERS = ["starter", "growth", "scale"] as const;

/** Every key, image and webhook endpoint belongs to one; the key's prefix selects it. */
export const ENVIRONMENTS = ["live", "test"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** A suspended account keeps its data, and its keys are answered with 403. */
export const ACCOUNT_STATUSES = ["active", "suspended"] as const;

/**
 * What a member may do, the least first: a viewer reads everything and changes nothing, an owner also manages
 * the account's members and rules.
 */
export const MEMBER_ROLES = ["viewer", "developer", "owner"] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** The roles' names for people. */
export const ROLE_TITLES: Record<MemberRole, string> = {
  viewer: "Viewer",
  developer: "Developer",
  owner: "Owner",
};

/** Whether a role may do more than another one. */
export function isAbove(role: MemberRole, other: MemberRole): boolean {
  return MEMBER_ROLES.indexOf(role) > MEMBER_ROLES.indexOf(other);
}
