import { notFound } from "../error.ts";
import type { Call, CallAnswer, Operation } from "./operation.ts";

/** Accounts (section 4). The payloads are not shown. */
export const userOperations: readonly Operation[] = [
  { method: "GET", path: "/me", scopes: ["read"], handle: readMe },
  { method: "GET", path: "/users/:username", scopes: ["read"], handle: readUser },
];

function readMe({ bot, views }: Call): CallAnswer {
  return { status: 200, body: views.profile(bot) };
}

function readUser({ store, views, id }: Call): CallAnswer {
  const user = store.people.find(id.toLowerCase());
  if (user === undefined) throw notFound("user");
  return { status: 200, body: views.profile(user) };
}
