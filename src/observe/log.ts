import { deferred } from "../core/log-lines.ts";
import type { Logger } from "../core/logger.ts";
import { type ChannelMessages, subscribe } from "./channels.ts";

const TOKEN_REFUSED =
  "the platform rejects the token; correct SERVICE_API_KEY and restart (events wait)";

const APP_REFUSED =
  "the platform rejects every request from the app; enable it in the developer portal (events wait)";

const INBOX_LOST =
  "the inbox is lost; the bot stores nothing until its files are back or the bot is restarted";

const INBOX_SAVED =
  "saved the contents of the deleted inbox; stop the bot, and move the copy to the inbox's path";

const LOG_ENDLESS =
  "the event log returned only empty pages; the bot reads it again at the next audit";

const LOG_FORBIDDEN =
  'the token lacks permission to read the event log; add the scope "read" or "dm" in the developer portal';

/**
 * Logs a bot's operation. Logs a repeated failure once, and then at `debug` until it is over.
 *
 * @returns a function that stops logging
 */
export function logFacts(bot: object, log: Logger): () => void {
  // Most lines are about events that went well, and share write calls.
  const laterLog = deferred(log);
  return subscribe(bot, {
    ...intakeLines(log, laterLog),
    ...pollLines(log),
    run(run) {
      if (run.outcome === "done") laterLog.info(aboutRun(run), "handled");
      else logRun(log, run);
    },
    step(step) {
      // Most bots do not log at this level.
      if (!log.isLevelEnabled("debug")) return;
      const { event, type, lane, attempt, trace, step: name, outcome, ref } = step;
      log.debug({ event, type, lane, attempt, trace, step: name, outcome, ref }, "step");
    },
    mode({ mode, reason }) {
      if (mode === "polling") log.warn({ mode, reason }, "switching to polling");
      else log.info({ mode, reason }, "switching back to the webhook");
    },
    "lease-lost"({ what, term }) {
      if (what === "log")
        log.warn({ term }, "lost the lease on the event log; another instance may read it");
    },
    request({ method, path, status, ms, event, trace }) {
      log.debug({ method, path, status, ms, event, trace }, "api");
    },
    "budget-wait"({ kind, perMinute, event, trace }) {
      log.warn({ kind, perMinute, event, trace }, "requests wait for MAX_REQUESTS_PER_MINUTE");
    },
    circuit: (circuit) => logCircuit(log, circuit),
    "inbox-file": (file) => logFile(log, file),
    blocked: blockLines(log),
  });
}

const BLOCKED = "a handler blocked the event loop; move long computations to a worker thread";

const PROBABLY_BLOCKED =
  "a handler probably blocked the event loop; move long computations to a worker thread";

/** Interval between warnings about one handler, in ms. */
const BLOCK_WARNING_INTERVAL_MS = 600_000;

function blockLines(log: Logger) {
  /** Times of the last warnings, by the suspects' handlers. */
  const warnedAt = new Map<string, number>();
  return ({ ms, isCertain, suspects }: ChannelMessages["blocked"]) => {
    const [only, ...others] = suspects;
    const handlers = new Set(suspects.map(({ handler }) => handler).sort());
    // With several suspects the cause is unknown, so the next block of one of them alone is a new warning.
    const key = [others.length > 0, ...handlers].join(" ");
    const now = performance.now();
    const isDue = now - (warnedAt.get(key) ?? -Infinity) >= BLOCK_WARNING_INTERVAL_MS;
    if (isDue) warnedAt.set(key, now);
    const blockLevel = isDue ? "warn" : "debug";
    if (only === undefined) {
      log[blockLevel]({ ms }, "code outside handlers probably blocked the event loop");
    } else if (others.length > 0) {
      log[blockLevel]({ ms, suspects }, "one of these handlers probably blocked the event loop");
    } else {
      const { handler, event, type, lane, attempt, trace } = only;
      const blocking = { handler, event, type, lane, attempt, trace, ms };
      if (isCertain) log[blockLevel](blocking, BLOCKED);
      else log[blockLevel](blocking, PROBABLY_BLOCKED);
    }
  };
}

