import { BodyBudget } from "../../core/body-budget.ts";
import { mediaTypeOf } from "../../core/image-kind.ts";
import { invalid, PlatformError } from "../error.ts";
import type { Answer } from "../http/answer.ts";
import { type BodyLimit, cancelBody, readBytes } from "../http/body.ts";
import { integer, limit, text } from "../http/query.ts";
import { TimelineStream } from "../timeline/stream.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { imageTooLarge, MAX_IMAGE_BYTES } from "../uploads/upload-body.ts";
import type { Control } from "./control.ts";
import {
  type Call,
  type Endpoint,
  get,
  getRaw,
  isSqlite,
  pageIn,
  post,
  postRaw,
  put,
  remove,
  SQLITE_TYPE,
} from "./control-api.ts";
import * as bodies from "./schemas.ts";

const MAX_WAIT_MS = 30_000;

/** Maximum number of events in one response. Clients read a longer log page by page. */
const MAX_EVENTS = 1_000;

const MAX_SNAPSHOT_BYTES = 512 * 1024 * 1024;

/** Snapshots have their own budget, because a single snapshot would exhaust the API's budget. */
const snapshotLimit: BodyLimit = {
  maxBytes: MAX_SNAPSHOT_BYTES,
  budget: new BodyBudget(2 * MAX_SNAPSHOT_BYTES),
  // Long enough to send half a gigabyte over a home network.
  timeoutMs: 120_000,
  tooLarge: () =>
    new PlatformError(
      413,
      "TOO_LARGE",
      `The snapshot is larger than ${MAX_SNAPSHOT_BYTES} bytes. Start a platform with --state FILE instead.`,
    ),
};

/** Limit for a request that contains a delivery body: 1 MB of text in which every character may be escaped. */
const editedLimit: BodyLimit = {
  maxBytes: 7 * 1024 * 1024,
  tooLarge: () =>
    new PlatformError(413, "TOO_LARGE", "The delivery body is larger than 1048576 bytes."),
};

export function endpointsOf(control: Control, timeline: Timeline): readonly Endpoint[] {
  return [
    ...worldEndpoints(control),
    ...contentEndpoints(control, timeline),
    ...appEndpoints(control),
    ...faultEndpoints(control),
    ...stateEndpoints(control),
  ];
}

function worldEndpoints(control: Control): readonly Endpoint[] {
  return [
    get("/state", ({ bot }) => control.state(bot)),
    post("/act", bodies.act, (body) => control.act(body)),
    get("/people", () => ({ items: control.people })),
    post("/people", bodies.account, (body) => control.createPerson(body)),
    post("/groups", bodies.group, (body) => control.createGroup(body)),
    get("/blocks", () => ({ items: control.blocks })),
    put("/blocks", bodies.block, (body) => ({ items: control.setBlock(body) })),
    postRaw("/images", (call) => uploadImage(control, call)),
  ];
}

function contentEndpoints(control: Control, timeline: Timeline): readonly Endpoint[] {
  const stream = new TimelineStream(timeline);
  return [
    get("/conversations", (call) =>
      control.conversations({ ...pageIn(call), of: text(call.query, "of") }),
    ),
    get("/conversations/:id/messages", (call) => messages(control, call)),
    remove("/messages/:id", ({ id }) => control.deleteMessage(id)),
    get("/posts", (call) => control.posts(pageIn(call))),
    get("/posts/:id", ({ id }) => control.post(id)),
    get("/posts/:id/comments", ({ id }) => ({ items: control.comments(id) })),
    get("/events", ({ query, bot }) => {
      const range = { min: 1, max: MAX_EVENTS, fallback: MAX_EVENTS };
      const events = control.events(text(query, "since"), bot, integer(query, "limit", range));
      return { events };
    }),
    get("/events/:id", ({ id, bot }) => control.event(id, bot)),
    get("/calls/:id", ({ id }) => control.call(id)),
    get("/timeline", (call) => readTimeline(timeline, call)),
    getRaw("/stream", ({ incoming }) => stream.answer(incoming)),
  ];
}

function appEndpoints(control: Control): readonly Endpoint[] {
  return [
    get("/apps", () => ({ items: control.apps.list() })),
    post("/apps", bodies.account, (body) => control.apps.create(body)),
    put("/apps/:bot", bodies.app, (body, { id }) => control.apps.set(id, body)),
    get("/tokens", ({ bot }) => ({ items: control.apps.tokens(bot) })),
    post("/tokens", bodies.token, ({ scopes, bot }) => control.apps.createToken(scopes, bot)),
    remove("/tokens/:id", ({ id }) => {
      control.apps.revokeToken(id);
      return { id };
    }),
    get("/webhook", ({ bot }) => control.webhookOf(bot)),
    put("/webhook", bodies.webhook, (body, { bot }) => control.saveWebhook(body, bot)),
    postRaw("/webhook/secret", ({ bot }) => ({ secret: control.regenerateWebhookSecret(bot) })),
    get("/notifications", ({ bot }) => ({ items: control.notifications(bot) })),
    get("/bot", ({ bot }) => control.botView(bot)),
    ...inboxEndpoints(control),
  ];
}

