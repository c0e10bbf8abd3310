import type { Apps } from "../apps.ts";
import type { ClockControl } from "../clock.ts";
import type { Route } from "../http/routes.ts";
import type { Snapshots } from "../snapshots.ts";
import type { BotInboxes } from "./bot-inboxes.ts";
import type { Control } from "./control.ts";

/**
 * The requests of the control API: one for each method and property of {@link Control} and its parts. The server, the
 * client and the checks of calls in process derive from this table. The portal loads it too, so it imports only types.
 */

/** A parameter of a method, and its place in the request. */
export interface Argument {
  readonly name: string;
  /** `field` is a field of the JSON body, and `body` is the whole JSON body. */
  readonly in: "path" | "query" | "field" | "body" | "bytes";
  /** Name in the path, query or body. */
  readonly key: string;
  /** The argument is an object of these query parameters. */
  readonly fields?: readonly string[];
}

export interface ControlRoute<A extends readonly Argument[] = readonly Argument[]> extends Route {
  readonly args: A;
  readonly status: 200 | 201;
  /** Field of the response that contains the result. By default, the response is the result. */
  readonly result?: string;
}

export type Part = Apps | BotInboxes | ClockControl | Snapshots;

/** `limits` and `webhook` have no request, because `limitsOf` and `webhookOf` return the same. */
export type Served = Omit<Control, "limits" | "webhook">;

/** A route for each method and property of a class. It has as many arguments as the method has parameters. */
export type RoutesOf<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => unknown
    ? ControlRoute<ArgumentsOf<A>>
    : T[K] extends Part
      ? RoutesOf<T[K]>
      : ControlRoute<readonly []>;
};

type ArgumentsOf<A extends readonly unknown[]> = { readonly [I in keyof A]-?: Argument };

export interface ControlRoutes extends RoutesOf<Served> {
  readonly timeline: ControlRoute<readonly [Argument, Argument]>;
  readonly stream: ControlRoute<readonly [Argument]>;
}

const route =
  (method: Route["method"], status: ControlRoute["status"]) =>
  <A extends readonly Argument[]>(path: string, ...args: A): ControlRoute<A> => {
    return { method, path, status, args };
  };

const get = route("GET", 200);
const put = route("PUT", 200);
const post = route("POST", 200);
const create = route("POST", 201);
const remove = route("DELETE", 200);

function within<R extends ControlRoute>(result: string, of: R): R {
  return { ...of, result };
}

const argument =
  (place: Argument["in"]) =>
  (name: string, key: string = name): Argument => {
    return { name, in: place, key };
  };

const path = argument("path");
const query = argument("query");
const field = argument("field");
const body = argument("body");
const bytes = argument("bytes");

/** An object of query parameters. */
function queries(...fields: readonly string[]): Argument {
  return { ...query("input"), fields };
}

/** Username of the app's bot. Default: the first bot. */
export const bot: Argument = query("bot");

/** Username of a bot, which is needed only if several bots have the event. */
const owner = query("bot");

const MESSAGES = "/conversations/:id/messages";

const id = path("id");
const page = queries("limit", "cursor");

export const routes: ControlRoutes = {
  state: get("/state", bot),
  act: create("/act", body("input")),
  addImage: create("/images", bytes("bytes"), queries("from")),
  people: within("items", get("/people")),
  createPerson: create("/people", body("input")),
  createGroup: create("/groups", body("input")),
  blocks: within("items", get("/blocks")),
  setBlock: within("items", put("/blocks", body("input"))),
  reset: post("/reset"),

  conversations: get("/conversations", queries("of", "limit", "cursor")),
  messages: within("items", get(MESSAGES, path("conversationId", "id"))),
  messagesPage: get(MESSAGES, path("conversationId", "id"), queries("limit", "before")),
  deleteMessage: remove("/messages/:id", path("messageId", "id")),
  posts: get("/posts", page),
  post: get("/posts/:id", path("postId", "id")),
  comments: within("items", get("/posts/:id/comments", path("postId", "id"))),

  events: within("events", get("/events", query("since"), bot, query("limit"))),
  event: get("/events/:id", id, owner),
  call: get("/calls/:id", id),
  timeline: get("/timeline", query("after"), query("waitMs")),
  stream: get("/stream", query("after")),

  createToken: create("/tokens", field("scopes"), field("bot")),
  webhookOf: get("/webhook", bot),
  saveWebhook: put("/webhook", body("change"), bot),
  regenerateWebhookSecret: within("secret", create("/webhook/secret", bot)),
  notifications: within("items", get("/notifications", bot)),
  botView: get("/bot", bot),

  deliveries: get("/deliveries", page, bot),
  delivery: get("/deliveries/:id", id),
  deliver: within("deliveries", post("/deliveries", body("input"), bot)),
  deliveryCommand: post("/deliveries/curl", body("content"), bot),

  faults: get("/faults"),
  setFaults: put("/faults", body("change")),
  limitsOf: get("/limits", bot),
  setLimits: put("/limits", body("change")),
  storage: get("/storage"),
  setStorage: put("/storage", body("change")),

  apps: {
    list: within("items", get("/apps")),
    create: create("/apps", body("input")),
    set: put("/apps/:bot", path("username", "bot"), body("change")),
    tokens: within("items", get("/tokens", bot)),
    createToken: create("/tokens", field("scopes"), field("username", "bot")),
    revokeToken: remove("/tokens/:id", id),
  },
  clock: {
    view: get("/clock"),
    set: put("/clock", body("change")),
  },
  inbox: {
    event: get("/inbox/:id", id, owner),
    decide: post("/inbox/:id/:decision", id, path("decision"), owner),
    states: get("/states", queries("prefix", "cursor"), bot),
    timers: get("/timers", queries("lane", "cursor"), bot),
    fireTimers: post("/timers/fire", body("input"), bot),
    crons: get("/crons", bot),
    fireCron: post("/crons/:name/fire", path("name"), bot),
  },
  snapshots: {
    list: within("items", get("/snapshots")),
    take: create("/snapshots", field("name")),
    file: get("/snapshots/:id/file", id),
    upload: create("/snapshots/file", bytes("file"), query("name")),
    restore: post("/snapshots/:id/restore", id),
    remove: remove("/snapshots/:id", id),
  },
};
