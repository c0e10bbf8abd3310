import type { Logger } from "../../core/logger.ts";
import { allScopes, DOCTOR_AGENT, EVENT_HEADER } from "../../core/platform-contract.ts";
import { tryRead } from "../../errors.ts";
import type { PlatformClock } from "../clock.ts";
import { notFound } from "../error.ts";
import { placeIn } from "../events/shown-events.ts";
import { type ApiFaults, gatewayPage, injectedError, type MetFault } from "../faults/api-faults.ts";
import { ConnectionLost, errorAnswer, jsonAnswer, type TextAnswer } from "../http/answer.ts";
import { cancelBody, readJson, usualLimit } from "../http/body.ts";
import type { Incoming, Match } from "../http/routes.ts";
import { beginningOf, MAX_TEXT_LENGTH } from "../input-rules.ts";
import type { CallRecords } from "../timeline/calls.ts";
import type { ApiEntry } from "../timeline/entries.ts";
import { RequestToken, requireEnabled, requireScope } from "../token.ts";
import { type ApiParts, type Operation, operations } from "./operations.ts";

export interface ApiContext extends ApiParts {
  readonly clock: PlatformClock;
  readonly calls: CallRecords;
  readonly faults: ApiFaults;
  readonly logger: Logger;
}

interface Trace {
  readonly entry: { -readonly [K in keyof Details]: Details[K] };
  body: Buffer | undefined;
}

type Details = Omit<ApiEntry, "kind" | "id" | "method" | "path" | "status" | "ms">;

const NO_BYTES = Buffer.alloc(0);

/**
 * Handles an API request. The order is body, fault, token, kill switch, rate limit, scope, operation, record.
 *
 * @throws {ConnectionLost} if a fault drops the response or the client disconnects
 */
export async function answerApi(context: ApiContext, incoming: Incoming): Promise<TextAnswer> {
  const { clock, calls, faults, logger } = context;
  const { request, method, path, gone } = incoming;
  const [started, at] = [clock.real.now(), clock.now()];
  const trace: Trace = {
    entry: request.headers.get("user-agent") === DOCTOR_AGENT ? { doctor: true } : {},
    body: request.body === null ? NO_BYTES : undefined,
  };
  const record = (status: number | null, answer: TextAnswer | undefined) => {
    const entry = { method, path, status, ms: clock.real.now() - started, ...trace.entry };
    calls.add({ entry, at, request, body: trace.body, answer });
  };
  const token = new RequestToken(context.store.tokens, request);
  let fault: MetFault | undefined;
  let answer: TextAnswer;
  try {
    const found = operationOf(method, path);
    const body = await readBody(token, found.route, request, trace);
    Object.assign(trace.entry, senderOf(context, token, incoming));
    const { bot, eventId } = trace.entry;
    fault = await faults.meet({ method, path, gone, bot, eventId });
    if (fault !== undefined) trace.entry.fault = fault.mode;
    if ((fault?.mode === "hold" || fault?.mode === "slow") && gone.aborted) {
      record(null, undefined);
      throw new ConnectionLost();
    }
    if (fault?.mode === "status") throw injectedError(fault);
    answer = await perform(context, found, { incoming, token, body, trace });
  } catch (error) {
    if (error instanceof ConnectionLost) throw error;
    answer = errorAnswer(error, logger);
  }
  if (fault?.mode === "gateway") answer = gatewayPage(fault);
  // Record the call before sending the response, so that the client can read the timeline entry immediately.
  record(gone.aborted || fault?.mode === "lose-answer" ? null : answer.status, answer);
  if (fault?.mode === "lose-answer") throw new ConnectionLost();
  return answer;
}

/**
 * Turns unknown paths and wrong methods into operations that fail, so that faults apply to them and the timeline lists
 * them.
 */
function operationOf(method: string, path: string): Match<Operation> {
  try {
    return operations.find(method, path) ?? failing(notFound("endpoint"));
  } catch (error) {
    return failing(error);
  }
}

function failing(error: unknown): Match<Operation> {
  const handle = () => {
    throw error;
  };
  return { route: { method: "GET", path: "*", scopes: allScopes, handle }, id: "" };
}

/**
 * Discards the body unless the token is valid, because an unauthenticated client could otherwise make the platform read
 * large bodies.
 */
async function readBody(
  { grant }: RequestToken,
  { read }: Operation,
  request: Request,
  trace: Trace,
): Promise<unknown> {
  if (grant === undefined) {
    cancelBody(request);
    return undefined;
  }
  if (read !== undefined) return await read(request);
  const body = await readJson(request, usualLimit, (bytes) => {
    trace.body = bytes;
  });
  const text = textOf(body);
  if (text !== undefined) trace.entry.text = text;
  return body;
}

interface ReceivedCall {
  readonly incoming: Incoming;
  readonly token: RequestToken;
  readonly body: unknown;
  readonly trace: Trace;
}

/** Checks everything again, because the token, the app and the state may have changed while the request waited. */
async function perform(
  context: ApiContext,
  { route, id }: Match<Operation>,
  { incoming, token, body, trace: { entry } }: ReceivedCall,
): Promise<TextAnswer> {
  const { store, limits, clock } = context;
  const { url, gone } = incoming;
  store.requireOpen();
  const { bot: seq, scopes } = token.authenticate();
  const bot = store.people.get(seq);
  requireEnabled(store.apps, bot.seq);
  limits.countRequest(bot.seq);
  requireScope(scopes, route.scopes);
  const query = url.searchParams;
  const call = { ...context, scopes, bot, body, gone, now: clock.now(), id, query };
  const { json, created, eventIds } = await route.handle(call);
  if (created !== undefined) entry.created = created;
  if (eventIds?.length) entry.eventIds = eventIds;
  return jsonAnswer(route.status ?? 200, json);
}

/**
 * Returns the bot that sent the request, and the event that caused the request. The event is a guess if the bot sent no
 * event header.
 */
function senderOf(
  { store, shown }: ApiContext,
  { grant }: RequestToken,
  { request, path }: Incoming,
): Pick<Details, "bot" | "eventId" | "guessed"> {
  if (grant === undefined) return {};
  const seq = grant.bot;
  const bot = store.people.get(seq).username;
  const said = eventIdIn(request.headers);
  // The event of an author's service is not in the log, and nothing in the log caused its requests.
  if (said !== undefined) {
    return shown.recognize(seq, said, placeIn(path)) ? { bot, eventId: said } : { bot };
  }
  const eventId = shown.guess(seq, path);
  return eventId === undefined ? { bot } : { bot, eventId, guessed: true };
}

function eventIdIn(headers: Headers): string | undefined {
  const value = headers.get(EVENT_HEADER) ?? undefined;
  return tryRead(() => decodeURIComponent(value ?? "")) || value;
}

/** Truncates long texts, because the timeline keeps thousands of them. */
function textOf(body: unknown): string | undefined {
  const text = typeof body === "object" && body !== null && "text" in body ? body.text : undefined;
  if (typeof text !== "string") return undefined;
  return text.length > MAX_TEXT_LENGTH ? beginningOf(text, MAX_TEXT_LENGTH) : text;
}
