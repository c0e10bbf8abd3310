/** The scopes of a token (section 5, rule 2 of the platform document). */
export const allScopes = ["read", "posts:write", "comments:write", "dm"] as const;

/** Scopes of a token (section 1 of the platform document). */
export type Scope = (typeof allScopes)[number];
