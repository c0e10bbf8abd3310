import type { Request, Response } from "express";
import { dropBody } from "../../core/body.ts";
import { EVENT_HEADER } from "../../core/current-event.ts";
import { DOCTOR_AGENT } from "../../core/doctor-agent.ts";
import type { Logger } from "../../core/logger.ts";
import type { CallRecords } from "../calls/records.ts";
import { recordedRequest } from "../calls/request.ts";
import type { PlatformClock } from "../clock/platform-clock.ts";
import { beginningOf, MAX_TEXT_LENGTH } from "../content.ts";
import { PlatformError, RETRY_AT_ONCE } from "../error.ts";
import type { ShownEvents } from "../events/shown-events.ts";
import type { ApiFaults, FaultyAnswer, Gate } from "../faults/api-faults.ts";
import {
  type Answer,
  errorAnswer,
  goneSignal,
  sendWritten,
  type WrittenAnswer,
  written,
} from "../http/answer.ts";
import { readJson, usualLimit } from "../http/body.ts";
import { parameter } from "../http/query.ts";
import type { ApiEntry } from "../timeline/entries.ts";
import { authenticate, findGrant, requireEnabled, requireScope } from "./auth.ts";
import type { ApiParts, Call, Route } from "./route.ts";

/** What the API needs to answer. */
export interface ApiContext extends ApiParts {
  readonly clock: PlatformClock;
  readonly calls: CallRecords;
  readonly faults: ApiFaults;
  readonly logger: Logger;
}

/** What is known of a request so far, for its line in the timeline. */
type Trace = { -readonly [K in keyof Details]: Details[K] };

type Details = Omit<ApiEntry, "kind" | "id" | "method" | "path" | "status" | "ms">;

/** One request from its body to its answer: faults, token, scope, the endpoint, the timeline. */
export async function exchange(
  context: ApiContext,
  route: Route,
  request: Request,
  response: Response,
): Promise<void> {
  const { store, calls, faults, logger } = context;
  const clock = context.clock.real;
  const started = clock.now();
  const at = context.clock.now();
  const { epoch } = store;
  const gone = goneSignal(response);
  const { method, path } = request;
  let bytes: Uint8Array | undefined;
  const trace: Trace = request.headers["user-agent"] === DOCTOR_AGENT ? { doctor: true } : {};
  const record = (status: number | null, made?: WrittenAnswer) => {
    const entry = { method, path, status, ms: clock.now() - started, ...trace };
    calls.add({ entry, at, request: recordedRequest(request, { bytes }), answer: made });
  };
  let gate: Gate = { pass: "execute" };
  let answer: Answer;
  try {
    const body = await readBody(context, route, request, (seen) => {
      bytes = seen;
    });
    const text = textOf(body);
    if (text !== undefined) trace.text = text;
    gate = await faults.gate({ method, path, gone });
    if (gate.fault !== undefined) trace.fault = gate.fault;
    if (gate.pass === "abandon") {
      record(null);
      return;
    }
    if (gate.pass === "refuse") throw refusal(gate);
    // It was held, or its body was long in coming: what it was sent to is not there any more.
    store.checkEpoch(epoch);
    answer = await call(context, route, request, { body, gone, trace });
  } catch (error) {
    answer = errorAnswer(error, logger);
  }
  const made = gate.pass === "gateway" ? gatewayPage(gate) : written(answer);
  // Recorded before the answer leaves: whoever has it finds its line in the timeline.
  if (gate.pass === "lose-answer") {
    record(null, made);
    request.socket.destroy();
    return;
  }
  record(gone.aborted ? null : made.status, made);
  sendWritten(response, made);
}

/** Strangers cannot make the platform read a body: without a valid token it is dropped, and the call is refused. */
async function readBody(
  { store }: ApiContext,
  route: Route,
  request: Request,
  seen: (bytes: Uint8Array) => void,
): Promise<unknown> {
  if (findGrant(store.tokens, request.headers.authorization) === undefined) {
    dropBody(request);
    return undefined;
  }
  return await (route.read?.(request) ?? readJson(request, usualLimit, seen));
}

async function call(
  { store, publisher, views, limits, uploads, shown, clock }: ApiContext,
  route: Route,
  request: Request,
  { trace, ...given }: Pick<Call, "body" | "gone"> & { readonly trace: Trace },
): Promise<Answer> {
  const grant = authenticate(store.tokens, request.headers.authorization);
  const { scopes } = grant;
  const bot = store.people.get(grant.bot);
  trace.bot = bot.username;
  Object.assign(trace, causeOf(shown, bot.seq, request));
  requireEnabled(store.apps, bot.seq);
  limits.countRequest(bot.seq);
  requireScope(scopes, route.scopes);
  const answer = await route.handle({
    ...{ store, publisher, views, limits, uploads, shown, scopes, bot },
    ...given,
    now: clock.now(),
    id: parameter(request, "id") || parameter(request, "username"),
    query: request.query,
  });
  if (answer.created !== undefined) trace.created = answer.created;
  if (answer.eventIds?.length) trace.eventIds = answer.eventIds;
  return answer;
}

/** The event because of which a bot calls: as it says, or as it can be guessed. */
function causeOf(
  shown: ShownEvents,
  bot: number,
  { headers, path }: Request,
): Pick<Trace, "eventId" | "guessed"> {
  const said = headers[EVENT_HEADER];
  if (typeof said === "string" && shown.has(bot, said)) return { eventId: said };
  const eventId = shown.guess(bot, path);
  return eventId === undefined ? {} : { eventId, guessed: true };
}

/** The answer of a gateway that stands before the platform: nothing in it is the platform's own. */
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

/** For the timeline, which keeps thousands of them: of a text that is too long, as much as one may have. */
function textOf(body: unknown): string | undefined {
  const text = typeof body === "object" && body !== null && "text" in body ? body.text : undefined;
  if (typeof text !== "string") return undefined;
  return text.length > MAX_TEXT_LENGTH ? beginningOf(text, MAX_TEXT_LENGTH) : text;
}
