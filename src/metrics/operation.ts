/** Where the client may call, below `/api/v1`. */
const templates: ReadonlySet<string> = new Set([
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
]);

/** A request by its method and the template of its path: what it is about, never whom. */
export function operationOf(method: string, path: string): string {
  const template = path
    .replace(/^\/(dm\/conversations|posts)\/[^/]+/, "/$1/{id}")
    .replace(/^\/users\/[^/]+/, "/users/{name}");
  return `${method} ${templates.has(template) ? template : "other"}`;
}
