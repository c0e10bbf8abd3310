import { notFound } from "../error.ts";
import type { Call, CallAnswer, Route } from "./route.ts";

/** Accounts (section 4). The payloads are not shown. */
export const userRoutes: readonly Route[] = [
  { method: "get", path: "/me", scopes: ["read"], handle: readMe },
  { method: "get", path: "/users/:username", scopes: ["read"], handle: readUser },
];

function readMe({ bot, views }: Call): CallAnswer {
  return { status: 200, body: views.profile(bot) };
}

function readUser({ store, views, id }: Call): CallAnswer {
  const user = store.people.find(id.toLowerCase());
  if (user === undefined) throw notFound("user");
  return { status: 200, body: views.profile(user) };
}