function inboxEndpoints({ inbox }: Control): readonly Endpoint[] {
  const done = { status: 200 };
  return [
    get("/inbox/:id", ({ id, bot }) => inbox.event(id, bot)),
    ...(["retry", "discard"] as const).map((decision) =>
      post(
        `/inbox/:id/${decision}`,
        bodies.nothing,
        (_, { id, bot }) => inbox.decide(id, decision, bot),
        done,
      ),
    ),
    get("/states", ({ query, bot }) => {
      return inbox.states({ prefix: text(query, "prefix"), cursor: text(query, "cursor") }, bot);
    }),
    get("/timers", ({ query, bot }) => {
      return inbox.timers({ lane: text(query, "lane"), cursor: text(query, "cursor") }, bot);
    }),
    post("/timers/fire", bodies.timers, (body, { bot }) => inbox.fireTimers(body, bot), done),
    get("/crons", ({ bot }) => inbox.crons(bot)),
    post("/crons/:id/fire", bodies.nothing, (_, { id, bot }) => inbox.fireCron(id, bot), done),
  ];
}

function faultEndpoints(control: Control): readonly Endpoint[] {
  return [
    get("/limits", ({ bot }) => control.limitsOf(bot)),
    put("/limits", bodies.limits, (body) => control.setLimits(body)),
    get("/storage", () => control.storage),
    put("/storage", bodies.storage, (body) => control.setStorage(body)),
    get("/faults", () => control.faults),
    put("/faults", bodies.faults, (body) => control.setFaults(body)),
    get("/deliveries", (call) => control.deliveries(pageIn(call), call.bot)),
    get("/deliveries/:id", ({ id }) => control.delivery(id)),
    post(
      "/deliveries",
      bodies.deliveries,
      async (body, { bot }) => ({ deliveries: await control.deliver(body, bot) }),
      { status: 200, limit: editedLimit },
    ),
    post("/deliveries/curl", bodies.curl, (body, { bot }) => control.deliveryCommand(body, bot), {
      status: 200,
      limit: editedLimit,
    }),
  ];
}

function stateEndpoints(control: Control): readonly Endpoint[] {
  const { clock, snapshots } = control;
  return [
    get("/clock", () => clock.view),
    put("/clock", bodies.clock, (body) => clock.set(body)),
    get("/snapshots", () => ({ items: snapshots.list() })),
    post("/snapshots", bodies.snapshot, (body) => snapshots.take(body?.name)),
    postRaw("/snapshots/file", (call) => uploadSnapshot(control, call)),
    remove("/snapshots/:id", ({ id }) => {
      snapshots.remove(id);
      return { items: snapshots.list() };
    }),
    getRaw("/snapshots/:id/file", ({ id }) => snapshotFile(control, id)),
    post(
      "/snapshots/:id/restore",
      bodies.nothing,
      (_, { id }) => {
        snapshots.restore(id);
        return control.state();
      },
      { status: 200 },
    ),
    post(
      "/reset",
      bodies.nothing,
      () => {
        control.reset();
        return control.state();
      },
      { status: 200 },
    ),
  ];
}

async function uploadImage(control: Control, { request, query }: Call): Promise<unknown> {
  const contentType = request.headers.get("content-type")?.toLowerCase() ?? "";
  if (!contentType.startsWith("image/")) {
    cancelBody(request);
    const such = `such as ${mediaTypeOf("png")}`;
    const message = `Send the image's bytes with their type as Content-Type, ${such}.`;
    throw new PlatformError(415, "UNSUPPORTED_MEDIA_TYPE", message);
  }
  const from = text(query, "from");
  const bytes = await readBytes(request, { maxBytes: MAX_IMAGE_BYTES, tooLarge: imageTooLarge });
  if (from === undefined)
    throw invalid("from is required: the username of the sender, as in ?from=ada");
  return await control.addImage(bytes, { from, contentType });
}

function messages(control: Control, { query, id }: Call): unknown {
  const before = text(query, "before");
  if (text(query, "limit") === undefined && before === undefined) {
    return { items: control.messages(id) };
  }
  return control.messagesPage(id, { limit: limit(query), before });
}

async function readTimeline(timeline: Timeline, { query, incoming }: Call): Promise<unknown> {
  const max = Number.MAX_SAFE_INTEGER;
  const after = integer(query, "after", { min: 0, max, fallback: 0 });
  const waitMs = integer(query, "waitMs", { min: 0, max: MAX_WAIT_MS, fallback: 0 });
  const entries = await timeline.waitAfter(after, waitMs, incoming.gone);
  // Do not return the timeline's current end, because entries added in the meantime belong to the next response.
  return { entries, last: entries.at(-1)?.seq ?? Math.min(after, timeline.last) };
}

async function uploadSnapshot({ snapshots }: Control, { request, query }: Call): Promise<unknown> {
  if (!isSqlite(request)) {
    cancelBody(request);
    const message = `Send the file's bytes with Content-Type: ${SQLITE_TYPE}.`;
    throw new PlatformError(415, "UNSUPPORTED_MEDIA_TYPE", message);
  }
  const name = text(query, "name");
  const bytes = await readBytes(request, snapshotLimit);
  if (bytes.byteLength === 0) throw invalid("The body is empty. Send the bytes of a snapshot.");
  return snapshots.upload(bytes, name);
}

function snapshotFile({ snapshots }: Control, id: string): Answer {
  const headers = {
    "content-type": SQLITE_TYPE,
    "content-disposition": `attachment; filename="${id}.db"`,
  };
  return { status: 200, headers, body: snapshots.file(id) };
}
