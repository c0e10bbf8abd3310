import type { Logger } from "../../core/logger.ts";
import { allScopes, DOCTOR_AGENT, EVENT_HEADER } from "../../core/platform-contract.ts";
import type { CallRecords } from "../calls.ts";
import { recordedRequest } from "../calls.ts";
import type { PlatformClock } from "../clock.ts";
import { notFound, PlatformError, RETRY_AT_ONCE } from "../error.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { ApiFaults, FaultyAnswer, Gate } from "../faults/api-faults.ts";
import {
  type Answer,
  ConnectionLost,
  errorAnswer,
  toResponse,
  type WrittenAnswer,
  written,
} from "../http/answer.ts";
import { dropBody, readJson, usualLimit } from "../http/body.ts";
import { type Incoming, type Match, Routes } from "../http/routes.ts";
import { beginningOf, MAX_TEXT_LENGTH } from "../input-rules.ts";
import type { ApiEntry } from "../timeline/entries.ts";
import { authenticate, findGrant, requireEnabled, requireScope } from "./access.ts";
import { dmOperations } from "./dm.ts";
import { eventOperations } from "./events.ts";
import type { ApiParts, Operation } from "./operation.ts";
import { postOperations } from "./posts.ts";
import { searchOperations } from "./search.ts";
import { uploadOperations } from "./uploads.ts";
import { userOperations } from "./users.ts";

const routes: Routes<Operation> = new Routes([
  ...userOperations,
  ...postOperations,
  ...searchOperations,
  ...uploadOperations,
  ...dmOperations,
  ...eventOperations,
]);

/** Dependencies of the API. */
export interface ApiContext extends ApiParts {
  readonly clock: PlatformClock;
  readonly calls: CallRecords;
  readonly faults: ApiFaults;
  readonly logger: Logger;
}

/** Facts about a request so far, for its line in the timeline. */
type Trace = { -readonly [K in keyof Details]: Details[K] };

type Details = Omit<ApiEntry, "kind" | "id" | "method" | "path" | "status" | "ms">;

/**
 * Answers a request to the API: body, fault, token, kill switch, rate limit, scope, operation, record.
 *
 * @throws {ConnectionLost} a fault lost the answer, or the client went away
 */
export async function answerApi(context: ApiContext, incoming: Incoming): Promise<Response> {
  const { store, calls, faults, logger } = context;
  const { request, method, path, gone } = incoming;
  const clock = context.clock.real;
  const started = clock.now();
  const at = context.clock.now();
  let bytes: Uint8Array | undefined;
  const trace: Trace = request.headers.get("user-agent") === DOCTOR_AGENT ? { doctor: true } : {};
  const record = (status: number | null, made?: WrittenAnswer) => {
    const entry = { method, path, status, ms: clock.now() - started, ...trace };
    calls.add({ entry, at, request: recordedRequest(request, bytes), answer: made });
  };
  let gate: Gate = { pass: "execute" };
  let answer: Answer;
  try {
    const found = operationOf(method, path);
    const body = await readBody(context, found.route, request, (seen) => {
      bytes = seen;
    });
    const text = textOf(body);
    if (text !== undefined) trace.text = text;
    gate = await faults.gate({ method, path, gone });
    if (gate.fault !== undefined) trace.fault = gate.fault;
    if (gate.pass === "abandon") {
      record(null);
      throw new ConnectionLost();
    }
    if (gate.pass === "refuse") throw refusal(gate);
    // The state may have been replaced while the request was held or its body was on its way.
    store.requireOpen();
    answer = await perform(context, found, { incoming, body, trace });
  } catch (error) {
    if (error instanceof ConnectionLost) throw error;
    answer = errorAnswer(error, logger);
  }
  const made = gate.pass === "gateway" ? gatewayPage(gate) : written(answer);
  // Recorded before the answer leaves, so that its reader finds the line in the timeline.
  if (gate.pass === "lose-answer") {
    record(null, made);
    throw new ConnectionLost();
  }
  record(gone.aborted ? null : made.status, made);
  return toResponse(made);
}

/** Unknown paths and wrong methods are operations that fail, so that faults and the timeline cover them too. */
function operationOf(method: string, path: string): Match<Operation> {
  try {
    const found = routes.find(method, path);
    return found ?? failing(notFound("endpoint"));
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

/** Without a valid token the body is dropped, so that strangers cannot make the platform read it. */
async function readBody(
  { store }: ApiContext,
  { read }: Operation,
  request: Request,
  onBytes: (bytes: Uint8Array) => void,
): Promise<unknown> {
  if (findGrant(store.tokens, request) === undefined) {
    dropBody(request);
    return undefined;
  }
  return await (read?.(request) ?? readJson(request, usualLimit, onBytes));
}

interface Given {
  readonly incoming: Incoming;
  readonly body: unknown;
  readonly trace: Trace;
}

async function perform(
  context: ApiContext,
  { route, id }: Match<Operation>,
  { incoming, body, trace }: Given,
): Promise<Answer> {
  const { store, limits, shown, clock } = context;
  const { request, url, gone } = incoming;
  const { bot: seq, scopes } = authenticate(store.tokens, request);
  const bot = store.people.get(seq);
  trace.bot = bot.username;
  Object.assign(trace, causeOf(shown, bot.seq, incoming));
  requireEnabled(store.apps, bot.seq);
  limits.countRequest(bot.seq);
  requireScope(scopes, route.scopes);
  const query = url.searchParams;
  const call = { ...context, scopes, bot, body, gone, now: clock.now(), id, query };
  const answer = await route.handle(call);
  if (answer.created !== undefined) trace.created = answer.created;
  if (answer.eventIds?.length) trace.eventIds = answer.eventIds;
  return answer;
}

/** Returns the event because of which a bot calls: as the bot says, or as can be guessed. */
function causeOf(
  shown: ShownEvents,
  bot: number,
  { request, path }: Incoming,
): Pick<Trace, "eventId" | "guessed"> {
  const said = request.headers.get(EVENT_HEADER);
  if (said !== null && shown.has(bot, said)) return { eventId: said };
  const eventId = shown.guess(bot, path);
  return eventId === undefined ? {} : { eventId, guessed: true };
}

/** Makes the page of a gateway that gave up on the platform. Nothing in it is the platform's own. */
function gatewayPage({ status, retryAfterSeconds }: FaultyAnswer): WrittenAnswer {
  const page = `<html><head><title>${status}</title></head><body>${status}</body></html>\n`;
  return {
    status,
    headers: { ...retryAfter(retryAfterSeconds), "content-type": "text/html; charset=utf-8" },
    bytes: Buffer.from(page),
  };
}

function refusal({ status, retryAfterSeconds }: FaultyAnswer): PlatformError {
  return new PlatformError(
    status,
    status === 429 ? "RATE_LIMITED" : "INJECTED_FAULT",
    "A fault of the local platform answers this request; it was not executed.",
    status === 503 && retryAfterSeconds === undefined
      ? RETRY_AT_ONCE
      : retryAfter(retryAfterSeconds),
  );
}

function retryAfter(seconds: number | undefined): Readonly<Record<string, string>> {
  return seconds === undefined ? {} : { "Retry-After": String(seconds) };
}

/** The timeline keeps thousands of texts, so one that is too long is cut. */
function textOf(body: unknown): string | undefined {
  const text = typeof body === "object" && body !== null && "text" in body ? body.text : undefined;
  if (typeof text !== "string") return undefined;
  return text.length > MAX_TEXT_LENGTH ? beginningOf(text, MAX_TEXT_LENGTH) : text;
}