function intakeLines(log: Logger, laterLog: Logger) {
  /** Codes of the refusals since the last stored delivery. */
  const refused = new Set<string | undefined>();
  return {
    delivery(delivery: ChannelMessages["delivery"]) {
      const { status, code, reason, ms, batch, error, trace, isProbe = false } = delivery;
      if (isProbe) {
        log.debug({ status, code }, "rejected a forged request of service-bot doctor");
        return;
      }
      const isNew = !refused.has(code);
      if (batch !== undefined) {
        if (refused.size > 0) refused.clear();
        const { events, stored, duplicates, unusable } = countsOf(batch);
        const line = { status, events, stored, duplicates, unusable, ms, trace };
        if (unusable === 0) laterLog.info(line, "delivery");
        else log.error(line, "delivery contains unusable events; see the dead letters");
        return;
      }
      refused.add(code);
      if (error !== undefined) {
        const storeLevel = isNew ? "error" : "debug";
        log[storeLevel]({ status, err: error, trace }, "could not store a delivery");
        return;
      }
      const refusalLevel = !isNew ? "debug" : status < 500 ? "warn" : "error";
      log[refusalLevel]({ status, code, reason }, "delivery refused");
    },
    batch(batch: ChannelMessages["batch"]) {
      if (batch.source === "webhook" || batch.stored.length === 0) return;
      const { events, stored, duplicates, unusable } = countsOf(batch);
      const page = { events, stored, duplicates, unusable, trace: batch.trace };
      if (unusable === 0) log.info(page, "events from the log");
      else log.error(page, "the event log contains unusable events; see the dead letters");
    },
  };
}

function pollLines(log: Logger) {
  /** `undefined` while the log is readable. */
  let logged: "unreadable" | "forbidden" | undefined;
  let reachesEnd = true;
  return {
    poll({ atEnd, error: err, retryInMs, meanwhile }: ChannelMessages["poll"]) {
      if (atEnd !== undefined) {
        if (logged !== undefined) log.info("reading the event log works again");
        if (reachesEnd && !atEnd) log.warn(LOG_ENDLESS);
        logged = undefined;
        reachesEnd = atEnd;
        return;
      }
      const failure = meanwhile === undefined ? "unreadable" : "forbidden";
      const isNew = logged !== failure;
      logged = failure;
      if (meanwhile === undefined) {
        const pollLevel = isNew ? "warn" : "debug";
        log[pollLevel]({ err, retryInMs }, "could not read the event log; retrying");
      } else if (isNew) log.error({ err, retryInMs, meanwhile }, LOG_FORBIDDEN);
    },
  };
}

function countsOf({ events, stored, duplicates, unusable }: ChannelMessages["batch"]) {
  return { events: events.length, stored: stored.length, duplicates, unusable };
}

function aboutRun({ event, type, lane, attempt, ms, trace }: ChannelMessages["run"]) {
  return { event, type, lane, attempt, ms, trace };
}

/** Logs a run that did not succeed. */
function logRun(log: Logger, run: ChannelMessages["run"]): void {
  const { outcome, retryInMs, error: err } = run;
  const about = aboutRun(run);
  if (outcome === "skipped") log.info(about, "returned to its lane before the handlers started");
  else if (outcome === "lost") log.warn(about, "lease lost; the result of this run is discarded");
  else if (outcome === "dead") log.error({ ...about, err }, "dead letter");
  else if (outcome === "retry") log.warn({ ...about, retryInMs, err }, "attempt failed");
  else {
    // The loop guard warns once for all events that it holds back. A state conflict resolves itself when the event runs
    // again.
    const level = run.isLoopHeld || err?.code === "STATE_CONFLICT" ? "debug" : "warn";
    log[level]({ ...about, retryInMs, err }, "event postponed; attempt not counted");
  }
}

function logFile(log: Logger, file: ChannelMessages["inbox-file"]): void {
  const { problem, savedTo, error: err } = file;
  if (problem === undefined) log.info("the inbox's files are in their places again");
  else if (savedTo !== undefined) log.warn({ savedTo }, INBOX_SAVED);
  else if (err !== undefined)
    log.error({ err }, "could not save the contents of the deleted inbox");
  else log.fatal({ problem }, INBOX_LOST);
}

function logCircuit(log: Logger, circuit: ChannelMessages["circuit"]): void {
  const { of: operation, why, open, retryInMs, error: err, event, trace } = circuit;
  const requests = { operation, event, trace };
  if (!open) log.info(requests, "resuming requests to the platform");
  else if (why !== "token")
    log.warn({ ...requests, retryInMs }, "pausing requests to the platform");
  else if (err?.status === 401)
    log.error({ ...requests, refused: "token", retryInMs, err }, TOKEN_REFUSED);
  else log.error({ ...requests, refused: "app", retryInMs, err }, APP_REFUSED);
}
