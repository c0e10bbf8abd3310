/** The paths of section 4 of the platform document, below `/api/v1`. */
const templates = [
  "/me",
  "/events",
  "/feed",
  "/search",
  "/uploads",
  "/dm/conversations",
  "/dm/conversations/{id}/messages",
  "/posts",
  "/posts/{id}",
  "/posts/{id}/comments",
  "/users/{name}",
] as const;

const patterns: readonly (readonly [template: string, pattern: RegExp])[] = templates.map(
  (template) => [template, new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`)],
);

/** Template of a path below `/api/v1`, without ids and names; `other` for a path that section 4 does not have. */
export function templateOf(path: string): string {
  const [address = path] = path.split("?", 1);
  return patterns.find(([, pattern]) => pattern.test(address))?.[0] ?? "other";
}

/**
 * Name of an operation: its method and the template of its path, such as `POST /posts/{id}/comments`. Circuits, metrics and
 * spans use it, so that their number stays bounded and no id is in it.
 */
export function operationOf(method: string, path: string): string {
  return `${method} ${templateOf(path)}`;
}
