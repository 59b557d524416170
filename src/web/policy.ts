/** What pages may do beyond showing our own files; which is nothing unless it is named here. */
interface PagePowers {
  /** Forms are sent to us, and scripts ask us for parts of the page. */
  forms: boolean;
}

/**
 * The headers of every page for people: scripts, styles, fonts and pictures come from our own files only, nothing inline
 * runs, and no other site may frame us.
 */
export function pagePolicy({ forms }: PagePowers): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self'",
    ...(forms ? ["connect-src 'self'"] : []),
    `form-action ${forms ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
  };
}
