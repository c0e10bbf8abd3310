import * as z from "zod";
import { BodyBudget } from "../../core/body-budget.ts";
import { mediaTypeOf } from "../../core/image-kind.ts";
import { invalid, PlatformError } from "../error.ts";
import { type Answer, jsonAnswer } from "../http/answer.ts";
import { type BodyLimit, cancelBody, readBytes, readJson, validate } from "../http/body.ts";
import { integer, limit, text } from "../http/query.ts";
import { TimelineStream } from "../timeline/stream.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { imageTooLarge, MAX_IMAGE_BYTES } from "../uploads/upload-body.ts";
import type { Control } from "./control.ts";
import { type Call, type Endpoint, isSqlite, SQLITE_TYPE } from "./control-api.ts";
import { type Operation, operations } from "./operations.ts";
import { type ControlRoute, routes } from "./routes.ts";

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

/** Larger limits for JSON bodies, by path. */
const limits: Readonly<Record<string, BodyLimit>> = {
  [routes.deliver.path]: editedLimit,
  [routes.deliveryCommand.path]: editedLimit,
};

/** Returns an endpoint for each operation. Most of them call the operation's method with the request's arguments. */
export function endpointsOf(control: Control, timeline: Timeline): readonly Endpoint[] {
  const derived = operations
    .filter(({ route }) => route !== routes.inbox.decide)
    .map((operation) => endpointOf(control, operation));
  const own = ownEndpoints(control, timeline);
  const byRequest = [...derived, ...own].map((one) => [`${one.method} ${one.path}`, one] as const);
  return [...new Map(byRequest).values()];
}

/** Responses to requests whose methods return nothing, or a result of another shape. */
const answers = new Map<ControlRoute, (control: Control, id: string) => unknown>([
  [routes.apps.revokeToken, (_, id) => ({ id })],
  [routes.snapshots.remove, ({ snapshots }) => ({ items: snapshots.list() })],
  [routes.snapshots.restore, (control) => control.state()],
  [routes.reset, (control) => control.state()],
]);

function endpointOf(control: Control, operation: Operation): Endpoint {
  const { part, name, route } = operation;
  const { result } = route;
  return inJson(route, async (call) => {
    const args = await readArguments(operation, call);
    const target = part === undefined ? control : Object(Reflect.get(control, part));
    const member: unknown = Reflect.get(target, name);
    const value = typeof member === "function" ? await Reflect.apply(member, target, args) : member;
    const answer = answers.get(route);
    if (answer !== undefined) return answer(control, call.id);
    return result === undefined ? value : { [result]: value };
  });
}

function inJson({ method, path, status }: ControlRoute, handle: (call: Call) => unknown): Endpoint {
  const answer = async (call: Call) => jsonAnswer(status, JSON.stringify(await handle(call)));
  return { method, path, answer };
}

/** @throws {PlatformError} 400 VALIDATION, 408 TIMEOUT, 413 TOO_LARGE, 415 UNSUPPORTED_MEDIA_TYPE, 503 BUSY */
async function readArguments(
  operation: Operation,
  { request, query, id }: Call,
): Promise<unknown[]> {
  const { method, args } = operation.route;
  const hasBody = method === "POST" || method === "PUT";
  const body = hasBody ? await readBody(operation, request) : undefined;
  const inQuery = (name: string) => (name === "limit" ? limit(query) : text(query, name));
  return args.map(({ in: place, key, fields }) => {
    if (place === "path") return id;
    if (place === "body") return body;
    if (place === "field") return Reflect.get(Object(body), key);
    if (fields === undefined) return inQuery(key);
    return Object.fromEntries(fields.map((name) => [name, inQuery(name)]));
  });
}

/** Rejects unknown fields, because a caller could mistake an ignored field for an accepted one. */
async function readBody({ route, schemas }: Operation, request: Request): Promise<unknown> {
  const body = await readJson(request, limits[route.path]);
  const parts = route.args.map((argument, nth) => [argument, schemas[nth] ?? z.never()] as const);
  const whole = parts.find(([argument]) => argument.in === "body");
  if (whole !== undefined) return validate(whole[1], body);
  const fields = parts.filter(([argument]) => argument.in === "field");
  const schema = z.strictObject(Object.fromEntries(fields.map(([{ key }, field]) => [key, field])));
  const mayBeMissing = schema.safeParse({}).success;
  return validate(schema, body === undefined && mayBeMissing ? {} : body);
}

/** Endpoints with other bodies or responses than their methods' arguments and results. */
function ownEndpoints(control: Control, timeline: Timeline): readonly Endpoint[] {
  const { inbox } = control;
  const stream = new TimelineStream(timeline);
  return [
    inJson(routes.addImage, (call) => uploadImage(control, call)),
    inJson(routes.messagesPage, (call) => messages(control, call)),
    inJson(routes.events, (call) => events(control, call)),
    // Ignores its body.
    inJson(routes.regenerateWebhookSecret, ({ query }) => {
      return { secret: control.regenerateWebhookSecret(text(query, "bot")) };
    }),
    inJson(routes.timeline, (call) => readTimeline(timeline, call)),
    { ...routes.stream, answer: async ({ incoming }) => stream.answer(incoming) },
    ...(["retry", "discard"] as const).map((decision) => {
      const path = routes.inbox.decide.path.replace(":decision", decision);
      return inJson({ ...routes.inbox.decide, path }, async ({ request, query, id }) => {
        validate(z.strictObject({}).optional(), await readJson(request));
        return await inbox.decide(id, decision, text(query, "bot"));
      });
    }),
    inJson(routes.snapshots.upload, (call) => uploadSnapshot(control, call)),
    { ...routes.snapshots.file, answer: async ({ id }) => snapshotFile(control, id) },
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

/** Returns all messages, or a page of them if the query selects one. */
function messages(control: Control, { query, id }: Call): unknown {
  const before = text(query, "before");
  if (text(query, "limit") === undefined && before === undefined) {
    return { items: control.messages(id) };
  }
  return control.messagesPage(id, { limit: limit(query), before });
}

function events(control: Control, { query }: Call): unknown {
  const range = { min: 1, max: MAX_EVENTS, fallback: MAX_EVENTS };
  const size = integer(query, "limit", range);
  return { events: control.events(text(query, "since"), text(query, "bot"), size) };
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
