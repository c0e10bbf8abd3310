import { idOf } from "../store/ids.ts";
import type { Call, CallAnswer, Route } from "./route.ts";

/** GET /me (section 4). The payload is not shown. */
export const meRoutes: readonly Route[] = [
  { method: "get", path: "/me", scopes: ["read"], handle: readMe },
];

function readMe({ store }: Call): CallAnswer {
  const { seq, username, name, isBot } = store.people.bot();
  return { status: 200, body: { id: idOf("u", seq), username, name, isBot, avatarUrl: null } };
}
