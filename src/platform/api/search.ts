import { invalid } from "../error.ts";
import { page, text, window } from "../http/query.ts";
import type { Window } from "../store/conversations.ts";
import { idOf, seqOf } from "../store/ids.ts";
import type { User } from "../store/people.ts";
import type { Post } from "../store/posts.ts";
import type { Store } from "../store/store.ts";
import type { Call, CallAnswer, Operation } from "./operation.ts";

/** The longest `q`, in UTF-16 units. */
const MAX_QUERY = 200;

/** GET /search (section 4). Parameters and payload are not shown; docs/platform.md has ours. */
export const searchOperations: readonly Operation[] = [
  { method: "GET", path: "/search", scopes: ["read"], handle: search },
];

type Hit = { readonly user: User } | { readonly post: Post };

/** Accounts first, then posts, each newest first. */
function search({ store, views, query }: Call): CallAnswer {
  const wanted = text(query, "q")?.trim() ?? "";
  if (wanted === "" || wanted.length > MAX_QUERY) {
    throw invalid(`q must be given: 1 to ${MAX_QUERY} characters`);
  }
  const cursor = text(query, "cursor") ?? "";
  const amongPosts = seqOf("p", cursor) !== undefined;
  const from = window(query, (id) => seqOf("u", id) ?? seqOf("p", id));
  const body = page(from, (rows) => hits(store, wanted, amongPosts, rows), {
    item: (hit) =>
      "user" in hit ? { type: "user" as const, ...views.profile(hit.user) } : views.post(hit.post),
    cursor: (hit) => ("user" in hit ? idOf("u", hit.user.seq) : idOf("p", hit.post.seq)),
  });
  return { status: 200, body };
}

function hits(store: Store, wanted: string, amongPosts: boolean, rows: Window): Hit[] {
  const users = amongPosts ? [] : store.people.search(wanted, rows);
  const posts = store.posts.search(wanted, {
    before: amongPosts ? rows.before : Number.MAX_SAFE_INTEGER,
    limit: rows.limit,
  });
  return [...users.map((user) => ({ user })), ...posts.map((post) => ({ post }))];
}
