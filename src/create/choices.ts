/** What there is to choose from. Later versions may know more templates and stores. */
export const templates = ["starter", "minimal"] as const;
export const stores = ["sqlite", "postgres"] as const;
export const packageManagers = ["npm", "pnpm", "yarn", "bun"] as const;

export type Template = (typeof templates)[number];
export type Store = (typeof stores)[number];
export type PackageManager = (typeof packageManagers)[number];

/** What a person can be asked for. */
export type Asked = "dir" | "template" | "store" | "install" | "git";

/** The oldest Node that runs a bot. */
export const OLDEST_NODE = "22.18";

/** True when this Node (`20.11.1`, `v24.0.0`) runs a bot by itself. */
export function runsBots(nodeVersion: string): boolean {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, "").split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}
